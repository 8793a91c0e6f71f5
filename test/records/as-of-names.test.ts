import { afterAll, beforeAll, expect, test } from "vitest";
import { type Calls, shareCalls } from "../support/calls.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const moment = () => timeBetweenChanges(calls.database);

async function addRisk(fields: object = {}) {
	const { risk } = await calls.call("addRisk", {
		organization_id,
		name: "Theft",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 4,
		inherent_impact: 5,
		...fields,
	});
	return risk;
}

test("names of owners, references and links are those of the moment", async () => {
	const person = async (full_name: string) =>
		(
			await calls.call("addPeople", {
				organization_id,
				full_name,
				primary_email_address: `${full_name}@example.com`,
				kind: "EMPLOYEE",
			})
		).people.id;
	const vendor = async (name: string) =>
		(
			await calls.call("addVendor", {
				organization_id,
				name,
				category: "OTHER",
			})
		).vendor.id;
	const owner_id = await person("Ada");
	const [one, two] = [await vendor("One"), await vendor("Two")];
	const { asset } = await calls.call("addAsset", {
		organization_id,
		name: "Server",
		asset_type: "PHYSICAL",
		owner_id,
		vendor_ids: [one],
	});
	const risk = await addRisk({ owner_id, linked_record_ids: [asset.id] });
	const then = await moment();
	await calls.call("updatePeople", { id: owner_id, full_name: "Grace" });
	await calls.call("updateAsset", { id: asset.id, vendor_ids: [two] });
	await calls.call("unlinkRecords", {
		record_id: risk.id,
		linked_record_id: asset.id,
	});
	await calls.call("updateVendor", { id: one, name: "Uno" });

	const past = (await calls.call("getAsset", { id: asset.id, as_of: then }))
		.asset;
	expect(past).toMatchObject({
		owner_name: "Ada",
		vendor_ids: [one],
		vendor_names: ["One"],
	});
	expect((await calls.call("getAsset", { id: asset.id })).asset).toMatchObject({
		owner_name: "Grace",
		vendor_names: ["Two"],
	});
	const linked = async (as_of?: string) =>
		(
			await calls.call("listLinkedRecords", { record_id: risk.id, as_of })
		).linked_records.map(({ name }: { name: string }) => name);
	expect(await linked(then)).toEqual(["Server"]);
	expect(await linked()).toEqual([]);
});

test("a list finds its records by the names that their owners had", async () => {
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: "Mary Godwin",
		primary_email_address: "mary@example.com",
		kind: "EMPLOYEE",
	});
	const risk = await addRisk({ owner_id: people.id });
	const as_of = await moment();
	await calls.call("updatePeople", {
		id: people.id,
		full_name: "Mary Shelley",
	});
	const found = async (filter: object) => {
		const { risks } = await calls.call("listRisks", {
			organization_id,
			as_of,
			filter,
		});
		return risks.map(({ id }: { id: string }) => id);
	};
	expect(await found({ owner: "godwin" })).toEqual([risk.id]);
	expect(await found({ query: "godwin" })).toEqual([risk.id]);
	expect(await found({ query: "shelley" })).toEqual([]);
	expect(
		await calls.refusal("listRisks", {
			organization_id,
			as_of,
			filter: { owner: "shelley" },
		}),
	).toMatchObject({ code: "bad_request", fields: ["filter.owner"] });
});

test("a linked device has the status that it had", async () => {
	const { device } = await calls.call("addDevice", {
		organization_id,
		name: "LT-1",
	});
	const risk = await addRisk({ linked_record_ids: [device.id] });
	const as_of = await moment();
	await calls.call("revokeDevice", { id: device.id });
	const statuses = async (moment: object) => {
		const { linked_records: linked } = await calls.call("listLinkedRecords", {
			record_id: risk.id,
			...moment,
		});
		return linked.map(({ status }: { status: string }) => status);
	};
	expect(await statuses({})).toEqual(["REVOKED"]);
	expect(await statuses({ as_of })).toEqual(["PENDING"]);
});

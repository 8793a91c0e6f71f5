import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

async function addPerson(): Promise<string> {
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	return people.id;
}
const use = (name: string, input: object) =>
	calls.call(name, { organization_id, name: "One", ...input });

test("the uses of a person are counted by register and include devices", async () => {
	const [person, other] = [await addPerson(), await addPerson()];
	const owner_id = person;
	await use("addVendor", { owner_id });
	await use("addVendor", { owner_id });
	await use("addVendor", { owner_id: other });
	await use("addMeasure", { category: "Access", owner_id });
	await use("addTask", { assigned_to_id: person });
	await use("addDevice", { owner_id });
	const { uses } = await calls.call("getRecordUses", { id: person });
	const of = (kind: string, filter: string, count: number) => ({
		...{ kind, filter, count },
		is_more: false,
	});
	expect(uses).toEqual([
		of("measure", "owner_id", 1),
		of("vendor", "owner_id", 2),
		of("task", "assigned_to_id", 1),
		of("device", "owner_id", 1),
	]);
	for (const { kind, filter } of uses) {
		const list = `list${kind[0].toUpperCase()}${kind.slice(1)}s`;
		const listed = await calls.call(list, {
			organization_id,
			filter: { [filter]: person },
		});
		expect(listed).toBeTruthy();
	}
});

test("the uses at a past moment are those of then, without devices", async () => {
	const person = await addPerson();
	const owner_id = person;
	const { vendor } = await use("addVendor", { owner_id });
	await use("addDevice", { owner_id });
	const { updated_at: as_of } = (await use("addVendor", { owner_id })).vendor;
	await calls.call("deleteVendor", { id: vendor.id });
	await use("addTask", { assigned_to_id: person });
	const then = await calls.call("getRecordUses", { id: person, as_of });
	expect(then.uses).toEqual([
		{ kind: "vendor", filter: "owner_id", count: 2, is_more: false },
	]);
	const { people: later } = await calls.call("addPeople", {
		organization_id,
		full_name: "Later",
		primary_email_address: "later@example.com",
		kind: "EMPLOYEE",
	});
	const refusal = await calls.refusal("getRecordUses", { id: later.id, as_of });
	expect(refusal.code).toBe("not_found");
});

test("listVendors finds the vendors that a record uses, and those that none uses", async () => {
	const organization_id = await createOrganization(
		calls.database.pool,
		"Vendors",
	);
	const by = calls.principal("admin", organization_id);
	const add = (tool: string, input: object) =>
		calls.call(tool, { organization_id, ...input }, by);
	const ids: string[] = [];
	for (const name of ["Cloud", "Mail", "Nobody's"]) {
		ids.push((await add("addVendor", { name })).vendor.id);
	}
	const [cloud, mail] = ids;
	const { datum } = await add("addDatum", {
		name: "Payroll",
		data_classification: "SECRET",
		vendor_ids: [cloud],
	});
	const { asset } = await add("addAsset", {
		name: "Server",
		asset_type: "VIRTUAL",
		vendor_ids: [cloud, mail],
	});
	const filtered = (used_by: string | null) => ({
		organization_id,
		filter: { used_by },
		order_by: { field: "name" },
	});
	const found = async (used_by: string | null) => {
		const { vendors } = await calls.call("listVendors", filtered(used_by), by);
		return vendors.map(({ name }: { name: string }) => name);
	};
	expect(await found(datum.id)).toEqual(["Cloud"]);
	expect(await found(asset.id)).toEqual(["Cloud", "Mail"]);
	expect(await found(null)).toEqual(["Nobody's"]);
	const message = async (used_by: string) =>
		(await calls.refusal("listVendors", filtered(used_by), by)).message;
	expect(await message(makeId(organization_id, "asset"))).toContain(
		"a record that this organization does not have",
	);
	expect(await message(cloud ?? "")).toContain(
		"must be the id of an asset or of a data type",
	);
});

test("the uses of a vendor include the assets and the data that name it among others", async () => {
	const { vendor } = await use("addVendor", {});
	const { vendor: other } = await use("addVendor", {});
	const vendor_ids = [other.id, vendor.id];
	const { asset } = await use("addAsset", {
		asset_type: "VIRTUAL",
		vendor_ids,
	});
	await use("addAsset", { asset_type: "VIRTUAL", vendor_ids: [other.id] });
	const { datum } = await use("addDatum", {
		data_classification: "SECRET",
		vendor_ids,
	});
	const { uses } = await calls.call("getRecordUses", { id: vendor.id });
	expect(uses).toEqual([
		{ kind: "asset", filter: "vendor_id", count: 1, is_more: false },
		{ kind: "datum", filter: "vendor_id", count: 1, is_more: false },
	]);
	const filter = { vendor_id: vendor.id };
	const { assets } = await calls.call("listAssets", { filter });
	const { data } = await calls.call("listData", { filter });
	expect([...assets, ...data].map(({ id }) => id)).toEqual([
		asset.id,
		datum.id,
	]);
});

test("the count stops at 100 and says that there are more", async () => {
	const { framework } = await use("addFramework", {});
	const id = framework.id;
	const none = await calls.call("getRecordUses", { id });
	expect(none.uses).toEqual([]);
	await calls.database.owner.query(
		`insert into controls (organization_id, id, framework_id, section_title, name)
		select $1, left($2, 24) || lpad(n::text, 8, '0'), $3, 'A', 'Control' from generate_series(1, 101) n`,
		[organization_id, makeId(organization_id, "control"), id],
	);
	const { uses } = await calls.call("getRecordUses", { id });
	expect(uses).toEqual([
		{ kind: "control", filter: "framework_id", count: 100, is_more: true },
	]);
});

test("a missing record, a record of another organization and a malformed id are not found", async () => {
	const elsewhere = await createOrganization(calls.database.pool, "Elsewhere");
	for (const id of [
		makeId(organization_id, "people"),
		makeId(elsewhere, "people"),
		makeId(organization_id, "invitation"),
	]) {
		expect((await calls.refusal("getRecordUses", { id })).code).toBe(
			"not_found",
		);
	}
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { statementsWith } from "../support/sent-statements.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

async function addRisk(name = "Fire"): Promise<string> {
	const { risk } = await calls.call("addRisk", {
		organization_id,
		name,
		category: "Premises",
		treatment: "MITIGATED",
		inherent_likelihood: 2,
		inherent_impact: 5,
	});
	return risk.id;
}

async function addMeasure(fields: object = {}): Promise<string> {
	const { measure } = await calls.call("addMeasure", {
		organization_id,
		name: "Sprinklers",
		category: "Premises",
		...fields,
	});
	return measure.id;
}

test("both records show the link with the other's kind and name, and linking again changes nothing", async () => {
	const [risk, measure] = [await addRisk("Flood"), await addMeasure()];
	const { link } = await calls.call("linkRecords", {
		record_id: risk,
		linked_record_id: measure,
	});
	expect(link).toMatchObject({ record_id: risk, linked_record_id: measure });
	const again = await calls.call("linkRecords", {
		record_id: measure,
		linked_record_id: risk,
	});
	expect(again.link.created_at).toBe(link.created_at);
	const list = (record_id: string) =>
		calls.call("listLinkedRecords", { record_id });
	expect(await list(risk)).toMatchObject({
		linked_records: [{ id: measure, kind: "measure", name: "Sprinklers" }],
		next_cursor: null,
	});
	expect(await list(measure)).toMatchObject({
		linked_records: [{ id: risk, kind: "risk", name: "Flood" }],
	});
});

test("a link takes two statements that look for the records and one that stores it, all prepared", async () => {
	const [risk, measure] = [await addRisk("Flood"), await addMeasure()];
	const sent = await statementsWith("organization_id", () =>
		calls.call("linkRecords", { record_id: risk, linked_record_id: measure }),
	);
	const own = sent.filter(({ text }) =>
		/\b(risks|measures|record_links)\b/.test(text),
	);
	expect(own.map(({ name }) => name).sort()).toEqual([
		"add.link",
		"find.linked.measure.lock",
		"find.linked.risk.lock",
	]);
});

test("linked records of the same name are told apart by their other values", async () => {
	const risk = await addRisk("Theft");
	const { people: ada } = await calls.call("addPeople", {
		organization_id,
		full_name: "Ada Byron",
		primary_email_address: "byron@example.com",
		kind: "EMPLOYEE",
	});
	const twins = [
		await addMeasure({ owner_id: ada.id }),
		await addMeasure({ state: "IMPLEMENTED" }),
	];
	for (const linked_record_id of twins) {
		await calls.call("linkRecords", { record_id: risk, linked_record_id });
	}
	const { linked_records } = await calls.call("listLinkedRecords", {
		record_id: risk,
	});
	const detailsOf = (wanted: string | undefined) =>
		linked_records.find(({ id }: { id: string }) => id === wanted)?.details;
	expect(detailsOf(twins[0])).toMatchObject({ owner: "Ada Byron" });
	expect(detailsOf(twins[1])).toMatchObject({ state: "IMPLEMENTED" });
	expect(detailsOf(twins[1])).not.toHaveProperty("owner");
});

test("the records that a record names in its fields are listed beside its links, on the first page", async () => {
	const add = async (tool: string, key: string, input: object) =>
		(await calls.call(tool, { organization_id, ...input }))[key].id;
	const ada = await add("addPeople", "people", {
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const vendors = [
		await add("addVendor", "vendor", { name: "Bank" }),
		await add("addVendor", "vendor", { name: "Cloud" }),
	];
	const datum = await add("addDatum", "datum", {
		name: "Payroll",
		data_classification: "SECRET",
		owner_id: ada,
		vendor_ids: vendors,
	});
	for (const linked_record_id of [await addRisk(), await addMeasure()]) {
		await calls.call("linkRecords", { record_id: datum, linked_record_id });
	}
	const list = (input: object) =>
		calls.call("listLinkedRecords", { record_id: datum, ...input });
	const first = await list({ size: 1 });
	expect(first.total).toBe(2);
	const status = null;
	expect(first.named_records).toEqual([
		{
			field: "owner_id",
			kind: "people",
			id: ada,
			name: "Ada Lovelace",
			status,
		},
		{
			field: "vendor_ids",
			kind: "vendor",
			id: vendors[0],
			name: "Bank",
			status,
		},
		{
			field: "vendor_ids",
			kind: "vendor",
			id: vendors[1],
			name: "Cloud",
			status,
		},
	]);
	const next = await list({ size: 1, cursor: first.next_cursor });
	expect(next.named_records).toEqual([]);
	const ofKind = await list({ kind: "vendor" });
	expect(ofKind.linked_records).toEqual([]);
	expect(ofKind.named_records).toHaveLength(2);

	const { device } = await calls.call("addDevice", {
		organization_id,
		owner_id: ada,
	});
	const ofDevice = await calls.call("listLinkedRecords", {
		record_id: device.id,
	});
	expect(ofDevice.named_records).toMatchObject([
		{ field: "owner_id", name: "Ada Lovelace" },
	]);
});

test("a linked record is listed with its status or state, and null if its kind has none", async () => {
	const risk = await addRisk();
	const measure = await addMeasure({ state: "IN_PROGRESS" });
	const { nonconformity } = await calls.call("addNonconformity", {
		organization_id,
		status: "CLOSED",
	});
	for (const linked of [risk, nonconformity.id]) {
		await calls.call("linkRecords", {
			record_id: measure,
			linked_record_id: linked,
		});
	}
	const statuses = async (record_id: string) => {
		const list = await calls.call("listLinkedRecords", { record_id });
		return list.linked_records.map(
			({ id, status }: Record<string, unknown>) => [id, status],
		);
	};
	expect(await statuses(risk)).toEqual([[measure, "IN_PROGRESS"]]);
	expect(new Map(await statuses(measure))).toEqual(
		new Map([
			[risk, null],
			[nonconformity.id, "CLOSED"],
		]),
	);
});

test("unlinking says whether there was a link, and keeps the records", async () => {
	const ends = {
		record_id: await addRisk(),
		linked_record_id: await addMeasure(),
	};
	await calls.call("linkRecords", ends);
	expect(await calls.call("unlinkRecords", ends)).toMatchObject({
		was_linked: true,
	});
	expect(await calls.call("unlinkRecords", ends)).toMatchObject({
		was_linked: false,
	});
	await calls.call("getRisk", { id: ends.record_id });
});

test("deleting a record removes its links", async () => {
	const [risk, measure] = [await addRisk(), await addMeasure()];
	await calls.call("linkRecords", {
		record_id: risk,
		linked_record_id: measure,
	});
	await calls.call("deleteMeasure", { id: measure });
	expect(
		await calls.call("listLinkedRecords", { record_id: risk }),
	).toMatchObject({ linked_records: [] });
});

test("a link that is added while its record is being deleted never leads to a missing record", async () => {
	const risk = await addRisk();
	const measures = await Promise.all(
		Array.from({ length: 20 }, () => addMeasure()),
	);
	await Promise.all(
		measures.flatMap((measure) => [
			calls
				.call("linkRecords", { record_id: risk, linked_record_id: measure })
				.catch((error) => expect(error.code).toBe("bad_request")),
			calls.call("deleteMeasure", { id: measure }),
		]),
	);
	const { rows } = await calls.database.owner.query(
		"select from record_links where first_id = $1 or second_id = $1",
		[risk],
	);
	expect(rows).toEqual([]);
});

test("an invalid link is rejected, and the error names the field", async () => {
	const risk = await addRisk();
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: "Ada",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const refusal = (linked_record_id: string) =>
		calls.refusal("linkRecords", { record_id: risk, linked_record_id });
	for (const id of [
		risk,
		people.id,
		"nonsense",
		makeId(organization_id, "risk"),
	]) {
		expect(await refusal(id)).toMatchObject({
			code: "bad_request",
			fields: ["linked_record_id"],
		});
	}
	expect(
		await calls.refusal("linkRecords", {
			record_id: makeId(organization_id, "risk"),
			linked_record_id: risk,
		}),
	).toMatchObject({ code: "not_found" });
});

test("a record of another organization can be neither linked nor listed", async () => {
	const other = await createOrganization(calls.database.pool, "Other");
	const theirs = await calls.call(
		"addVendor",
		{ organization_id: other, name: "Theirs" },
		calls.principal("admin", other),
	);
	const risk = await addRisk();
	expect(
		await calls.refusal("linkRecords", {
			record_id: risk,
			linked_record_id: theirs.vendor.id,
		}),
	).toMatchObject({ code: "bad_request", fields: ["linked_record_id"] });
	expect(
		await calls.refusal("listLinkedRecords", { record_id: theirs.vendor.id }),
	).toMatchObject({ code: "not_found" });
});

test("linked records can be read page by page without gaps or duplicates, and filtered by kind", async () => {
	const risk = await addRisk();
	const linked = await Promise.all(
		Array.from({ length: 7 }, async (_, n) =>
			n < 3 ? addRisk(`r${n}`) : addMeasure({ name: `m${n}` }),
		),
	);
	for (const id of linked) {
		await calls.call("linkRecords", { record_id: risk, linked_record_id: id });
	}
	const seen: string[] = [];
	let cursor: string | null = null;
	do {
		const page: {
			linked_records: { id: string }[];
			next_cursor: string | null;
		} = await calls.call("listLinkedRecords", {
			record_id: risk,
			size: 3,
			cursor,
		});
		seen.push(...page.linked_records.map(({ id }) => id));
		cursor = page.next_cursor;
	} while (cursor);
	expect(seen.sort()).toEqual(linked.sort());
	const { linked_records } = await calls.call("listLinkedRecords", {
		record_id: risk,
		kind: "measure",
	});
	expect(linked_records).toHaveLength(4);
	expect(
		await calls.refusal("listLinkedRecords", { record_id: risk, cursor: "x" }),
	).toMatchObject({ fields: ["cursor"] });
});

test("a new link is in the history of both records with their names, and a repeated one is not", async () => {
	const [risk, measure] = [await addRisk("Fire"), await addMeasure()];
	const ends = { record_id: risk, linked_record_id: measure };
	await calls.call("linkRecords", ends);
	await calls.call("linkRecords", ends);
	await calls.call("unlinkRecords", ends);
	const fire = { kind: "risk", id: risk, name: "Fire" };
	const sprinklers = { kind: "measure", id: measure, name: "Sprinklers" };
	expect(await historyOf(risk)).toEqual([
		["linkRecords", "Fire", { linked_record: { after: sprinklers } }],
		["unlinkRecords", "Fire", { linked_record: { before: sprinklers } }],
	]);
	expect(await historyOf(measure)).toEqual([
		["linkRecords", "Sprinklers", { linked_record: { after: fire } }],
		["unlinkRecords", "Sprinklers", { linked_record: { before: fire } }],
	]);
});

test("links of a deleted record are in its history and in that of the linked records", async () => {
	const [risk, measure] = [await addRisk("Fire"), await addMeasure()];
	await calls.call("linkRecords", {
		record_id: risk,
		linked_record_id: measure,
	});
	await calls.call("deleteRisk", { id: risk });
	const [, [, , deleted] = []] = await historyOf(risk);
	expect(deleted).toMatchObject({
		linked_records: {
			before: [{ kind: "measure", id: measure, name: "Sprinklers" }],
		},
	});
	expect((await historyOf(measure))[1]).toEqual([
		"deleteRisk",
		"Sprinklers",
		{ linked_record: { before: { kind: "risk", id: risk, name: "Fire" } } },
	]);
});

test("a cursor of another record or kind, or one made by hand, is rejected", async () => {
	const risk = await addRisk();
	for (let n = 0; n < 2; n++) {
		await calls.call("linkRecords", {
			record_id: risk,
			linked_record_id: await addMeasure(),
		});
	}
	const list = (input: object) => calls.call("listLinkedRecords", input);
	const { next_cursor: cursor } = await list({ record_id: risk, size: 1 });
	const next = await list({ record_id: risk, size: 1, cursor });
	expect(next.linked_records).toHaveLength(1);
	for (const wrong of [
		{ record_id: await addRisk(), cursor },
		{ record_id: risk, kind: "measure", cursor },
		{ record_id: risk, cursor: "A".repeat(32) },
	]) {
		await expect(list(wrong)).rejects.toThrow(/cursor/);
	}
});

/**
 * Returns the entries of the audit log about a record after it was added: operation, record name
 * and changes.
 */
async function historyOf(id: string): Promise<unknown[][]> {
	const { rows } = await calls.database.owner.query(
		"select operation, record_name, changes from audit_entries where record_id = $1 and operation not like 'add%' order by id",
		[id],
	);
	return rows.map(Object.values);
}

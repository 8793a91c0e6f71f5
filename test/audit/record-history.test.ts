import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Principal } from "../../src/principal.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let calls: Calls;
let organization_id: string;
let viewer: Principal;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
	viewer = calls.principal("viewer");
});
afterAll(() => calls.close());

const add = async (name: string) =>
	(await calls.call("addVendor", { organization_id, name })).vendor.id;
const read = (input: object) => calls.call("getRecordHistory", input, viewer);

test("a viewer reads who changed which fields of a record, newest first, and nothing about users", async () => {
	const id = await add("Paper mill");
	await calls.call(
		"updateVendor",
		{ id, name: "Paper works" },
		{
			...calls.principal("member"),
			kind: "TOKEN",
			name: "Ada Lovelace",
			client: "cursor 1.0",
			address: "192.0.2.7",
			token: { id: makeId(organization_id, "api_token"), name: "laptop" },
		},
	);
	await expect(
		calls.call("deleteVendor", { id }, calls.principal("member")),
	).rejects.toThrow("permission denied");
	const { changes, total } = await read({ id });
	expect(total).toBe(2);
	expect(changes[0]).toEqual({
		sequence: null,
		at: expect.any(String),
		actor_kind: "TOKEN",
		actor_name: "Ada Lovelace",
		is_own: false,
		operation: "updateVendor",
		changes: { name: { before: "Paper mill", after: "Paper works" } },
	});
	expect(changes[1]).toMatchObject({
		actor_kind: "USER",
		actor_name: "the admin",
		operation: "addVendor",
		changes: { name: { after: "Paper mill" } },
	});
	const own = await calls.call("getRecordHistory", { id });
	expect(own.changes).toMatchObject([{ is_own: false }, { is_own: true }]);
	const log = await calls.call("listAuditLog", {
		organization_id,
		filter: { record_id: id },
	});
	expect(log.total).toBe(3);
	expect(
		(await calls.refusal("listAuditLog", { organization_id }, viewer)).code,
	).toBe("forbidden");
});

test("links and the life of a device are in the history, also of a record with several pages", async () => {
	const [one, other] = [await add("One"), await add("Other")];
	const ends = { record_id: one, linked_record_id: other };
	await calls.call("linkRecords", ends);
	await calls.call("unlinkRecords", ends);
	const operations: string[] = [];
	let cursor: string | null = null;
	do {
		const page = await read({ id: other, size: 1, cursor });
		operations.push(page.changes[0].operation);
		expect(page.total).toBe(3);
		cursor = page.next_cursor;
	} while (cursor);
	expect(operations).toEqual(["unlinkRecords", "linkRecords", "addVendor"]);

	const { device } = await calls.call("addDevice", { organization_id });
	await calls.call("revokeDevice", { id: device.id });
	const { changes } = await read({ id: device.id });
	expect(changes[0].changes.status).toEqual({
		before: "PENDING",
		after: "REVOKED",
	});
	const first = await read({ id: one, size: 1 });
	const wrong = await calls.refusal(
		"getRecordHistory",
		{ id: other, cursor: first.next_cursor },
		viewer,
	);
	expect(wrong).toMatchObject({ code: "bad_request", fields: ["cursor"] });
});

test("as of a moment, the history ends there, also if the record was deleted later", async () => {
	const id = await add("Foundry");
	await calls.call("updateVendor", { id, name: "Iron foundry" });
	const as_of = await timeBetweenChanges(calls.database);
	await calls.call("updateVendor", { id, name: "Steel foundry" });
	expect((await read({ id })).total).toBe(3);
	const first = await read({ id, as_of, size: 1 });
	expect(first.total).toBe(2);
	expect(first.changes[0].changes.name.after).toBe("Iron foundry");
	await calls.call("deleteVendor", { id });
	const second = await read({ id, as_of, cursor: first.next_cursor });
	expect(second.changes).toMatchObject([{ operation: "addVendor" }]);
	const unknown = { id, as_of: "2001-02-03T00:00:00Z" };
	expect(
		await calls.refusal("getRecordHistory", unknown, viewer),
	).toMatchObject({ code: "bad_request", fields: ["as_of"] });
});

test('with `detail: "brief"`, long texts are cut anywhere in a change', async () => {
	const id = await add(`${"n".repeat(198)}𝕏${"n".repeat(100)}`);
	const [added] = (await read({ id, detail: "brief" })).changes;
	expect(added.changes.name.after).toBe(`${"n".repeat(198)}…`);
	const [whole] = (await read({ id })).changes;
	expect(whole.changes.name.after).toHaveLength(300);
});

test("a deleted record, a record of another organization and an id of another kind have no history", async () => {
	const deleted = await add("Gone");
	await calls.call("deleteVendor", { id: deleted });
	const elsewhere = await createOrganization(calls.database.pool, "Elsewhere");
	for (const id of [
		deleted,
		makeId(elsewhere, "vendor"),
		makeId(organization_id, "invitation"),
	]) {
		const { code } = await calls.refusal("getRecordHistory", { id }, viewer);
		expect(code).toBe("not_found");
	}
});

test("history and uses take a reference id in any case, and a name that is none is an error", async () => {
	const { nonconformity } = await calls.call("addNonconformity", {
		organization_id,
		title: "Lost laptop",
		description: "A laptop was lost.",
	});
	expect(nonconformity.reference_id).toBe("NC-001");
	const byReference = { id: "nc-001" };
	expect((await read(byReference)).changes).toMatchObject([
		{ operation: "addNonconformity" },
	]);
	expect(await calls.call("getRecordUses", byReference, viewer)).toEqual({
		uses: [],
		left: [],
	});
	expect((await calls.refusal("getRecordHistory", { id: "NC-002" })).code).toBe(
		"not_found",
	);
	const madeUp = "A".repeat(32);
	expect(
		(await calls.refusal("getRecordHistory", { id: madeUp })).message,
	).toBe(`there is no record ${madeUp}`);
	const { message } = await calls.refusal("getRecordHistory", { id: "laptop" });
	expect(message).toBe("there is no record laptop");
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { appendChanges } from "../../src/audit/log.ts";
import { sealAll } from "../../src/audit/sealer.ts";
import { withTenant } from "../../src/db/pool.ts";
import { makeId, makeIdWithoutTenant } from "../../src/id.ts";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
const RECORD = "Zürich 100% _backup";
const tokenId = makeIdWithoutTenant("api_token");
let recordId: string;

beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
	recordId = makeId(organization_id, "vendor");
	const by = calls.principal("admin");
	for (let number = 1; number <= 95; number++) {
		await write(`Risk ${number}`, "risk", makeId(organization_id, "risk"), by);
	}
	await write(RECORD, "vendor", recordId, {
		...by,
		kind: "TOKEN",
		name: "Ada Lovelace",
		token: { id: tokenId, name: "laptop" },
	});
	await sealAll(calls.database.pool);
});
afterAll(() => calls.close());

async function write(
	name: string,
	kind: "risk" | "vendor",
	id: string,
	by: Parameters<typeof appendChanges>[1],
): Promise<void> {
	await withTenant(calls.database.pool, organization_id, (client) =>
		appendChanges(
			client,
			by,
			{ name: kind === "risk" ? "addRisk" : "updateVendor" },
			organization_id,
			[{ kind, id, name, fields: {} }],
		),
	);
}

const list = (input: object = {}) =>
	calls.call("listAuditLog", { organization_id, ...input });

/** Returns the names of the records in all entries that match the filter, newest first. */
async function names(filter: object): Promise<string[]> {
	const { audit_entries } = await list({ size: 100, filter });
	return audit_entries.map(
		(entry: { record_name: string }) => entry.record_name,
	);
}

test("a brief row lacks hashes, addresses and ids of actors", async () => {
	const filter = { record_id: recordId };
	const { audit_entries: brief } = await list({ filter, detail: "brief" });
	expect(brief).toEqual([
		{
			sequence: expect.any(Number),
			at: expect.stringMatching(/Z$/),
			actor_kind: "TOKEN",
			actor_name: "Ada Lovelace",
			token_name: "laptop",
			client: null,
			operation: "updateVendor",
			outcome: "DONE",
			record_kind: "vendor",
			record_id: recordId,
			record_name: RECORD,
			changes: {},
		},
	]);
	const { audit_entries: full } = await list({ filter });
	expect(full[0]).toMatchObject({ ...brief[0], token_id: tokenId });
	expect(full[0].hash).toMatch(/^[0-9a-f]{64}$/);
});

test("the pages list entries from the newest to the oldest without gaps or duplicates, also while entries are added", async () => {
	const { audit_entries: all } = await list({ size: 100 });
	const [{ sequence: newest }] = all;
	const seen: number[] = [];
	let cursor: string | null = null;
	do {
		const page: {
			audit_entries: { sequence: number }[];
			next_cursor: string | null;
		} = await list({ size: 7, cursor });
		expect(page.audit_entries.length).toBeLessThanOrEqual(7);
		seen.push(...page.audit_entries.map(({ sequence }) => sequence));
		cursor = page.next_cursor;
		if (seen.length === 14) {
			await write(
				"Later",
				"risk",
				makeId(organization_id, "risk"),
				calls.principal("admin"),
			);
		}
	} while (cursor);
	// The entry that was added meanwhile is above the first page.
	expect(seen).toEqual(
		Array.from({ length: newest }, (_, index) => newest - index),
	);
	expect((await list()).audit_entries).toHaveLength(20);
});

test("a last page that is exactly full has no next page", async () => {
	const filter = { operation: "updateVendor" };
	expect((await list({ size: 1, filter })).next_cursor).toBeNull();
});

test("a cursor of another tool, or one made by hand, is rejected", async () => {
	for (let made = 0; made < 2; made++) {
		await calls.call("addFramework", { organization_id, name: "ISO" });
	}
	const other = await calls.call("listFrameworks", {
		organization_id,
		size: 1,
	});
	const write = (value: unknown) =>
		Buffer.from(JSON.stringify(value)).toString("base64url");
	for (const cursor of [
		other.next_cursor,
		"nonsense",
		"",
		write(null),
		write(["listAuditLog"]),
		write(["listAuditLog", "0"]),
		write(["listAuditLog", "1e9"]),
		write(["listAuditLog", "9".repeat(30)]),
		write(["listAuditLog", ["1); drop"]]),
		write(["listAuditLog", { toString: 1 }]),
	]) {
		const refused = await calls.refusal("listAuditLog", {
			organization_id,
			cursor,
		});
		expect(refused, cursor).toMatchObject({
			code: "bad_request",
			fields: ["cursor"],
		});
	}
	const { next_cursor } = await list({ size: 1 });
	const { fields } = await calls.refusal("listFrameworks", {
		organization_id,
		cursor: next_cursor,
	});
	expect(fields).toEqual(["cursor"]);
});

test("each filter keeps only the entries that match", async () => {
	const { audit_entries } = await list({ filter: { record_kind: "vendor" } });
	const [entry] = audit_entries;
	for (const filter of [
		{ actor_kind: "TOKEN" },
		{ token_id: tokenId },
		{ operation: "updateVendor" },
		{ record_kind: "vendor" },
		{ record_id: recordId },
		{ actor_id: entry.actor_id, query: "ada" },
		{ from: entry.at, record_kind: "vendor" },
	]) {
		expect(await names(filter), JSON.stringify(filter)).toEqual([RECORD]);
	}
	expect(await names({ outcome: "REFUSED" })).toEqual([]);
	expect(await names({ until: entry.at, record_kind: "vendor" })).toEqual([]);
	expect(await names({ until: "2000-01-01T00:00:00+14:00" })).toEqual([]);
	expect(await names({ actor_id: makeIdWithoutTenant("user") })).toEqual([]);
});

test("text is found in the actor's name, the record's name and the operation, whatever its case and accents", async () => {
	for (const query of [
		"zurich",
		"ZÜRICH",
		"lovelace",
		"ada zurich",
		"updatevendor",
		"100%",
		"_backup",
	]) {
		expect(await names({ query }), query).toEqual([RECORD]);
	}
	for (const query of ["zurich nothing", "10_%", "\\", "\u0000", "zu%ch"]) {
		expect(await names({ query }), query).toEqual([]);
	}
	expect((await names({ query: "risk 95" })).at(0)).toBe("Risk 95");
});

test("the error names the wrong arguments", async () => {
	for (const [input, field] of [
		[{ size: 0 }, "size"],
		[{ size: 101 }, "size"],
		[{ filter: { query: "x".repeat(201) } }, "filter.query"],
		[{ filter: { actor_id: "x" } }, "filter.actor_id"],
		[{ filter: { record_id: "\u0000" } }, "filter.record_id"],
		[{ filter: { operation: "" } }, "filter.operation"],
		[{ filter: { operation: "updatevendor" } }, "filter.operation"],
		[{ filter: { record_kind: "vendors" } }, "filter.record_kind"],
		[{ filter: { outcome: "FAILED" } }, "filter.outcome"],
		[{ filter: { from: "yesterday" } }, "filter.from"],
		[{ filter: { from: "2026-02-30T00:00:00Z" } }, "filter.from"],
		[{ filter: { until: "0000-01-01T00:00:00Z" } }, "filter.until"],
		[{ filter: { until: "2026-01-01T00:00:00+23:00" } }, "filter.until"],
		[{ filter: { until: "2026-01-01" } }, "filter.until"],
		[
			{
				filter: {
					from: "2026-01-02T00:00:00+02:00",
					until: "2026-01-01T21:59:59Z",
				},
			},
			"filter.until",
		],
		[{ filter: { actor_id: "x".repeat(32) } }, "filter.actor_id"],
		[{ filter: { token_id: "x".repeat(32) } }, "filter.token_id"],
		[{ filter: { record_id: "x".repeat(32) } }, "filter.record_id"],
		[{ filter: { import_id: "x".repeat(32) } }, "filter.import_id"],
		[{ order_by: { field: "at" } }, ""],
	] as const) {
		const refused = await calls.refusal("listAuditLog", {
			organization_id,
			...input,
		});
		expect(refused, JSON.stringify(input)).toMatchObject({
			code: "bad_request",
			fields: [field],
		});
	}
});

test("an unknown operation or kind of record is rejected with the list of known ones", async () => {
	const message = async (filter: object) =>
		(await calls.refusal("listAuditLog", { organization_id, filter })).message;
	expect(await message({ operation: "updateVendors" })).toMatch(
		/updateVendor, .*linkRecords/,
	);
	expect(await message({ record_kind: "Vendor" })).toMatch(/vendor.*member/);
	expect(await names({ operation: "deleteVendor" })).toEqual([]);
	expect(await names({ record_kind: "member" })).toEqual([]);
	// No tool has this name, but an entry does. A command, a device or an earlier version may have
	// written it.
	await calls.database.pool.query("select audit_append($1, $2)", [
		organization_id,
		JSON.stringify([
			{
				actor_kind: "SYSTEM",
				actor_name: "x",
				operation: "launchRocket",
				record_name: "Rocket",
			},
		]),
	]);
	expect(await names({ operation: "launchRocket" })).toEqual(["Rocket"]);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { tablesAsOf } from "../../src/records/past-tables.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";
import { statementsWith } from "../support/sent-statements.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

/** Tables that a statement of the past may read as they are now, and why. */
const AS_NOW = {
	organizations: "its time zone",
	record_versions: "what records were",
	posture_spans: "each span has its time",
	snapshots: "a snapshot never changes",
	evidence_files: "a piece of evidence keeps its file, as long as there is one",
	file_contents: "the same",
	file_chunks: "whether a restored backup left the content out",
	users: "whose account it is that asks",
};

let calls: Calls;
let organization_id: string;
let tables: string[];
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
	const { rows } = await calls.database.owner.query<{ name: string }>(
		"select c.relname as name from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace",
	);
	tables = rows.map(({ name }) => name);
});
afterAll(() => calls.close());

test.each(
	samples,
)("everything that the past shows of $many comes from tables of which the past is known", async (sample) => {
	const references = await makeReferences(calls, organization_id);
	const added = await calls.call(`add${sample.one}`, {
		organization_id,
		...inputOf(sample, references, "all"),
	});
	const { id } = added[sample.key];
	const as_of = await timeBetweenChanges(calls.database);
	const sent = await statementsWith(" as not materialized (", async () => {
		for (const [name, input] of [
			[`list${sample.many}`, { organization_id, detail: "full" }],
			[
				`list${sample.many}`,
				{ organization_id, filter: { query: "no such words" } },
			],
			[`get${sample.one}`, { id }],
			["getRecordUses", { id }],
			["getRecordHistory", { id }],
			["getRecordNames", { organization_id, ids: [id] }],
			["searchRecords", { organization_id, query: "no such words" }],
			["countRecords", { organization_id, kind: sample.kind }],
		] as const) {
			await calls.call(name, { ...input, as_of });
		}
		// People and frameworks, for example, cannot be linked.
		await calls
			.call("listLinkedRecords", { record_id: id, as_of })
			.catch((error) => expect(error).toMatchObject({ code: "bad_request" }));
	});
	expect(sent.length).toBeGreaterThan(5);
	const known = [
		...tablesAsOf.map(({ table }) => table),
		...Object.keys(AS_NOW),
	];
	const present = tables.filter((name) => !known.includes(name));
	expect(present).toContain("vendor_reviews");
	for (const { text } of sent) {
		const named = present.filter((name) =>
			new RegExp(`(from|join)\\s+${name}\\b`).test(text),
		);
		expect(named).toEqual([]);
		expect(text).not.toMatch(/\bnow\(\)/);
	}
});

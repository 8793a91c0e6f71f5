import { afterAll, beforeAll, expect, test } from "vitest";
import { COUNTRIES } from "../../src/records/countries.ts";
import { samples } from "../support/record-samples.ts";
import {
	inputOf,
	makeReferences,
	type References,
} from "../support/record-values.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let references: References;
beforeAll(async () => {
	tools = await shareTools();
	references = await makeReferences(
		{ call: (name, input) => tools.use(name, input) },
		tools.organizationId,
	);
});
afterAll(() => tools.close());

test("adds 50 vendors whose lists are full and that have as many links as they may", async () => {
	const many = (count: number, each: (n: number) => unknown) =>
		Array.from({ length: count }, (_, n) => each(n));
	const measures = await tools.use("addRecords", {
		kind: "measure",
		records: many(50, (n) => ({ name: `measure ${n}`, category: "Sites" })),
	});
	const vendor = {
		certifications: many(100, (n) => `ISO ${n}`),
		countries: [...COUNTRIES].slice(0, 100),
		linked_record_ids: measures.records.map(({ id }: Json) => id),
	};
	const { records } = await tools.use("addRecords", {
		kind: "vendor",
		records: many(50, (n) => ({ name: `full ${n}`, ...vendor })),
	});
	expect(records).toHaveLength(50);
});

const countOf = async (kind: string) =>
	(await tools.use("countRecords", { kind })).total;

test.each(
	samples.map((sample) => [sample.kind, sample] as const),
)("adds records of the kind %s as its add tool does", async (kind, sample) => {
	const before = await countOf(kind);
	const given = inputOf(sample, references, "all");
	const { records } = await tools.use("addRecords", {
		kind,
		records: [given, given].map((record, n) =>
			"reference_id" in record
				? { ...record, reference_id: `own ${n}` }
				: record,
		),
	});
	expect(records).toHaveLength(2);
	expect(await countOf(kind)).toBe(before + 2);
	const found = await tools.use(`get${sample.one}`, { id: records[1].id });
	const { reference_id: _, ...expected } = given;
	expect(found[sample.key]).toMatchObject(expected);
	const { audit_entries } = await tools.use("listAuditLog", {
		filter: { record_id: records[1].id },
	});
	expect(audit_entries).toMatchObject([
		{ operation: "addRecords", record_kind: kind },
	]);
});

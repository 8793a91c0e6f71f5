import { afterAll, beforeAll, expect, test } from "vitest";
import { columnsOf } from "../../src/records/result-rows.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import {
	inputOf,
	makeReferences,
	sampleValue,
} from "../support/record-values.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

test.each(
	samples,
)("add and update of $one answer what get answers, after one change and after several", async (sample) => {
	const references = await makeReferences(calls, organization_id);
	const all = inputOf(sample, references, "all");
	const get = async (id: string) =>
		(await calls.call(`get${sample.one}`, { id }))[sample.key];

	const { [sample.key]: least } = await calls.call(`add${sample.one}`, {
		organization_id,
		...inputOf(sample, references, "required"),
	});
	expect(await get(least.id)).toEqual(least);
	const { [sample.key]: added } = await calls.call(`add${sample.one}`, {
		organization_id,
		...all,
	});
	const { id } = added;
	expect(await get(id)).toEqual(added);

	const changes: object[] = Object.entries(all)
		.filter(([name]) => name !== "reference_id")
		.map(([name, value]) => ({ [name]: value }));
	const other = Object.keys(all).slice(0, 3);
	changes.push(
		Object.fromEntries(
			other.map((name) => [name, sampleValue(sample, name, references, 1)]),
		),
	);
	for (const change of changes) {
		const { [sample.key]: changed } = await calls.call(`update${sample.one}`, {
			id: least.id,
			...change,
		});
		expect(await get(least.id)).toEqual(changed);
	}
});

test.each(
	recordKinds,
)("the columns of $noun read no other record of its register", (kind) => {
	// The statement that stores a record returns these columns, and does not see its own row.
	const columns = columnsOf(kind).replace(/\s+/g, " ");
	expect(columns).not.toMatch(new RegExp(`\\b(?:from|join) ${kind.table}\\b`));
});

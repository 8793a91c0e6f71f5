import { afterAll, beforeAll, expect, test } from "vitest";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

test.each(
	samples,
)("each order and filter of the list of $many works in the past", async (sample) => {
	const references = await makeReferences(calls, organization_id);
	const input = inputOf(sample, references, "all");
	const added = await calls.call(`add${sample.one}`, {
		organization_id,
		...input,
	});
	const record = added[sample.key];
	const as_of = await timeBetweenChanges(calls.database);
	const kind = recordKinds.find(({ kind }) => kind === sample.kind);
	await calls.call(`delete${sample.one}`, { id: record.id });
	const ids = async (rest: object) => {
		const list = await calls.call(`list${sample.many}`, {
			organization_id,
			as_of,
			detail: "full",
			size: 100,
			...rest,
		});
		return list[sample.keys].map(({ id }: { id: string }) => id);
	};
	for (const field of ["created_at", "updated_at", ...sample.orders]) {
		expect(await ids({ order_by: { field } })).toContain(record.id);
	}
	for (const field of sample.filters) {
		const filter = { [field]: record[field] };
		expect(await ids({ filter })).toContain(record.id);
	}
	for (const [field, { join }] of Object.entries(kind?.fields ?? {})) {
		if (!join) continue;
		const filter = { [field.replace(/s$/, "")]: record[field][0] };
		expect(await ids({ filter })).toContain(record.id);
	}
	expect(await ids({ filter: { query: "no such words" } })).toEqual([]);
});

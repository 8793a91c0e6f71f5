import { afterAll, beforeAll, expect, test } from "vitest";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const addRisk = async (fields: object) =>
	(
		await calls.call("addRisk", {
			organization_id,
			name: "Theft",
			category: "Security",
			treatment: "MITIGATED",
			inherent_likelihood: 5,
			inherent_impact: 4,
			...fields,
		})
	).risk;

test("the matrix counts risks that are not archived, now and at a past moment", async () => {
	const first = await addRisk({ residual_likelihood: 2 });
	const { updated_at: as_of } = await addRisk({ inherent_impact: 3 });
	const then = {
		inherent: [
			{ likelihood: 5, impact: 3, risks: 1 },
			{ likelihood: 5, impact: 4, risks: 1 },
		],
		residual: [
			{ likelihood: 2, impact: 4, risks: 1 },
			{ likelihood: 5, impact: 3, risks: 1 },
		],
	};
	expect(await calls.call("getRiskMatrix", { organization_id })).toEqual(then);
	await calls.call("archiveRecords", {
		organization_id,
		record_ids: [first.id],
		archived: true,
	});
	await addRisk({ inherent_impact: 3 });
	const cell = [{ likelihood: 5, impact: 3, risks: 2 }];
	const now = await calls.call("getRiskMatrix", { organization_id });
	expect(now).toEqual({ inherent: cell, residual: cell });
	expect(await calls.call("getRiskMatrix", { organization_id, as_of })).toEqual(
		then,
	);
	const { risks } = await calls.call("getOverview", { organization_id });
	expect(risks).toEqual(now);
});

test("a moment before the first kept state is refused with the first one", async () => {
	const refusal = await calls.refusal("getRiskMatrix", {
		organization_id,
		as_of: "2001-02-03T00:00:00Z",
	});
	expect(refusal.code).toBe("bad_request");
	expect(refusal.message).toContain("must not be before");
});

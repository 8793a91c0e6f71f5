import { afterAll, beforeAll, expect, test } from "vitest";
import { listingOf } from "../../src/records/record-filters.ts";
import { risk } from "../../src/registers/risk.ts";
import { type Calls, makeCalls } from "../support/calls.ts";

const SCALE = [1, 2, 3, 4, 5];
const MOMENTS = ["inherent", "residual"];

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
	const pairs = SCALE.flatMap((likelihood) =>
		SCALE.map((impact) => ({ likelihood, impact })),
	);
	for (const { likelihood, impact } of pairs) {
		await calls.call("addRisk", {
			organization_id,
			name: `Likelihood ${likelihood}, impact ${impact}`,
			category: "Security",
			treatment: "MITIGATED",
			inherent_likelihood: likelihood,
			inherent_impact: impact,
			// Another score than the inherent one, for most risks.
			residual_likelihood: 6 - likelihood,
			residual_impact: impact,
		});
	}
});
afterAll(() => calls.close());

/** Reads all pages, and returns the risks. */
async function readAll(input: object) {
	const found: Record<string, unknown>[] = [];
	let cursor: string | null = null;
	do {
		const page = await calls.call("listRisks", {
			organization_id,
			size: 2,
			cursor,
			...input,
		});
		found.push(...page.risks);
		cursor = page.next_cursor;
	} while (cursor !== null);
	return found;
}

const idsOf = (risks: Record<string, unknown>[]) =>
	risks.map(({ id }) => id).sort();

test.each(
	MOMENTS,
)("the order by %s score has every risk that a filter by its factors finds", async (moment) => {
	const field = `${moment}_risk_score`;
	const usual = await readAll({});
	const values = [undefined, ...SCALE];
	for (const likelihood of values) {
		for (const impact of values) {
			const filter = {
				...(likelihood && { [`${moment}_likelihood`]: likelihood }),
				...(impact && { [`${moment}_impact`]: impact }),
			};
			const wanted = usual.filter((one) =>
				Object.entries(filter).every(([name, value]) => one[name] === value),
			);
			const found = await readAll({ filter, order_by: { field } });
			expect(idsOf(found), JSON.stringify(filter)).toEqual(idsOf(wanted));
			const scores = found.map((one) => Number(one[field]));
			expect(scores).toEqual(scores.toSorted((a, b) => b - a));
		}
	}
});

test("a filter by the factors of the other score does not limit the order", async () => {
	const filter = { residual_likelihood: 1, inherent_impact: 5 };
	const order_by = { field: "residual_risk_score" };
	const found = await readAll({ filter, order_by });
	expect(idsOf(found)).toEqual(idsOf(await readAll({ filter })));
	expect(found).toHaveLength(1);
});

test("with an impact, PostgreSQL begins at the greatest score that is possible", async () => {
	const client = await calls.database.pool.connect();
	try {
		await client.query("begin");
		await client.query("set local enable_sort = off");
		await client.query("set local enable_seqscan = off");
		await client.query("select set_config('assay.organization_id', $1, true)", [
			organization_id,
		]);
		const { expression, implied } =
			listingOf(risk).orders.inherent_risk_score ?? {};
		const given = { inherent_impact: 3 };
		const bounds = implied?.(given, (value) => String(value)) ?? [];
		const { rows } = await client.query<{ "QUERY PLAN": string }>(
			`explain select t.id from risks t
			where ${[`t.organization_id = '${organization_id}'`, "t.inherent_impact = 3", ...bounds].join(" and ")}
			order by ${expression} desc, t.id desc limit 3`,
		);
		const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
		expect(plan).toContain("using risks_inherent_risk_score");
		expect(plan).toMatch(/Index Cond: .*inherent_risk_score <= 15/);
	} finally {
		await client.query("rollback");
		client.release();
	}
});

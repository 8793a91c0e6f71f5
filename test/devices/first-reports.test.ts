import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type PostureApi,
	startPostureApi,
} from "../support/posture-reports.ts";
import { postureResult } from "../support/service.ts";

let api: PostureApi;
beforeAll(async () => {
	api = await startPostureApi();
});
afterAll(() => api.assay.close());

test("while the statistics are still those of an empty table, reports do not read all spans", async () => {
	const { owner } = api.assay.database;
	await owner.query("vacuum (analyze) posture_spans, devices");
	const results = ["A", "B", "C"].map((check_key) =>
		postureResult({ check_key, status: "FAIL" }),
	);
	for (let device = 0; device < 30; device++) {
		const { status } = await api.report(
			await api.assay.activateDevice(),
			results,
		);
		expect(status).toBe(204);
	}
	const read = async () => {
		const { rows } = await owner.query<{ spans: number; read: number }>(
			`select n_tup_ins::int as spans, seq_tup_read::int as read
			from pg_stat_user_tables where relname = 'posture_spans'`,
		);
		return rows[0];
	};
	// A connection publishes its counters some seconds after its last statement.
	await expect.poll(async () => (await read())?.spans).toBe(90);
	expect((await read())?.read).toBe(0);
});

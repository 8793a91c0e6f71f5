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
	const counters = async () => {
		const { rows } = await owner.query<{ spans: number; scans: number }>(
			`select n_tup_ins::int as spans, seq_scan::int as scans
			from pg_stat_user_tables where relname = 'posture_spans'`,
		);
		return rows[0];
	};
	const devices = 30;
	const { scans: before } = (await counters()) ?? { scans: 0 };
	for (let device = 0; device < devices; device++) {
		const { status } = await api.report(
			await api.assay.activateDevice(),
			results,
		);
		expect(status).toBe(204);
	}
	// A connection publishes its counters some seconds after its last statement.
	await expect
		.poll(async () => (await counters())?.spans)
		.toBe(results.length * devices);
	// The upkeep of the devices may read the whole table now and then. The reports may not.
	expect((await counters())?.scans).toBeLessThan(before + devices);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type PostureApi,
	startPostureApi,
} from "../support/posture-reports.ts";
import { postureResult, type TestDevice } from "../support/service.ts";

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
	// A connection publishes its counters when it ends, and otherwise up to 10 s after its last
	// statement.
	await owner.query(
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
	);
	await expect
		.poll(async () => (await counters())?.spans)
		.toBe(results.length * devices);
	// The upkeep of the devices may read the whole table now and then. The reports may not.
	expect((await counters())?.scans).toBeLessThan(before + devices);
});

const MINUTE_MS = 60_000;
const minutesAgo = (minutes: number) =>
	new Date(Date.now() - minutes * MINUTE_MS).toISOString();

async function newsOf(device: TestDevice) {
	const { rows } = await api.assay.database.owner.query<{ news: string }>(
		`select concat_ws(' ', type, data ->> 'check_key', data ->> 'previous_status') as news
		from events where record_id = $1 and type like 'posture.%' order by id`,
		[device.id],
	);
	return rows.map(({ news }) => news);
}

test("a first result is news only if it fails, and a later one if it is another than the one before", async () => {
	const device = await api.assay.activateDevice();
	const report = (statuses: Record<string, string>, minutes: number) =>
		api.report(
			device,
			Object.entries(statuses).map(([check_key, status]) =>
				postureResult({ check_key, status, observed_at: minutesAgo(minutes) }),
			),
		);
	await report({ A: "FAIL", B: "PASS", C: "UNKNOWN" }, 9);
	expect(await newsOf(device)).toEqual(["posture.failed A"]);
	await report({ A: "FAIL", B: "FAIL", C: "PASS", D: "FAIL" }, 6);
	const second = [
		"posture.failed B PASS",
		"posture.failed D",
		"posture.passed C UNKNOWN",
	];
	expect((await newsOf(device)).slice(1).sort()).toEqual(second);
	await report({ A: "UNKNOWN", B: "PASS" }, 3);
	expect((await newsOf(device)).slice(4)).toEqual(["posture.passed B FAIL"]);
});

test("a late result that splits the current span is followed by the news of its second half", async () => {
	const device = await api.assay.activateDevice();
	const report = (status: string, minutes: number) =>
		api.report(device, [
			postureResult({
				check_key: "A",
				status,
				observed_at: minutesAgo(minutes),
			}),
		]);
	await report("PASS", 9);
	await report("PASS", 3);
	await report("FAIL", 6);
	expect(await newsOf(device)).toEqual(["posture.passed A FAIL"]);
	// Two results of a check in one report are stored one after the other.
	await api.report(
		device,
		[2, 1].map((minutes) =>
			postureResult({
				check_key: "A",
				status: minutes === 1 ? "PASS" : "FAIL",
				observed_at: minutesAgo(minutes),
			}),
		),
	);
	expect((await newsOf(device)).slice(1)).toEqual([
		"posture.failed A PASS",
		"posture.passed A FAIL",
	]);
});

test("a span needs its device, and goes with it", async () => {
	const { owner } = api.assay.database;
	const [gone, stays] = [
		await api.assay.activateDevice(),
		await api.assay.activateDevice(),
	];
	for (const device of [gone, stays]) {
		await api.report(device, [postureResult()]);
	}
	await owner.query("delete from devices where id = $1", [gone.id]);
	expect((await api.stored(gone)).spans).toEqual([]);
	expect((await api.stored(stays)).spans).toHaveLength(1);
	await expect(
		owner.query(
			`insert into posture_spans
			select organization_id, $2, check_key, since, last_observed_at, status, $2, $2, is_current
			from posture_spans where device_id = $1`,
			[stays.id, gone.id],
		),
	).rejects.toMatchObject({ code: "23503" });
});

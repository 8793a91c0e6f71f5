import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { packClosedMonths } from "../../src/retention/pack-reports.ts";
import { keepReports } from "../../src/retention/retention.ts";
import { backUp, query, restore } from "../support/backups.ts";
import { monthAgo } from "../support/closed-month.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { createInstallation } from "../support/installations.ts";

const MONTH = monthAgo(2);
const DEVICES = 60;
const REPORTS = 20;

/** Stores reports of a closed month. The owner of the database may see them as assay_agent only. */
async function fillMonth(url: string): Promise<void> {
	await query(url, "select make_posture_report_partition($1)", [MONTH]);
	await query(
		url,
		`insert into posture_reports
		select repeat('o', 32), lpad(d::text, 32, 'd'), lpad((d * 1000 + r)::text, 32, 'A'),
			$1::date + r * interval '1.000001 hours', jsonb_build_array(jsonb_build_object(
				'check_key', 'DISK_ENCRYPTION', 'status', 'PASS', 'evidence', jsonb_build_object('n', r),
				'observed_at', to_char($1::date + r * interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
			))
		from generate_series(1, ${DEVICES}) d, generate_series(1, ${REPORTS}) r`,
		[MONTH],
	);
}

/** Returns the number of all reports and a sum over everything in them. */
async function sumUp(url: string) {
	const [sum] = await query<{ reports: number; sum: string }>(
		url,
		`select count(*)::integer as reports, md5(string_agg(r::text, ' ' order by r::text)) as sum from (
			select organization_id, device_id, report_id, received_at, results::text from posture_reports
			union all
			select p.organization_id, p.device_id, u.report_id, u.received_at, u.results::jsonb::text
			from packed_posture_reports p
			cross join lateral unpack_reports(
				p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
			) u
		) r`,
	);
	return sum;
}

test("kill -9 at any moment of the packing loses no report and doubles none", async () => {
	const { url } = await createDatabaseForTest();
	await fillMonth(url);
	const before = await sumUp(url);
	expect(before?.reports).toBe(DEVICES * REPORTS);
	const pack = `
		import { packClosedMonths } from ${JSON.stringify(import.meta.resolve("../../src/retention/pack-reports.ts"))};
		process.stdout.write("begun");
		await packClosedMonths(
			{ connectionString: ${JSON.stringify(url)} }, { stepSize: 20, rest: 0 },
		);`;
	let kills = 0;
	for (let isDone = false; !isDone; ) {
		const child = spawn(
			process.execPath,
			["--input-type=module", "--eval", pack],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		await once(child.stdout, "data");
		const ended = once(child, "close");
		// Each process works longer than the one before, so that the last one finishes. The first ones
		// are killed before even a fast machine has packed the month.
		await Promise.race([ended, sleep(1.5 * kills ** 2)]);
		if (child.exitCode === null && child.kill("SIGKILL")) kills++;
		await ended;
		expect(await sumUp(url)).toEqual(before);
		// A process may be killed after it has packed the month and before it says so.
		isDone = (await query(url, "select from posture_reports")).length === 0;
	}
	expect(kills).toBeGreaterThan(2);
	expect(await query(url, "select from packed_posture_reports")).toHaveLength(
		DEVICES,
	);
});

test("an owner that row-level security binds packs, and a backup brings packed months back", async () => {
	const { url } = await createInstallation();
	await migrate({ connectionString: url });
	await fillMonth(url);
	expect(
		await packClosedMonths({ connectionString: url }, { rest: 0 }),
	).toEqual({ packed: [MONTH], failed: [], isDone: true });
	const { file, manifest, rows } = await backUp(url);
	expect(manifest.packed_months).toEqual([MONTH]);
	expect(rows.packed_posture_reports).toBe(DEVICES);

	const { url: at } = await createDatabaseForTest();
	await restore(at, file);
	const places = `select tableoid::regclass::text as partition, count(*)::integer as rows
		from packed_posture_reports group by 1`;
	expect(await query(at, places)).toEqual([
		{
			partition: `packed_posture_reports_${MONTH.slice(0, 7).replace("-", "_")}`,
			rows: DEVICES,
		},
	]);
	expect((await sumUp(at))?.reports).toBe(DEVICES * REPORTS);

	// Further reports of the month are moved to the packed ones, and then the archive has not all.
	await fillMonth(url);
	expect(
		await packClosedMonths({ connectionString: url }, { rest: 0 }),
	).toEqual({ packed: [MONTH], failed: [], isDone: true });
	const retain = () => keepReports({ connectionString: url }, 1, true);
	expect(await retain()).toMatchObject({ dropped: [], isDone: true });
	await query(url, "insert into archived_months values ($1)", [MONTH]);
	expect(await retain()).toMatchObject({
		dropped: [`packed_posture_reports_${MONTH.slice(0, 7).replace("-", "_")}`],
	});
});

test("a backup during a packing contains each report once", async () => {
	const { url } = await createDatabaseForTest();
	await fillMonth(url);
	await query(url, "select begin_packed_month($1)", [MONTH]);
	await query(url, "select pack_next_reports($1, '', '', 500)", [MONTH]);
	const before = await sumUp(url);
	const { file } = await backUp(url);
	const { url: at } = await createDatabaseForTest();
	await restore(at, file);
	expect(await sumUp(at)).toEqual(before);
	expect(await packClosedMonths({ connectionString: at }, { rest: 0 })).toEqual(
		{ packed: [MONTH], failed: [], isDone: true },
	);
	expect(await sumUp(at)).toEqual(before);
});

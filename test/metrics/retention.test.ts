import { expect, test } from "vitest";
import { monthAgo } from "../support/closed-month.ts";
import { startService } from "../support/service.ts";

test("metrics count the months that should be packed, know the last retention after a restart and the clock of the database", async () => {
	const { service, database, close } = await startService(undefined, {
		ASSAY_METRICS_PORT: "0",
	});
	const { owner } = database;
	const read = async () => {
		const answer = await fetch(service.metricsUrl ?? "no metrics");
		return (await answer.text())
			.split("\n")
			.filter((line) =>
				/^assay_(unpacked|retention|database_clock)/.test(line),
			);
	};
	// The service of a test does no daily work.
	await owner.query("update last_retention set done_at = '2026-01-02'");
	const lines = await read();
	const clock = Number(
		lines.pop()?.replace(/^assay_database_clock_timestamp_seconds /, ""),
	);
	expect(Math.abs(clock - Date.now() / 1000)).toBeLessThan(60);
	expect(lines).toEqual([
		"assay_unpacked_months 0",
		"assay_retention_timestamp_seconds 1767312000",
	]);
	for (const ago of [0, 2, 5]) {
		await owner.query("select make_posture_report_partition($1)", [
			monthAgo(ago),
		]);
	}
	expect(await read()).toContain("assay_unpacked_months 2");
	await close();
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command.ts";
import { startService, type TestService } from "../support/service.ts";

interface Finding {
	check: string;
	status: string;
	found: string;
	advice?: string;
}

let running: TestService;
beforeAll(async () => {
	running = await startService(undefined, { ASSAY_METRICS_PORT: "0" });
});
afterAll(() => running.close());

/** Runs the real command. Returns its findings by check, and its exit code. */
async function examine(settings: Record<string, string> = {}) {
	const { stdout, code } = await runCommand(["doctor", "--json"], {
		DATABASE_URL: running.database.url,
		...settings,
	});
	const { findings } = JSON.parse(stdout) as { findings: Finding[] };
	return {
		code,
		of: (check: string) => findings.find((one) => one.check === check),
		others: (...checks: string[]) =>
			findings.filter(
				({ check, status }) => status !== "ok" && !checks.includes(check),
			),
	};
}

test("doctor finds the metrics on their port and names the configured traces", async () => {
	const { port } = new URL(running.service.metricsUrl ?? "");
	const { code, of, others } = await examine({
		ASSAY_METRICS_PORT: port,
		OTEL_TRACES_EXPORTER: "otlp",
	});
	expect(of("metrics")?.status).toBe("ok");
	expect(of("traces")?.found).toContain("http/protobuf");
	expect(others()).toEqual([]);
	expect(code).toBe(0);
});

test("doctor distinguishes another program on the metrics port from no program", async () => {
	const server = createServer((_request, response) => {
		response.end("something else");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const settings = { ASSAY_METRICS_PORT: String(port) };
	const taken = await examine(settings);
	expect(taken.of("metrics")?.status).toBe("problem");
	expect(taken.code).toBe(1);
	await new Promise((resolve) => server.close(resolve));
	const none = await examine({
		...settings,
		OTEL_TRACES_EXPORTER: "otlp",
		OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
	});
	expect(none.of("metrics")?.status).toBe("warning");
	expect(none.of("traces")?.status).toBe("warning");
	expect(none.code).toBe(0);
});

test("doctor finds a missing index, a setting that loses data and reports outside their months, and says what to do", async () => {
	const { owner } = running.database;
	await owner.query(`
		drop index api_tokens_user;
		create table posture_reports_2020_01 partition of posture_reports
			for values from ('2020-01-01T00:00:00Z') to ('2020-02-01T00:00:00Z');
		do $$ begin
			execute format('alter database %I set synchronous_commit = off', current_database());
		end $$`);
	const { code, of, others } = await examine();
	expect(of("indexes")).toMatchObject({
		status: "problem",
		found: "missing or invalid: api_tokens_user",
		advice: expect.stringContaining("sql/schema.sql"),
	});
	expect(of("replication")).toMatchObject({
		status: "problem",
		found: "synchronous_commit is off",
	});
	expect(of("retention")).toMatchObject({
		status: "warning",
		found: "raw reports of 1 old month are still there",
	});
	expect(others("indexes", "replication", "retention")).toEqual([]);
	expect(code).toBe(1);
});

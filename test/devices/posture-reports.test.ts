import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeId, parseId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	NOTHING,
	type PostureApi,
	sharePostureApi,
} from "../support/posture-reports.ts";
import { postureResult, readError } from "../support/service.ts";

let api: PostureApi;
beforeAll(async () => {
	api = await sharePostureApi();
});
afterAll(() => api.assay.close());

describe("correlation_id", () => {
	test.each([
		["absent", [{}, {}]],
		["null", [{ correlation_id: null }, { correlation_id: null }]],
		["empty", [{ correlation_id: "" }, { correlation_id: "" }]],
		[
			"each of the three",
			[{}, { correlation_id: null }, { correlation_id: "" }],
		],
	])("if it is %s, the request gets one report id of the device's tenant", async (_, fields) => {
		const device = await api.assay.activateDevice();
		const results = fields.map((more, i) =>
			postureResult({ check_key: `C${i}`, ...more }),
		);
		for (const times of [1, 2]) {
			expect((await api.report(device, results)).status).toBe(204);
			expect((await api.stored(device)).reports).toHaveLength(times);
		}
		const { reports } = await api.stored(device);
		expect(reports[0]?.report_id).not.toBe(reports[1]?.report_id);
		for (const made of reports) {
			expect(made.results).toHaveLength(fields.length);
			expect(parseId(made.report_id)).toMatchObject({
				kind: "device_posture_report",
				tenant: parseId(device.id)?.tenant,
			});
		}
	});

	test("a given one identifies the report, even if the service does not know it yet", async () => {
		const device = await api.assay.activateDevice();
		// This id is built like the agent's: it contains the tenant of the device_id and the kind 110.
		const bytes = Buffer.alloc(24, 0x5a);
		Buffer.from(device.id, "base64url").copy(bytes, 0, 0, 8);
		bytes.writeUInt16BE(110, 8);
		bytes.writeBigUInt64BE(BigInt(Date.now()), 10);
		const correlation_id = bytes.toString("base64url");
		const results = ["A", "B"].map((check_key) =>
			postureResult({ check_key, correlation_id }),
		);
		expect((await api.report(device, results)).status).toBe(204);
		const { reports, spans } = await api.stored(device);
		expect(reports).toMatchObject([
			{ report_id: correlation_id, organization_id: api.assay.organizationId },
		]);
		expect(spans).toMatchObject([
			{ first_report_id: correlation_id },
			{ last_report_id: correlation_id },
		]);
	});

	test.each([
		0n,
		1n,
		BigInt(Date.now() + 10 ** 10),
		2n ** 63n,
		2n ** 64n - 1n,
	])("one that contains the time %s is accepted, and sending it again changes nothing", async (milliseconds) => {
		const device = await api.assay.activateDevice();
		const bytes = Buffer.from(api.newReportId(), "base64url");
		bytes.writeBigUInt64BE(milliseconds, 10);
		const correlation_id = bytes.toString("base64url");
		const results = [postureResult({ correlation_id })];
		expect((await api.report(device, results)).status).toBe(204);
		const before = await api.stored(device);
		expect(before.reports).toMatchObject([{ report_id: correlation_id }]);
		expect((await api.report(device, results)).status).toBe(204);
		expect(await api.stored(device)).toEqual(before);
	});

	test("several different ones in a request make several reports", async () => {
		const device = await api.assay.activateDevice();
		const [first, second] = [api.newReportId(), api.newReportId()];
		const results = [first, second, first, ""].map((correlation_id, i) =>
			postureResult({ check_key: `C${i}`, correlation_id }),
		);
		expect((await api.report(device, results)).status).toBe(204);
		const { reports } = await api.stored(device);
		const keys = Object.fromEntries(
			reports.map((row) => [
				row.report_id,
				row.results.map((r) => r.check_key),
			]),
		);
		expect(reports).toHaveLength(3);
		expect(keys[first as string]).toEqual(["C0", "C2"]);
		expect(keys[second as string]).toEqual(["C1"]);
	});

	test("one that is malformed, of another kind or of another tenant is answered with 400, and the error names index and field", async () => {
		const device = await api.assay.activateDevice();
		const other = await createOrganization(api.assay.database.pool, "Other");
		const good = api.newReportId();
		const unknownKind = Buffer.from(good, "base64url");
		unknownKind.writeUInt16BE(111, 8);
		const noTenant = Buffer.from(good, "base64url").fill(0, 0, 8);
		for (const [name, correlation_id] of Object.entries({
			short: good.slice(0, -1),
			long: `${good}A`,
			padded: `${good}=`,
			"with a space": ` ${good}`,
			"with a line end": `${good}\n`,
			"of plain base64": `${good.slice(0, -1)}+`,
			"of other characters": `${good.slice(0, -1)}é`,
			"a uuid": crypto.randomUUID(),
			"the device's": device.id,
			"of kind 108": makeId(api.assay.organizationId, "device_posture"),
			"the organization's": api.assay.organizationId,
			"of an unknown kind": unknownKind.toString("base64url"),
			"of another tenant": api.newReportId(other),
			"of no tenant": noTenant.toString("base64url"),
		})) {
			const results = [
				postureResult({ check_key: "A" }),
				postureResult({ check_key: "B", correlation_id: good }),
				postureResult({ check_key: "C", correlation_id }),
			];
			const refused = await readError(await api.report(device, results));
			expect(refused, name).toMatchObject({
				status: 400,
				error: "bad_request",
			});
			expect(await api.stored(device), name).toEqual(NOTHING);
			expect.soft(refused.message, name).toContain("results[2].correlation_id");
		}
	});

	test("one of another tenant alone is answered with 400 too, and the error names index and field", async () => {
		const device = await api.assay.activateDevice();
		const other = await createOrganization(api.assay.database.pool, "Other");
		const results = [postureResult({ correlation_id: api.newReportId(other) })];
		await api.expectRefused(device, results, "results[0].correlation_id");
	});

	test("if two devices of an organization send the same id, each keeps its own report", async () => {
		const [one, two] = [
			await api.assay.activateDevice(),
			await api.assay.activateDevice(),
		];
		const correlation_id = api.newReportId();
		for (const device of [one, two]) {
			const results = [postureResult({ correlation_id })];
			expect((await api.report(device, results)).status).toBe(204);
		}
		expect((await api.stored(one)).reports).toHaveLength(1);
		expect((await api.stored(two)).reports).toHaveLength(1);
	});
});

describe("the same report", () => {
	const series = (correlation_id: string) =>
		["PASS", "FAIL", "PASS"].map((status, i) =>
			postureResult({
				status,
				correlation_id,
				observed_at: `2026-03-31T08:0${i}:00Z`,
				evidence: { i },
			}),
		);

	test("sent again, at once or after newer ones, changes nothing", async () => {
		const device = await api.assay.activateDevice();
		const results = series(api.newReportId());
		expect((await api.report(device, results)).status).toBe(204);
		const first = await api.stored(device);
		expect(first.spans).toHaveLength(3);
		expect((await api.report(device, results)).status).toBe(204);
		expect(await api.stored(device)).toEqual(first);
		await api.report(device, [postureResult({ status: "FAIL" })]);
		const later = await api.stored(device);
		for (const _ of [1, 2]) {
			expect((await api.report(device, results)).status).toBe(204);
			expect(await api.stored(device)).toEqual(later);
		}
	});

	test("sent again changes nothing, even if its time was in the future", async () => {
		const device = await api.assay.activateDevice();
		const correlation_id = api.newReportId();
		const observed_at = "2999-01-01T00:00:00Z";
		const results = [postureResult({ correlation_id, observed_at })];
		await api.report(device, results);
		const first = await api.stored(device);
		expect((await api.report(device, results)).status).toBe(204);
		expect(await api.stored(device)).toEqual(first);
	});

	test("sent many times at the same time is stored once", async () => {
		const device = await api.assay.activateDevice();
		const results = series(api.newReportId());
		const answers = await Promise.all(
			Array.from({ length: 5 }, () => api.report(device, results)),
		);
		expect(answers.map((answer) => answer.status)).toEqual(Array(5).fill(204));
		const { reports, spans } = await api.stored(device);
		expect(reports).toMatchObject([{ results: [{}, {}, {}] }]);
		expect(spans).toHaveLength(3);
	});

	test("sent again with further results is one row that contains all of them", async () => {
		const device = await api.assay.activateDevice();
		const correlation_id = api.newReportId();
		const [a, b, c] = ["A", "B", "C"].map((check_key) =>
			postureResult({ check_key, correlation_id }),
		);
		for (const part of [[a], [b, c], [a, c]]) {
			expect((await api.report(device, part)).status).toBe(204);
		}
		const { reports, results, spans } = await api.stored(device);
		expect(reports).toMatchObject([{ report_id: correlation_id }]);
		expect(results.map((result) => result.check_key)).toEqual(["A", "B", "C"]);
		expect(spans).toMatchObject([
			{ check_key: "A" },
			{ check_key: "B" },
			{ check_key: "C" },
		]);
	});
});

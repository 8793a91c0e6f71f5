import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOrganization } from "../src/access/organization.ts";
import { makeId, parseId } from "../src/id.ts";
import {
	postureResult,
	readError,
	startService,
	type TestDevice,
	type TestService,
} from "./service.ts";

let assay: TestService;
beforeAll(async () => {
	assay = await startService();
});
afterAll(() => assay.close());

interface StoredResult {
	check_key: string;
	status: string;
	observed_at: string;
	evidence?: Record<string, unknown>;
}

/** All that is stored of a device's postures, in the order it arrived. */
async function stored(device: TestDevice) {
	const { owner } = assay.database;
	const reports = await owner.query<{
		report_id: string;
		organization_id: string;
		results: StoredResult[];
	}>(
		"select report_id, organization_id, results from posture_reports where device_id = $1 order by received_at, report_id",
		[device.id],
	);
	const spans = await owner.query<Record<string, unknown> & { since: Date }>(
		"select * from posture_spans where device_id = $1 order by check_key, since",
		[device.id],
	);
	return {
		reports: reports.rows,
		results: reports.rows.flatMap((row) => row.results),
		spans: spans.rows,
	};
}

const NOTHING = { reports: [], results: [], spans: [] };

/** Sends results (or, as text, a whole body) and gives the answer. */
function report(device: TestDevice, results: unknown): Promise<Response> {
	const body = typeof results === "string" ? results : { results };
	return assay.post("postures", body, { key: device.key });
}

async function expectRefused(
	device: TestDevice,
	results: unknown,
	says: string,
) {
	expect(await readError(await report(device, results))).toEqual({
		status: 400,
		error: "bad_request",
		message: expect.stringContaining(says) as string,
	});
	expect(await stored(device)).toEqual(NOTHING);
}

const newReportId = (organizationId = assay.organizationId) =>
	makeId(organizationId, "device_posture_report");

describe("a PENDING device is 401", () => {
	test.each([
		["good results", () => ({ results: [postureResult()] })],
		["no results", () => ({ results: [] })],
		["an empty object", () => ({})],
		["wrong results", () => ({ results: [7] })],
		["broken JSON", () => '{"results":'],
		["an empty body", () => ""],
		["a body that is too large", () => `{"a":"${"x".repeat(1_048_576)}"}`],
	])("with %s, and nothing is stored", async (_, make) => {
		const device = await assay.enrollDevice();
		const answer = await assay.post("postures", make(), { key: device.key });
		expect(await readError(answer)).toMatchObject({
			status: 401,
			error: "unauthorized",
		});
		expect(await stored(device)).toEqual(NOTHING);
	});
});

describe("the list of results", () => {
	test("empty: 204 and nothing is stored", async () => {
		const device = await assay.activateDevice();
		expect((await report(device, [])).status).toBe(204);
		expect(await stored(device)).toEqual(NOTHING);
	});

	test.each([
		["missing", undefined],
		["null", null],
		["an object", { 0: postureResult() }],
		["text", "PASS"],
		["a number", 1],
		["false", false],
	])("%s: 400", async (_, results) => {
		const device = await assay.activateDevice();
		await expectRefused(device, JSON.stringify({ results }), "results");
	});

	test("100 elements are stored, in their order; the answer is empty", async () => {
		const device = await assay.activateDevice();
		const results = Array.from({ length: 100 }, (_, i) =>
			postureResult({ check_key: `CHECK_${i}`, evidence: { i } }),
		);
		const answer = await report(device, results);
		expect(answer.status).toBe(204);
		expect(await answer.text()).toBe("");
		const { reports, results: kept, spans } = await stored(device);
		expect(reports).toHaveLength(1);
		expect(kept.map((result) => result.check_key)).toEqual(
			results.map((result) => result.check_key),
		);
		expect(spans).toHaveLength(100);
	});

	test("101 elements: 400", async () => {
		const device = await assay.activateDevice();
		const results = Array.from({ length: 101 }, () => postureResult());
		await expectRefused(device, results, "100");
	});

	test.each([
		[null],
		[7],
		["PASS"],
		[true],
		[[]],
		[[postureResult()]],
	])("an element %j: 400 and its index", async (element) => {
		const device = await assay.activateDevice();
		const results = [postureResult(), element, postureResult()];
		await expectRefused(device, results, "results[1]");
	});
});

describe("a bad result fails the whole request, names its index and field, and nothing is stored", () => {
	const text = [undefined, null, 7, true, {}, ["PASS"]];
	const fields: [string, unknown[]][] = [
		["check_key", [...text, ""]],
		["status", [...text, "", "pass", "OK", "PASS ", "toString"]],
		["evidence", [[], ["x"], "x", "", 7, true, false]],
		[
			"observed_at",
			[
				...text,
				"",
				"yesterday",
				"1774944000",
				"2026-03-31",
				"2026-03-31T08:00:00",
				"2026-03-31 08:00:00Z",
				"2026-03-31T08:00Z",
				"2026-03-31T08:00:00.Z",
				"2026-03-31T08:00:00,5Z",
				"2026-03-31T08:00:00.1234567891Z",
				"2026-03-31T08:00:00+02",
				"2026-03-31T08:00:00+0200",
				"2026-03-31T08:00:00+24:00",
				"2026-03-31T08:00:00+02:60",
				"2026-03-31T08:00:00ZZ",
				" 2026-03-31T08:00:00Z",
				"2026-03-31T08:00:00Z\n",
				"2026-02-30T08:00:00Z",
				"2025-02-29T08:00:00Z",
				"2026-04-31T08:00:00Z",
				"2026-00-01T08:00:00Z",
				"2026-13-01T08:00:00Z",
				"2026-03-00T08:00:00Z",
				"2026-03-32T08:00:00Z",
				"2026-03-31T24:00:00Z",
				"2026-03-31T08:60:00Z",
				"2026-03-31T08:00:61Z",
				"+002026-03-31T08:00:00Z",
				"12026-03-31T08:00:00Z",
				"２０２６-03-31T08:00:00Z",
			],
		],
		["correlation_id", [7, true, {}, [], " ", "x"]],
	];
	test.each(fields)("%s", async (field, values) => {
		const device = await assay.activateDevice();
		for (const value of values) {
			const results = [0, 1, 2, 3].map((i) =>
				postureResult({ check_key: `C${i}` }),
			);
			results[2] = { ...results[2], [field]: value } as (typeof results)[0];
			await expectRefused(device, results, `results[2].${field}`);
		}
	});

	test("several bad ones are all named", async () => {
		const device = await assay.activateDevice();
		const results = [{}, postureResult(), postureResult({ status: "?" })];
		const { message } = await readError(await report(device, results));
		expect(message).toContain("results[0].check_key");
		expect(message).toContain("results[0].status");
		expect(message).toContain("results[0].observed_at");
		expect(message).toContain("results[2].status");
	});
});

describe("a result", () => {
	test.each([
		"PASS",
		"FAIL",
		"UNKNOWN",
		"NOT_APPLICABLE",
	])("may have the status %s", async (status) => {
		const device = await assay.activateDevice();
		expect((await report(device, [postureResult({ status })])).status).toBe(
			204,
		);
		expect((await stored(device)).spans).toMatchObject([{ status }]);
	});

	test.each([
		"MALWARE_PROTECTION",
		"my own check",
		" ",
		"x",
		"NULL",
		'{"},\\',
		"__proto__",
		"ü€😀",
	])("may have the check key %j", async (check_key) => {
		const device = await assay.activateDevice();
		const answer = await report(device, [postureResult({ check_key })]);
		expect(answer.status).toBe(204);
		const { results, spans } = await stored(device);
		expect(results).toMatchObject([{ check_key }]);
		expect(spans).toMatchObject([{ check_key }]);
	});

	test("may have a check key of any length, and long ones stay apart", async () => {
		const device = await assay.activateDevice();
		const keys = ["a", "b"].map((end) => "k".repeat(100_000) + end);
		const results = keys.map((check_key) => postureResult({ check_key }));
		expect((await report(device, results)).status).toBe(204);
		expect((await stored(device)).spans).toHaveLength(2);
	});

	test("may have evidence that is an object, null or absent", async () => {
		const device = await assay.activateDevice();
		const evidence = { a: { b: [1, "x", null, true, -1.5e-7] }, "": {}, é: "" };
		const results = [
			postureResult({ check_key: "A", evidence }),
			postureResult({ check_key: "B", evidence: {} }),
			postureResult({ check_key: "C", evidence: null }),
			postureResult({ check_key: "D" }),
		];
		expect((await report(device, results)).status).toBe(204);
		const kept = (await stored(device)).results;
		expect(kept[0]?.evidence).toEqual(evidence);
		expect(kept[1]?.evidence).toEqual({});
		expect(kept[2]?.evidence ?? undefined).toBeUndefined();
		expect(kept[3]).not.toHaveProperty("evidence");
	});

	test("keeps evidence named __proto__ and its siblings", async () => {
		const device = await assay.activateDevice();
		const body = `{"results":[{"check_key":"A","status":"PASS","observed_at":"2026-03-31T08:00:00Z","evidence":{"__proto__":{"a":1},"b":2}}]}`;
		expect((await report(device, body)).status).toBe(204);
		const [result] = (await stored(device)).results;
		expect(JSON.stringify(result?.evidence)).toBe(
			'{"b":2,"__proto__":{"a":1}}',
		);
	});

	test("may have evidence nested some dozens deep", async () => {
		const device = await assay.activateDevice();
		const evidence = JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`);
		const results = [postureResult({ evidence })];
		expect((await report(device, results)).status).toBe(204);
		expect((await stored(device)).results[0]?.evidence).toEqual(evidence);
	});

	test.each([
		["2026-03-31T08:00:00Z", "2026-03-31T08:00:00.000Z"],
		["2026-03-31T08:00:00.5Z", "2026-03-31T08:00:00.500Z"],
		["2026-03-31T08:00:00.123456789Z", "2026-03-31T08:00:00.123Z"],
		["2026-03-31T08:00:00.999999999Z", "2026-03-31T08:00:00.999Z"],
		["2026-03-31t08:00:00z", "2026-03-31T08:00:00.000Z"],
		["2026-03-31T08:00:00+02:00", "2026-03-31T06:00:00.000Z"],
		["2026-03-31T20:30:00-05:30", "2026-04-01T02:00:00.000Z"],
		["2026-03-31T08:00:00+00:00", "2026-03-31T08:00:00.000Z"],
		["2026-03-31T08:00:00-00:00", "2026-03-31T08:00:00.000Z"],
		["2024-02-29T23:59:59+23:59", "2024-02-29T00:00:59.000Z"],
		["1969-12-31T23:59:59.75Z", "1969-12-31T23:59:59.750Z"],
		["0099-01-01T00:00:00Z", "0099-01-01T00:00:00.000Z"],
		["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
	])("observed at %s is stored as %s", async (observed_at, expected) => {
		const device = await assay.activateDevice();
		const answer = await report(device, [postureResult({ observed_at })]);
		expect(answer.status).toBe(204);
		const { results, spans } = await stored(device);
		expect(spans[0]?.since.toISOString()).toBe(expected);
		expect(results[0]?.observed_at.slice(0, 23)).toBe(expected.slice(0, 23));
	});

	test.each([
		"2016-12-31T23:59:60Z",
		"0000-01-01T00:00:00Z",
		"0001-01-01T00:00:00+23:00",
	])("observed at %s, a border of RFC 3339, is accepted", async (observed_at) => {
		const device = await assay.activateDevice();
		const answer = await report(device, [postureResult({ observed_at })]);
		expect(answer.status).toBe(204);
		expect((await stored(device)).spans).toHaveLength(1);
	});

	test("keeps microseconds", async () => {
		const device = await assay.activateDevice();
		const observed_at = "2026-03-31T08:00:00.123456789Z";
		await report(device, [postureResult({ observed_at })]);
		const { rows } = await assay.database.owner.query(
			"select extract(microseconds from since)::int as us from posture_spans where device_id = $1",
			[device.id],
		);
		expect(rows).toEqual([{ us: 123_456 }]);
	});

	test("observed 4 minutes ahead keeps its time; 6 minutes, a year or 7000 years ahead is stored as now", async () => {
		const minutes = (n: number) =>
			new Date(Date.now() + n * 60_000).toISOString();
		for (const observed_at of [
			minutes(6),
			minutes(525_600),
			"9999-12-31T23:59:59.999999999Z",
			"9999-12-31T23:59:59-23:59",
		]) {
			const device = await assay.activateDevice();
			const before = Date.now();
			const answer = await report(device, [postureResult({ observed_at })]);
			const after = Date.now();
			expect(answer.status).toBe(204);
			const { results, spans } = await stored(device);
			for (const time of [
				Date.parse(results[0]?.observed_at ?? ""),
				Number(spans[0]?.since),
			]) {
				expect(time, observed_at).toBeGreaterThanOrEqual(before);
				expect(time, observed_at).toBeLessThanOrEqual(after);
			}
		}
		const device = await assay.activateDevice();
		const observed_at = minutes(4);
		await report(device, [postureResult({ observed_at })]);
		const { spans } = await stored(device);
		expect(spans[0]?.since.toISOString()).toBe(observed_at);
	});

	test("with U+0000 or a lone surrogate in any string is stored with U+FFFD; an escaped backslash stays text", async () => {
		const device = await assay.activateDevice();
		const body = String.raw`{"results":[{"check_key":"k\u0000\ud800\\u0000","status":"PASS","observed_at":"2026-03-31T08:00:00Z","evidence":{"a\u0000":"\uDBFFx\u0000","b\udc00\ud800":["\ud83d\ude00\\\u0000","\\u0000","\\\\u0000"],"c":{"\\ud800":1}}}]}`;
		const answer = await report(device, body);
		expect(answer.status).toBe(204);
		const { results, spans } = await stored(device);
		const key = "k\ufffd\ufffd\\u0000";
		expect(spans).toMatchObject([{ check_key: key }]);
		expect(results).toEqual([
			{
				check_key: key,
				status: "PASS",
				observed_at: expect.stringMatching(/^2026-03-31T08:00:00/) as string,
				evidence: {
					"a\ufffd": "\ufffdx\ufffd",
					"b\ufffd\ufffd": ["\u{1f600}\\\ufffd", "\\u0000", "\\\\u0000"],
					c: { "\\ud800": 1 },
				},
			},
		]);
	});
});

describe("correlation_id", () => {
	test.each([
		["absent", [{}, {}]],
		["null", [{ correlation_id: null }, { correlation_id: null }]],
		["empty", [{ correlation_id: "" }, { correlation_id: "" }]],
		[
			"each of the three",
			[{}, { correlation_id: null }, { correlation_id: "" }],
		],
	])("%s: one report id of the device's tenant is made for the request", async (_, fields) => {
		const device = await assay.activateDevice();
		const results = fields.map((more, i) =>
			postureResult({ check_key: `C${i}`, ...more }),
		);
		for (const times of [1, 2]) {
			expect((await report(device, results)).status).toBe(204);
			expect((await stored(device)).reports).toHaveLength(times);
		}
		const { reports } = await stored(device);
		expect(reports[0]?.report_id).not.toBe(reports[1]?.report_id);
		for (const made of reports) {
			expect(made.results).toHaveLength(fields.length);
			expect(parseId(made.report_id)).toMatchObject({
				kind: "device_posture_report",
				tenant: parseId(device.id)?.tenant,
			});
		}
	});

	test("given: it is the report, also when nobody knows it yet", async () => {
		const device = await assay.activateDevice();
		// As the agent mints it: the tenant of its device_id, kind 110.
		const bytes = Buffer.alloc(24, 0x5a);
		Buffer.from(device.id, "base64url").copy(bytes, 0, 0, 8);
		bytes.writeUInt16BE(110, 8);
		bytes.writeBigUInt64BE(BigInt(Date.now()), 10);
		const correlation_id = bytes.toString("base64url");
		const results = ["A", "B"].map((check_key) =>
			postureResult({ check_key, correlation_id }),
		);
		expect((await report(device, results)).status).toBe(204);
		const { reports, spans } = await stored(device);
		expect(reports).toMatchObject([
			{ report_id: correlation_id, organization_id: assay.organizationId },
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
	])("given with the time %s in it is accepted, and sent again changes nothing", async (milliseconds) => {
		const device = await assay.activateDevice();
		const bytes = Buffer.from(newReportId(), "base64url");
		bytes.writeBigUInt64BE(milliseconds, 10);
		const correlation_id = bytes.toString("base64url");
		const results = [postureResult({ correlation_id })];
		expect((await report(device, results)).status).toBe(204);
		const before = await stored(device);
		expect(before.reports).toMatchObject([{ report_id: correlation_id }]);
		expect((await report(device, results)).status).toBe(204);
		expect(await stored(device)).toEqual(before);
	});

	test("several different ones in a request are several reports", async () => {
		const device = await assay.activateDevice();
		const [first, second] = [newReportId(), newReportId()];
		const results = [first, second, first, ""].map((correlation_id, i) =>
			postureResult({ check_key: `C${i}`, correlation_id }),
		);
		expect((await report(device, results)).status).toBe(204);
		const { reports } = await stored(device);
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

	test("malformed, of another kind or of another tenant: 400 that names index and field", async () => {
		const device = await assay.activateDevice();
		const other = await createOrganization(assay.database.pool, "Other");
		const good = newReportId();
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
			"of kind 108": makeId(assay.organizationId, "device_posture"),
			"the organization's": assay.organizationId,
			"of an unknown kind": unknownKind.toString("base64url"),
			"of another tenant": newReportId(other),
			"of no tenant": noTenant.toString("base64url"),
		})) {
			const results = [
				postureResult({ check_key: "A" }),
				postureResult({ check_key: "B", correlation_id: good }),
				postureResult({ check_key: "C", correlation_id }),
			];
			const refused = await readError(await report(device, results));
			expect(refused, name).toMatchObject({
				status: 400,
				error: "bad_request",
			});
			expect(await stored(device), name).toEqual(NOTHING);
			expect.soft(refused.message, name).toContain("results[2].correlation_id");
		}
	});

	test("of another tenant alone: 400 that names index and field", async () => {
		const device = await assay.activateDevice();
		const other = await createOrganization(assay.database.pool, "Other");
		const results = [postureResult({ correlation_id: newReportId(other) })];
		await expectRefused(device, results, "results[0].correlation_id");
	});

	test("of another device of the organization is no secret and no clash: each keeps its own report", async () => {
		const [one, two] = [
			await assay.activateDevice(),
			await assay.activateDevice(),
		];
		const correlation_id = newReportId();
		for (const device of [one, two]) {
			const results = [postureResult({ correlation_id })];
			expect((await report(device, results)).status).toBe(204);
		}
		expect((await stored(one)).reports).toHaveLength(1);
		expect((await stored(two)).reports).toHaveLength(1);
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
		const device = await assay.activateDevice();
		const results = series(newReportId());
		expect((await report(device, results)).status).toBe(204);
		const first = await stored(device);
		expect(first.spans).toHaveLength(3);
		expect((await report(device, results)).status).toBe(204);
		expect(await stored(device)).toEqual(first);
		await report(device, [postureResult({ status: "FAIL" })]);
		const later = await stored(device);
		for (const _ of [1, 2]) {
			expect((await report(device, results)).status).toBe(204);
			expect(await stored(device)).toEqual(later);
		}
	});

	test("sent again changes nothing also when its time lay in the future", async () => {
		const device = await assay.activateDevice();
		const correlation_id = newReportId();
		const observed_at = "2999-01-01T00:00:00Z";
		const results = [postureResult({ correlation_id, observed_at })];
		await report(device, results);
		const first = await stored(device);
		expect((await report(device, results)).status).toBe(204);
		expect(await stored(device)).toEqual(first);
	});

	test("sent many times at once is stored once", async () => {
		const device = await assay.activateDevice();
		const results = series(newReportId());
		const answers = await Promise.all(
			Array.from({ length: 5 }, () => report(device, results)),
		);
		expect(answers.map((answer) => answer.status)).toEqual(Array(5).fill(204));
		const { reports, spans } = await stored(device);
		expect(reports).toMatchObject([{ results: [{}, {}, {}] }]);
		expect(spans).toHaveLength(3);
	});

	test("with further results is extended: one row that has them all", async () => {
		const device = await assay.activateDevice();
		const correlation_id = newReportId();
		const [a, b, c] = ["A", "B", "C"].map((check_key) =>
			postureResult({ check_key, correlation_id }),
		);
		for (const part of [[a], [b, c], [a, c]]) {
			expect((await report(device, part)).status).toBe(204);
		}
		const { reports, results, spans } = await stored(device);
		expect(reports).toMatchObject([{ report_id: correlation_id }]);
		expect(results.map((result) => result.check_key)).toEqual(["A", "B", "C"]);
		expect(spans).toMatchObject([
			{ check_key: "A" },
			{ check_key: "B" },
			{ check_key: "C" },
		]);
	});
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type PostureApi,
	sharePostureApi,
} from "../support/posture-reports.ts";
import { postureResult } from "../support/service.ts";

let api: PostureApi;
beforeAll(async () => {
	api = await sharePostureApi();
});
afterAll(() => api.assay.close());

describe("a result", () => {
	test.each([
		"PASS",
		"FAIL",
		"UNKNOWN",
		"NOT_APPLICABLE",
	])("may have the status %s", async (status) => {
		const device = await api.assay.activateDevice();
		expect((await api.report(device, [postureResult({ status })])).status).toBe(
			204,
		);
		expect((await api.stored(device)).spans).toMatchObject([{ status }]);
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
		const device = await api.assay.activateDevice();
		const answer = await api.report(device, [postureResult({ check_key })]);
		expect(answer.status).toBe(204);
		const { results, spans } = await api.stored(device);
		expect(results).toMatchObject([{ check_key }]);
		expect(spans).toMatchObject([{ check_key }]);
	});

	test("may have an object or null as evidence, or none", async () => {
		const device = await api.assay.activateDevice();
		const evidence = { a: { b: [1, "x", null, true, -1.5e-7] }, "": {}, é: "" };
		const results = [
			postureResult({ check_key: "A", evidence }),
			postureResult({ check_key: "B", evidence: {} }),
			postureResult({ check_key: "C", evidence: null }),
			postureResult({ check_key: "D" }),
		];
		expect((await api.report(device, results)).status).toBe(204);
		const kept = (await api.stored(device)).results;
		expect(kept[0]?.evidence).toEqual(evidence);
		expect(kept[1]?.evidence).toEqual({});
		expect(kept[2]?.evidence ?? undefined).toBeUndefined();
		expect(kept[3]).not.toHaveProperty("evidence");
	});

	test("keeps evidence named __proto__ and its siblings", async () => {
		const device = await api.assay.activateDevice();
		const body = `{"results":[{"check_key":"A","status":"PASS","observed_at":"2026-03-31T08:00:00Z","evidence":{"__proto__":{"a":1},"b":2}}]}`;
		expect((await api.report(device, body)).status).toBe(204);
		const [result] = (await api.stored(device)).results;
		expect(JSON.stringify(result?.evidence)).toBe(
			'{"b":2,"__proto__":{"a":1}}',
		);
	});

	test("may have evidence nested a few dozen levels deep", async () => {
		const device = await api.assay.activateDevice();
		const evidence = JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`);
		const results = [postureResult({ evidence })];
		expect((await api.report(device, results)).status).toBe(204);
		expect((await api.stored(device)).results[0]?.evidence).toEqual(evidence);
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
	])("observed at %s is stored with the time %s", async (observed_at, expected) => {
		const device = await api.assay.activateDevice();
		const answer = await api.report(device, [postureResult({ observed_at })]);
		expect(answer.status).toBe(204);
		const { results, spans } = await api.stored(device);
		expect(spans[0]?.since.toISOString()).toBe(expected);
		expect(results[0]?.observed_at.slice(0, 23)).toBe(expected.slice(0, 23));
	});

	test.each([
		"2016-12-31T23:59:60Z",
		"0000-01-01T00:00:00Z",
		"0001-01-01T00:00:00+23:00",
	])("observed at %s, a limit of RFC 3339, is accepted", async (observed_at) => {
		const device = await api.assay.activateDevice();
		const answer = await api.report(device, [postureResult({ observed_at })]);
		expect(answer.status).toBe(204);
		expect((await api.stored(device)).spans).toHaveLength(1);
	});

	test("keeps the microseconds of its time", async () => {
		const device = await api.assay.activateDevice();
		const observed_at = "2026-03-31T08:00:00.123456789Z";
		await api.report(device, [postureResult({ observed_at })]);
		const { rows } = await api.assay.database.owner.query(
			"select extract(microseconds from since)::int as us from posture_spans where device_id = $1",
			[device.id],
		);
		expect(rows).toEqual([{ us: 123_456 }]);
	});

	test("observed 4 minutes in the future keeps its time; one from 6 minutes, a year or 7000 years ahead gets the current time", async () => {
		const minutes = (n: number) =>
			new Date(Date.now() + n * 60_000).toISOString();
		for (const observed_at of [
			minutes(6),
			minutes(525_600),
			"9999-12-31T23:59:59.999999999Z",
			"9999-12-31T23:59:59-23:59",
		]) {
			const device = await api.assay.activateDevice();
			const before = Date.now();
			const answer = await api.report(device, [postureResult({ observed_at })]);
			const after = Date.now();
			expect(answer.status).toBe(204);
			const { results, spans } = await api.stored(device);
			for (const time of [
				Date.parse(results[0]?.observed_at ?? ""),
				Number(spans[0]?.since),
			]) {
				expect(time, observed_at).toBeGreaterThanOrEqual(before);
				expect(time, observed_at).toBeLessThanOrEqual(after);
			}
		}
		const device = await api.assay.activateDevice();
		const observed_at = minutes(4);
		await api.report(device, [postureResult({ observed_at })]);
		const { spans } = await api.stored(device);
		expect(spans[0]?.since.toISOString()).toBe(observed_at);
	});

	test("with U+0000 or a lone surrogate in any string is stored with U+FFFD instead; an escaped backslash stays text", async () => {
		const device = await api.assay.activateDevice();
		const body = String.raw`{"results":[{"check_key":"k\u0000\ud800\\u0000","status":"PASS","observed_at":"2026-03-31T08:00:00Z","evidence":{"a\u0000":"\uDBFFx\u0000","b\udc00\ud800":["\ud83d\ude00\\\u0000","\\u0000","\\\\u0000"],"c":{"\\ud800":1}}}]}`;
		const answer = await api.report(device, body);
		expect(answer.status).toBe(204);
		const { results, spans } = await api.stored(device);
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

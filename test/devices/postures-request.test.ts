import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

describe("a PENDING device gets 401", () => {
	test.each([
		["good results", () => ({ results: [postureResult()] })],
		["no results", () => ({ results: [] })],
		["an empty object", () => ({})],
		["wrong results", () => ({ results: [7] })],
		["broken JSON", () => '{"results":'],
		["an empty body", () => ""],
		["a body that is too large", () => `{"a":"${"x".repeat(1_048_576)}"}`],
	])("with %s, and nothing is stored", async (_, make) => {
		const device = await api.assay.enrollDevice();
		const answer = await api.assay.post("postures", make(), {
			key: device.key,
		});
		expect(await readError(answer)).toMatchObject({
			status: 401,
			error: "unauthorized",
		});
		expect(await api.stored(device)).toEqual(NOTHING);
	});
});

describe("the list of results", () => {
	test("that is empty is answered with 204, and nothing is stored", async () => {
		const device = await api.assay.activateDevice();
		expect((await api.report(device, [])).status).toBe(204);
		expect(await api.stored(device)).toEqual(NOTHING);
	});

	test.each([
		["missing", undefined],
		["null", null],
		["an object", { 0: postureResult() }],
		["text", "PASS"],
		["a number", 1],
		["false", false],
	])("that is %s is answered with 400", async (_, results) => {
		const device = await api.assay.activateDevice();
		await api.expectRefused(device, JSON.stringify({ results }), "results");
	});

	test("with 100 elements is stored in its order, and the response is empty", async () => {
		const device = await api.assay.activateDevice();
		const results = Array.from({ length: 100 }, (_, i) =>
			postureResult({ check_key: `CHECK_${i}`, evidence: { i } }),
		);
		const answer = await api.report(device, results);
		expect(answer.status).toBe(204);
		expect(await answer.text()).toBe("");
		const { reports, results: kept, spans } = await api.stored(device);
		expect(reports).toHaveLength(1);
		expect(kept.map((result) => result.check_key)).toEqual(
			results.map((result) => result.check_key),
		);
		expect(spans).toHaveLength(100);
	});

	test("with 101 elements is answered with 400", async () => {
		const device = await api.assay.activateDevice();
		const results = Array.from({ length: 101 }, () => postureResult());
		await api.expectRefused(device, results, "100");
	});

	test.each([
		[null],
		[7],
		["PASS"],
		[true],
		[[]],
		[[postureResult()]],
	])("with the element %j is answered with 400, and the error names the index", async (element) => {
		const device = await api.assay.activateDevice();
		const results = [postureResult(), element, postureResult()];
		await api.expectRefused(device, results, "results[1]");
	});
});

describe("one invalid result rejects the whole request with its index and field, and nothing is stored", () => {
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
		const device = await api.assay.activateDevice();
		for (const value of values) {
			const results = [0, 1, 2, 3].map((i) =>
				postureResult({ check_key: `C${i}` }),
			);
			results[2] = { ...results[2], [field]: value } as (typeof results)[0];
			await api.expectRefused(device, results, `results[2].${field}`);
		}
	});

	test("the error names all invalid results", async () => {
		const device = await api.assay.activateDevice();
		const results = [{}, postureResult(), postureResult({ status: "?" })];
		const { message } = await readError(await api.report(device, results));
		expect(message).toContain("results[0].check_key");
		expect(message).toContain("results[0].status");
		expect(message).toContain("results[0].observed_at");
		expect(message).toContain("results[2].status");
	});
});

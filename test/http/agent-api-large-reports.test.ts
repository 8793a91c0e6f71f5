import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type AgentSocket,
	expectError,
	startAgentSocket,
} from "../support/agent-socket.ts";
import { postureResult, type TestDevice } from "../support/service.ts";

let api: AgentSocket;
beforeAll(async () => {
	api = await startAgentSocket();
});
afterAll(() => api.close());

const post = (device: TestDevice, text: string) =>
	api.send(api.request("postures", text, device.key)).response();

async function storedResults({ id }: TestDevice) {
	const { rows } = await api.assay.database.owner.query<{
		results: { check_key: string; evidence?: object }[];
	}>("select results from posture_reports where device_id = $1", [id]);
	return rows.flatMap(({ results }) => results);
}

const wide = (count: number) => JSON.stringify(Array(count).fill(0));
const deep = (count: number) => "[".repeat(count) + "]".repeat(count);
const padding = JSON.stringify("x".repeat(64 * 1024));

/** Returns a report with one result and these fields, as JSON texts. */
function reportWith(evidence: string, extra = "0"): string {
	const fields = JSON.stringify(postureResult()).slice(1, -1);
	return `{"padding":${padding},"extra":${extra},"results":[{${fields},"evidence":${evidence}}]}`;
}

describe("a report of at most 1 MiB is stored", () => {
	test.each([
		["200,000 values", wide(200_000)],
		["400,000 levels", deep(400_000)],
		["a number of 900,000 digits", "9".repeat(900_000)],
	])("also if an unknown field has %s", async (_, extra) => {
		const device = await api.assay.activateDevice();
		const text = reportWith('{"a":[1,{"b":null}]}', extra);
		expect((await post(device, text)).status).toBe(204);
		expect((await storedResults(device))[0]?.evidence).toEqual({
			a: [1, { b: null }],
		});
	});

	test.each([
		["values", `{"a":${wide(200_000)}}`, "more than 490 keys and values"],
		["levels", `{"a":${deep(400_000)}}`, "more than 100 levels"],
	])("also if evidence has very many %s, with a note in place of that evidence", async (_, evidence, note) => {
		const device = await api.assay.activateDevice();
		const report = JSON.parse(reportWith(evidence));
		report.results.push(
			postureResult({ check_key: "FIREWALL", evidence: { small: true } }),
		);
		const text = JSON.stringify({ results: report.results }).replace(
			'"results"',
			`"padding":${padding},"results"`,
		);
		expect((await post(device, text)).status).toBe(204);
		const [first, second] = await storedResults(device);
		expect(first?.evidence).toEqual({
			omitted: `The evidence has ${note}.`,
		});
		expect(second?.evidence).toEqual({ small: true });
	});

	test("also if short evidence has more than 100 levels", async () => {
		const device = await api.assay.activateDevice();
		const result = postureResult({
			evidence: JSON.parse(`{"a":${deep(120)}}`),
		});
		const answer = await post(device, JSON.stringify({ results: [result] }));
		expect(answer.status).toBe(204);
		expect((await storedResults(device))[0]?.evidence).toEqual({
			omitted: "The evidence has more than 100 levels.",
		});
	});

	test("and several of them at once, except a second one of the same device", async () => {
		const devices = await api.assay.activateDevices(3);
		const text = reportWith("{}", wide(200_000));
		const answers = await Promise.all(
			devices.map((device) => post(device, text)),
		);
		expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
	});
});

describe("of a body with very many values", () => {
	test("a wrong one is rejected with the name of the field", async () => {
		const device = await api.assay.activateDevice();
		const wrong = reportWith("[]", wide(200_000));
		const answer = await post(device, wrong);
		expectError(answer, 400, "bad_request");
		expect(answer.body).toContain("results[0].evidence must be a JSON object");
		const many = `{"results":${wide(200_000)}}`;
		expect((await post(device, many)).body).toContain("at most 100 entries");
		const broken = reportWith("{}", wide(200_000)).slice(0, -1);
		expectError(await post(device, broken), 400, "bad_request");
		expect(await storedResults(device)).toEqual([]);
	});

	test("an unknown key and a PENDING device get 401 before anything else", async () => {
		const pending = await api.assay.enrollDevice();
		const revoked = await api.assay.activateDevice();
		await api.send(api.request("unenroll", "", revoked.key)).response();
		const broken = reportWith("{}", wide(200_000)).slice(0, -1);
		for (const device of [pending, revoked]) {
			expectError(await post(device, broken), 401, "unauthorized");
		}
	});
});

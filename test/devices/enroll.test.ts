import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import {
	heartbeatBody,
	readError,
	shareService,
	type TestService,
} from "../support/service.ts";

let assay: TestService;
beforeAll(async () => {
	assay = await shareService();
});
afterAll(() => assay.close());

async function findDevice(id: string) {
	const { rows } = await assay.database.owner.query<{
		status: string;
		key_hash: Buffer | null;
		tokens: number;
	}>(
		`select d.status, d.key_hash,
			(select count(*)::int from enrollment_tokens t where t.device_id = d.id) as tokens
		from devices d where d.id = $1`,
		[id],
	);
	return rows[0];
}

describe("enroll", () => {
	test("a token is exchanged once for a device key, and only the hash of the key is stored", async () => {
		const { id, token } = await assay.makeToken();
		expect(await findDevice(id)).toMatchObject({ tokens: 1, key_hash: null });
		const answer = await assay.post("enroll", { token });
		expect(answer.status).toBe(200);
		const body = (await answer.json()) as { api_key: string };
		expect(body).toEqual({ api_key: expect.any(String) as string });
		expect(await findDevice(id)).toEqual({
			status: "PENDING",
			tokens: 0,
			key_hash: createHash("sha256").update(body.api_key).digest(),
		});
	});

	test.each([
		["missing", {}],
		["empty", { token: "" }],
		["null", { token: null }],
		["a number", { token: 7 }],
		["true", { token: true }],
		["an object", { token: {} }],
		["an array", { token: ["x"] }],
		["named in capitals", { TOKEN: "x" }],
	])("a token that is %s is answered with 400, and the error names the field", async (_, body) => {
		expect(await readError(await assay.post("enroll", body))).toEqual({
			status: 400,
			error: "bad_request",
			message: expect.stringContaining("token") as string,
		});
	});

	test("an unknown, malformed, used, expired or revoked token, and one of a revoked device, all get the same 401", async () => {
		const sql = (text: string, id: string) =>
			assay.database.owner.query(text, [id]);
		const used = await assay.makeToken();
		await assay.post("enroll", { token: used.token });
		const expired = await assay.makeToken();
		await sql(
			"update enrollment_tokens set expires_at = now() - interval '1 second' where device_id = $1",
			expired.id,
		);
		const revoked = await assay.makeToken();
		await sql(
			"update enrollment_tokens set revoked_at = now() where device_id = $1",
			revoked.id,
		);
		const ofRevoked = await assay.makeToken();
		await sql(
			"update devices set status = 'REVOKED', revoked_at = now() where id = $1",
			ofRevoked.id,
		);
		const fresh = await assay.makeToken();
		const answers = new Set<string>();
		for (const token of [
			makeSecret("enr"),
			"nonsense",
			" ",
			`${fresh.token} `,
			` ${fresh.token}`,
			fresh.token.slice(0, -1),
			fresh.token.toUpperCase(),
			`${fresh.token}\u0000`,
			makeSecret("dev"),
			"x".repeat(15_000),
			used.token,
			expired.token,
			revoked.token,
			ofRevoked.token,
		]) {
			const answer = await assay.post("enroll", { token });
			expect(answer.status, token.slice(0, 80)).toBe(401);
			answers.add(await answer.text());
		}
		expect(answers.size).toBe(1);
		expect(JSON.parse([...answers][0] as string)).toMatchObject({
			error: "unauthorized",
		});
		expect((await assay.post("enroll", { token: fresh.token })).status).toBe(
			200,
		);
	});

	test("a token stays valid if the request's body was rejected", async () => {
		const { token } = await assay.makeToken();
		expect((await assay.post("enroll", `{"token":"${token}"`)).status).toBe(
			400,
		);
		expect((await assay.post("enroll", [token])).status).toBe(400);
		expect((await assay.post("enroll", { token })).status).toBe(200);
	});
});

describe("unenroll", () => {
	const empty: [string, string | Uint8Array, Record<string, string>][] = [
		["an empty body and application/json", "", {}],
		["an empty body and no content type", new Uint8Array(), {}],
		["null", "null", {}],
		["{}", "{}", {}],
		["an object", '{"reason":"sold"}', {}],
	];
	test.each(
		empty,
	)("with %s: 204, and every later call with the key is 401", async (name, body) => {
		const headers: Record<string, string> = name.includes("no content type")
			? {}
			: { "content-type": "application/json" };
		const { id, key, hardwareUuid } = await assay.activateDevice();
		const answer = await assay.post("unenroll", body, { key, headers });
		expect(answer.status).toBe(204);
		expect(await answer.text()).toBe("");
		expect(await findDevice(id)).toMatchObject({
			status: "REVOKED",
			key_hash: null,
		});
		const beat = heartbeatBody({ hardware_uuid: hardwareUuid });
		for (const [route, later] of [
			["heartbeat", beat],
			["postures", { results: [] }],
			["unenroll", ""],
		] as const) {
			const refused = await assay.post(route, later, { key });
			expect(refused.status, route).toBe(401);
		}
	});

	test.each([
		"[]",
		"[{}]",
		"{",
		'"x"',
		"7",
		"true",
		"nonsense",
	])("with %s: 400, and the key still works", async (body) => {
		const { key } = await assay.activateDevice();
		const refused = await assay.post("unenroll", body, { key });
		expect(await readError(refused)).toMatchObject({
			status: 400,
			error: "bad_request",
		});
		const results = { results: [] };
		expect((await assay.post("postures", results, { key })).status).toBe(204);
	});

	test("a PENDING device may unenroll", async () => {
		const { id, key } = await assay.enrollDevice();
		expect((await assay.post("unenroll", "", { key })).status).toBe(204);
		expect(await findDevice(id)).toMatchObject({ status: "REVOKED" });
		const beat = await assay.post("heartbeat", heartbeatBody(), { key });
		expect(beat.status).toBe(401);
	});

	test("revokes only its own key", async () => {
		const [leaving, staying] = [
			await assay.activateDevice(),
			await assay.activateDevice(),
		];
		await assay.post("unenroll", "", { key: leaving.key });
		const answer = await assay.post("heartbeat", heartbeatBody(), {
			key: staying.key,
		});
		expect(answer.status).toBe(200);
	});
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import {
	expectError,
	KEYED,
	startAgentSocket,
} from "../support/agent-socket.ts";
import {
	heartbeatBody,
	postureResult,
	startService,
} from "../support/service.ts";

let api: Awaited<ReturnType<typeof startAgentSocket>>;
beforeAll(async () => {
	api = await startAgentSocket();
});
afterAll(() => api.close());

const OK = { heartbeat: 200, postures: 204 } as const;

describe("when the database cannot be reached", () => {
	test("well-formed credentials get 503 with Retry-After, malformed ones still 401, and everything works again afterwards", async () => {
		const { token } = await api.assay.makeToken();
		const good = {
			heartbeat: JSON.stringify(
				heartbeatBody({ hardware_uuid: api.device.hardwareUuid }),
			),
			postures: JSON.stringify({ results: [postureResult()] }),
			unenroll: "",
		};
		await api.proxy.cut();
		try {
			for (const route of KEYED) {
				for (const key of [api.device.key, makeSecret("dev")]) {
					for (const body of [good[route], "[", '{"results":[]}']) {
						const connection = api.send(api.request(route, body, key));
						const answer = await connection.response();
						expectError(answer, 503, "service_unavailable");
						expect(answer.headers["retry-after"]).toMatch(/^\d+$/);
					}
				}
				const bad = api.send(api.request(route, good[route], api.wrongKey()));
				expectError(await bad.response(), 401, "unauthorized");
			}
			const enroll = await api
				.send(api.request("enroll", { token }))
				.response();
			expectError(enroll, 503, "service_unavailable");
			const malformed = api.send(api.request("enroll", { token: "x" }));
			expectError(await malformed.response(), 401, "unauthorized");
		} finally {
			await api.proxy.restore();
		}
		for (const route of ["heartbeat", "postures"] as const) {
			const answer = await api.send(api.request(route, good[route])).response();
			expect(answer.status, answer.body).toBe(OK[route]);
		}
		const enrolled = await api
			.send(api.request("enroll", { token }))
			.response();
		expect(enrolled.status).toBe(200);
	});

	test.each([
		[
			"renamed",
			"alter database $ rename to $_away",
			"alter database $_away rename to $",
		],
		[
			"closed",
			"alter database $ allow_connections false",
			"alter database $ allow_connections true",
		],
	])("because it was %s, requests get 503, never 401 or 500", async (_, takeAway, giveBack) => {
		const other = await startService();
		const { owner } = api.assay.database;
		try {
			const one = await other.activateDevice();
			const name = new URL(other.database.url).pathname.slice(1);
			const cutOff = () =>
				owner.query(
					"select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
					[name],
				);
			await cutOff();
			await owner.query(takeAway.replaceAll("$", name));
			await cutOff();
			try {
				for (const [route, body] of [
					["heartbeat", heartbeatBody()],
					["postures", { results: [postureResult()] }],
					["postures", { results: [] }],
					["unenroll", ""],
				] as const) {
					const answer = await other.post(route, body, { key: one.key });
					expect(answer.status, await answer.text()).toBe(503);
					expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
				}
			} finally {
				await owner.query(giveBack.replaceAll("$", name));
			}
		} finally {
			await other.close();
		}
	});
});

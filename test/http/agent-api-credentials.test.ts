import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import {
	expectError,
	head,
	KEYED,
	startAgentSocket,
} from "../support/agent-socket.ts";

let api: Awaited<ReturnType<typeof startAgentSocket>>;
beforeAll(async () => {
	api = await startAgentSocket();
});
afterAll(() => api.close());

describe("an invalid credential is answered before the body is sent", () => {
	test.each(KEYED)("on %s", async (route) => {
		const credentials = [
			undefined,
			"Bearer",
			"Basic QQ==",
			"Bearer nonsense",
			`Bearer ${api.wrongKey()}`,
		];
		const framings = [
			{ "content-length": 100 },
			{ "content-length": 10_000_000 },
			{ "transfer-encoding": "chunked" },
			{ "content-length": 100, expect: "100-continue" },
		];
		const check = async (
			headers: Record<string, string | number | undefined>,
		) => {
			const connection = api.send(head(route, headers));
			let answer = await connection.response();
			if (answer.status === 100) answer = await connection.response();
			expectError(answer, 401, "unauthorized");
			expect(await connection.closed()).toBe("");
		};
		// All requests are sent at the same time, because the server waits a moment for each body
		// before it closes the connection.
		await Promise.all(
			credentials.flatMap((authorization) =>
				framings.map((framing) => check({ authorization, ...framing })),
			),
		);
	});

	test("without a query to the database, while a well-formed one needs some", async () => {
		// The service also works on its own now and then. A round without that shows the rule.
		const rounds: number[] = [];
		while (rounds.at(-1) !== 0 && rounds.length < 10) {
			const before = api.proxy.bytesSent();
			await sendInvalid();
			rounds.push(api.proxy.bytesSent() - before);
		}
		expect(rounds.at(-1)).toBe(0);
		const before = api.proxy.bytesSent();
		await api.send(api.request("heartbeat", {}, makeSecret("dev"))).response();
		expect(api.proxy.bytesSent()).toBeGreaterThan(before);
	});

	async function sendInvalid() {
		for (const route of KEYED) {
			for (const authorization of [
				undefined,
				"Basic QQ==",
				"Bearer nonsense",
				`Bearer ${api.wrongKey()}`,
				`Bearer ${makeSecret("enr")}`,
			]) {
				const headers = { authorization, "content-length": 2 };
				const connection = api.send(`${head(route, headers)}{}`);
				expect((await connection.response()).status).toBe(401);
			}
		}
		for (const token of ["nonsense", makeSecret("dev"), api.wrongKey()]) {
			const answer = await api
				.send(api.request("enroll", { token }))
				.response();
			expect(answer.status).toBe(401);
		}
	}

	test("a well-formed unknown key is answered with 401 even if the body's framing is broken", async () => {
		for (const route of KEYED) {
			const headers = {
				...api.withKey(makeSecret("dev")),
				"transfer-encoding": "chunked",
			};
			const connection = api.send(head(route, headers), "zz\r\nnonsense");
			expectError(await connection.response(), 401, "unauthorized");
		}
	});
});

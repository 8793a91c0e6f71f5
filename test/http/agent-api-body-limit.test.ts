import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type AgentSocket,
	expectError,
	head,
	shareAgentSocket,
} from "../support/agent-socket.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let api: AgentSocket;
beforeAll(async () => {
	api = await shareAgentSocket();
});
afterAll(() => api.close());

describe("the body limit", () => {
	const chunked = (text: string, size: number) => {
		const chunks: string[] = [];
		for (let at = 0; at < text.length; at += size) {
			const chunk = text.slice(at, at + size);
			chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
		}
		return `${chunks.join("")}0\r\n\r\n`;
	};
	/** Returns a valid body of exactly `length` bytes. */
	const sized = (body: object, length: number) => {
		const text = JSON.stringify({ ...body, padding: "" });
		const padding = "x".repeat(length - text.length);
		return JSON.stringify({ ...body, padding });
	};
	const cases = [
		["enroll", 16_384],
		["heartbeat", 16_384],
		["postures", 1_048_576],
		["unenroll", 16_384],
	] as const;

	test.each(
		cases,
	)("of %s is %i bytes: exactly that many pass, one more is answered with 400 and the connection is closed", async (route, limit) => {
		const bodies = {
			enroll: async () => ({ token: (await api.assay.makeToken()).token }),
			heartbeat: async () => heartbeatBody(),
			postures: async () => ({ results: [postureResult()] }),
			unenroll: async () => ({}),
		};
		for (const framing of ["length", "large chunks", "small chunks"]) {
			const { key } = await api.assay.activateDevice();
			const send = (text: string) => {
				if (framing === "length")
					return api.send(api.request(route, text, key));
				const headers = { ...api.withKey(key), "transfer-encoding": "chunked" };
				const size = framing === "large chunks" ? text.length : 1000;
				return api.send(head(route, headers), chunked(text, size));
			};
			const body = await bodies[route]();
			const over = send(sized(body, limit + 1));
			expectError(await over.response(), 400, "bad_request");
			expect(await over.closed()).toBe("");
			const exact = await send(sized(body, limit)).response();
			expect(exact.status, `${framing}: ${exact.body}`).toBe(
				route === "postures" || route === "unenroll" ? 204 : 200,
			);
		}
	});

	test("counts bytes and not characters", async () => {
		const body = JSON.stringify(heartbeatBody({ padding: "ü".repeat(8_192) }));
		expect(body.length).toBeLessThan(16_384);
		const answer = await api.send(api.request("heartbeat", body)).response();
		expectError(answer, 400, "bad_request");
	});

	test.each(
		cases,
	)("of %s: a larger announced length is answered before the body arrives", async (route, limit) => {
		await Promise.all(
			[limit + 1, 1e15].map(async (length) => {
				const headers = { ...api.withKey(), "content-length": length };
				const connection = api.send(head(route, headers));
				expectError(await connection.response(), 400, "bad_request");
				expect(await connection.closed()).toBe("");
			}),
		);
	});

	test.each(
		cases,
	)("of %s: an endless chunked body is answered with 400 and cut off after a limited number of bytes", async (route, limit) => {
		const client = api.open();
		client.send(
			head(route, { ...api.withKey(), "transfer-encoding": "chunked" }),
		);
		const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
		let sent = 0;
		let isOpen = true;
		client.socket.on("close", () => {
			isOpen = false;
		});
		const pump = (async () => {
			while (isOpen && sent < 64 << 20) {
				sent += 4096;
				const isFull = !client.socket.write(chunk);
				await new Promise((resolve) => {
					if (!isFull) setImmediate(resolve);
					else
						for (const event of ["drain", "close"])
							client.socket.once(event, resolve);
				});
			}
		})();
		expectError(await client.response(), 400, "bad_request");
		await client.closed();
		client.socket.destroy();
		await pump;
		// Besides the limit, the client can send what the server discards before it closes the
		// connection and what fits into the kernel's buffers.
		expect(sent).toBeLessThan(limit + (16 << 20));
	});
});

import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeClient } from "../../agent/client.ts";
import { CERTIFICATE, PRIVATE_KEY } from "./certificate.ts";

async function listen(server: Server): Promise<number> {
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		server.close();
	});
	return (server.address() as AddressInfo).port;
}

const startSecure = () =>
	listen(
		createServer(
			{ key: PRIVATE_KEY, cert: CERTIFICATE },
			(request, response) => {
				request.resume();
				response.writeHead(204).end();
			},
		),
	);

async function send(
	serverUrl: string,
	options: { extraCa?: string; environment?: NodeJS.ProcessEnv } = {},
) {
	const client = await makeClient({ serverUrl, platform: "LINUX", ...options });
	onTestFinished(() => client.rest());
	return client.send("postures", { key: "asy_dev_key", body: {} });
}

test("an untrusted certificate is rejected, whatever is set in the environment", async () => {
	const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
	process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
	onTestFinished(() => {
		if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
		else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
	});
	const outcome = await send(`https://localhost:${await startSecure()}`);
	expect(outcome).toMatchObject({
		kind: "trouble",
		reason: expect.stringContaining("--ca-file"),
	});
});

test("a certificate of the given authority is trusted", async () => {
	const port = await startSecure();
	const outcome = await send(`https://localhost:${port}`, {
		extraCa: CERTIFICATE,
	});
	expect(outcome).toEqual({ kind: "ok", body: {} });
});

test("a certificate of another host is rejected even if its authority is trusted", async () => {
	const port = await startSecure();
	const outcome = await send(`https://127.0.0.2:${port}`, {
		extraCa: CERTIFICATE,
	});
	expect(outcome.kind).toBe("trouble");
});

/**
 * Starts a proxy that connects every tunnel to `port` and records the target that was requested.
 */
async function startProxy(port: number) {
	const asked: string[] = [];
	const proxy = createHttpServer();
	proxy.on("connect", (request, inward) => {
		asked.push(request.url ?? "");
		const outward = connect(port, "127.0.0.1", () => {
			inward.write("HTTP/1.1 200 OK\r\n\r\n");
			outward.pipe(inward).pipe(outward);
		});
		for (const socket of [inward, outward]) socket.on("error", () => {});
	});
	return { url: `http://127.0.0.1:${await listen(proxy)}`, asked };
}

test("the agent reaches the service through the proxy in the environment and still verifies the service's certificate", async () => {
	const proxy = await startProxy(await startSecure());
	const environment = { HTTPS_PROXY: proxy.url };
	const url = "https://assay.example.com";
	expect(await send(url, { environment, extraCa: CERTIFICATE })).toEqual({
		kind: "ok",
		body: {},
	});
	expect((await send(url, { environment })).kind).toBe("trouble");
	expect(proxy.asked[0]).toBe("assay.example.com:443");
});

test("the agent reaches a service on this machine without the proxy", async () => {
	const proxy = await startProxy(1);
	const port = await startSecure();
	const outcome = await send(`https://localhost:${port}`, {
		environment: { HTTPS_PROXY: proxy.url },
		extraCa: CERTIFICATE,
	});
	expect(outcome.kind).toBe("ok");
	expect(proxy.asked).toEqual([]);
});

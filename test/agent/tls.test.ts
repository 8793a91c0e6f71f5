import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeClient } from "../../agent/client.ts";
import { storeProxies, useStoredProxies } from "../../agent/proxies.ts";
import { CERTIFICATE, EXPIRED, PRIVATE_KEY } from "./certificate.ts";
import { makeAgentFolder } from "./folders.ts";

async function listen(server: Server): Promise<number> {
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		server.close();
	});
	return (server.address() as AddressInfo).port;
}

const startSecure = (
	pair: { key: string; cert: string } = { key: PRIVATE_KEY, cert: CERTIFICATE },
) =>
	listen(
		createServer(pair, (request, response) => {
			request.resume();
			response.writeHead(204).end();
		}),
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
	const proxy = await startProxy(await startSecure());
	const outcome = await send("https://other.example.com", {
		environment: { HTTPS_PROXY: proxy.url },
		extraCa: CERTIFICATE,
	});
	expect(outcome).toMatchObject({
		kind: "trouble",
		reason: expect.stringContaining("is for another host name"),
	});
});

test("an expired certificate is named as expired, and --ca-file is not advised", async () => {
	const port = await startSecure(EXPIRED);
	const outcome = await send(`https://localhost:${port}`, {
		extraCa: EXPIRED.cert,
	});
	expect(outcome).toMatchObject({
		kind: "trouble",
		reason: expect.stringMatching(/certificate has expired(?!.*--ca-file)/),
	});
});

const reasonOf = async (proxy: string) => {
	const url = "https://assay.example.com";
	const outcome = await send(url, { environment: { HTTPS_PROXY: proxy } });
	return outcome.kind === "trouble" ? outcome.reason : outcome.kind;
};

test("if the proxy is down, the reason names the proxy and not the service, without its password", async () => {
	const proxy = await startProxy(1);
	const { port } = new URL(proxy.url);
	proxy.close();
	expect(await reasonOf(`http://ada:secret@127.0.0.1:${port}`)).toBe(
		`nothing listens at the proxy's address (127.0.0.1:${port}); check HTTPS_PROXY`,
	);
	expect(await reasonOf("http://proxy.invalid:3128")).toMatch(
		/^DNS .* the proxy's name .*\(proxy\.invalid:3128\)/,
	);
});

test("if a proxy of the agent's folder is down, the reason names the file", async () => {
	const proxy = await startProxy(1);
	proxy.close();
	const folder = await makeAgentFolder();
	await storeProxies(folder, { HTTPS_PROXY: proxy.url });
	const environment: NodeJS.ProcessEnv = {};
	await useStoredProxies(folder, environment);
	expect(await send("https://assay.example.com", { environment })).toEqual(
		expect.objectContaining({
			reason: expect.stringMatching(
				/^nothing listens at the proxy's .*; check HTTPS_PROXY in .*proxies\.json$/,
			),
		}),
	);
});

test.each([
	[407, "demands a user name and a password"],
	[502, "does not connect to the service (it answered 502)"],
])("if the proxy answers %i, the reason says so", async (status, reason) => {
	const proxy = createHttpServer();
	proxy.on("connect", (_request, socket) => {
		socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
	});
	const port = await listen(proxy);
	expect(await reasonOf(`http://127.0.0.1:${port}`)).toContain(reason);
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
	return {
		url: `http://127.0.0.1:${await listen(proxy)}`,
		asked,
		close: () => proxy.close(),
	};
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

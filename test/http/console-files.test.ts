import { afterAll, beforeAll, expect, test } from "vitest";
import { findBuiltConsole } from "../../console/ensure-build.ts";
import {
	type ConsoleFiles,
	readConsoleFiles,
} from "../../src/http/console-files.ts";
import { COMMAND } from "../../src/version.ts";
import { startService, type TestService } from "../support/service.ts";

const script = Buffer.from("export const answer = 42;");
const compressed = Buffer.from("as brotli has it");
const files: ConsoleFiles = {
	index:
		'<!doctype html><meta nonce="__NONCE__"><meta name="assay-command" content="__COMMAND__"><div id="root"></div>',
	assets: new Map([
		[
			"/assets/index-1a2b3c4d.js",
			{
				type: "text/javascript; charset=utf-8",
				isHashed: true,
				identity: script,
				br: compressed,
			},
		],
	]),
};

let served: TestService;
beforeAll(async () => {
	served = await startService(undefined, undefined, files);
});
afterAll(() => served.close());

const get = (
	path: string,
	headers: Record<string, string> = {},
	method = "GET",
) =>
	fetch(`${served.service.url}${path}`, {
		method,
		headers: { "accept-encoding": "identity", ...headers },
	});
const asBrowser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

test("every address of the console returns its page, with a policy that permits only our own files", async () => {
	const nonces = new Set<string>();
	for (const path of ["/", "/sign-in", "/o/x/r/risk?q=a", "/setup"]) {
		const answer = await get(path, asBrowser);
		expect(answer.status).toBe(200);
		expect(answer.headers.get("cache-control")).toBe("no-cache");
		const policy = answer.headers.get("content-security-policy") ?? "";
		expect(policy).toContain("default-src 'none'; script-src 'self';");
		expect(policy).toContain("frame-ancestors 'none'");
		const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
		const page = await answer.text();
		expect(page).toContain(`nonce="${nonce}"`);
		expect(page).toContain(`name="assay-command" content="${COMMAND}"`);
		nonces.add(nonce);
	}
	expect(nonces.size, "each answer has a nonce of its own").toBe(4);
});

test("the built page has a place for the nonce of styles, and no script with a nonce, so that browsers keep scripts compiled", async () => {
	const { index } = await readConsoleFiles(await findBuiltConsole());
	expect(index).toContain('<meta property="csp-nonce" nonce="__NONCE__"');
	const scripts = index.match(/<(?:script|link rel="modulepreload")[^<>]*>/g);
	expect(scripts?.length).toBeGreaterThan(2);
	expect(scripts?.filter((tag) => tag.includes("nonce"))).toEqual([]);
});

test("an address outside of the console returns 404 as JSON, also to a browser", async () => {
	for (const path of [
		"/api/nothing",
		"/api/console/listRisks",
		"/health/nothing",
		"/.well-known/oauth-authorization-server",
		"/assets/missing-1a2b3c4d.js",
		"/assets/..%2f..%2fpackage.json",
	]) {
		const answer = await get(path, asBrowser);
		expect(answer.status, path).toBe(404);
		expect(await answer.json()).toMatchObject({ error: "not_found" });
	}
	expect((await get("/sign-in", { accept: "application/json" })).status).toBe(
		404,
	);
});

test("a file may be cached forever and is compressed for clients that accept this", async () => {
	const path = "/assets/index-1a2b3c4d.js";
	const plain = await get(path);
	expect(plain.headers.get("cache-control")).toBe(
		"public, max-age=31536000, immutable",
	);
	expect(plain.headers.get("vary")).toBe("accept-encoding");
	expect(plain.headers.get("content-encoding")).toBeNull();
	expect(await plain.text()).toBe(script.toString());
	const refused = await get(path, { "accept-encoding": "br;q=0, gzip" });
	expect(refused.headers.get("content-encoding")).toBeNull();
	const head = await get(path, { "accept-encoding": "gzip, br" }, "HEAD");
	expect(head.status).toBe(200);
	expect(head.headers.get("content-encoding")).toBe("br");
	expect(head.headers.get("content-length")).toBe(String(compressed.length));
});

test("without a built console the page says why, and everything else works", async () => {
	const without = await startService();
	try {
		const page = await fetch(without.service.url, { headers: asBrowser });
		expect(page.status).toBe(503);
		expect(await page.text()).toContain("without its web console");
		const alive = await fetch(`${without.service.url}/health/ready`);
		expect(alive.status).toBe(200);
	} finally {
		await without.close();
	}
});

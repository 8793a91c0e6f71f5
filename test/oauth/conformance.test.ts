import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startConsole, type TestConsole } from "../support/console-session.ts";
import { makeFolder } from "../support/folder.ts";
import { findFreePort } from "../support/free-port.ts";
import type { Json } from "../support/tools.ts";

/** The official conformance suite, which also tests authorization servers. */
const SUITE = join(
	import.meta.dirname,
	"../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

let served: TestConsole;
let base: string;
beforeAll(async () => {
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	served = await startConsole({
		ASSAY_PORT: String(port),
		ASSAY_BASE_URL: base,
		ASSAY_OAUTH: "on",
		ASSAY_OAUTH_REGISTRATION: "on",
	});
});
afterAll(() => served.close());

test("every scenario for authorization servers passes", async () => {
	const person = await served.signIn("member");
	const port = await findFreePort();
	const registered = await fetch(`${base}/oauth/register`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({
			redirect_uris: [`http://127.0.0.1:${port}/callback`],
		}),
	}).then((answer) => answer.json() as Promise<Json>);
	const folder = await makeFolder("assay-conformance-");
	try {
		const child = spawn(
			process.execPath,
			[
				SUITE,
				"authorization",
				`--url=${base}`,
				`--client-id=${registered.client_id}`,
				`--resource=${base}/api/mcp/v1`,
				`--port=${port}`,
				`--output-dir=${folder}`,
			],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		const ended = once(child, "exit");
		let address: URL | undefined;
		for await (const line of createInterface(child.stdout)) {
			if (line.startsWith(`${base}/oauth/authorize`)) address = new URL(line);
			// The suite then waits for the browser. We allow the program, as the consent page does.
			if (!address || !line.startsWith("Callback server started")) continue;
			const { redirect_to } = await person.use(
				"allowApp",
				Object.fromEntries(address.searchParams),
			);
			await (await fetch(redirect_to)).text();
		}
		await ended;
		const checks = await Promise.all(
			(await readdir(folder)).map(async (name) =>
				JSON.parse(await readFile(join(folder, name, "checks.json"), "utf8")),
			),
		);
		const results = checks.flat().map(({ id, status }) => [id, status]);
		expect(Object.fromEntries(results)).toEqual({
			"authorization-server-metadata": "SUCCESS",
			"authorization-server-metadata-cimd": "SUCCESS",
			"authorization-code-grant": "SUCCESS",
		});
	} finally {
		await rm(folder, { recursive: true });
	}
});

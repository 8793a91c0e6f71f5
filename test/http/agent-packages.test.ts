import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findBuiltConsole } from "../../console/ensure-build.ts";
import { readConsoleFiles } from "../../src/http/console-files.ts";
import { VERSION } from "../../src/version.ts";
import { makeFolder } from "../support/folder.ts";
import {
	heartbeatBody,
	startService,
	type TestService,
} from "../support/service.ts";

const DEB = "assay-agent_1.4.0_amd64.deb";
let folder: string;
let assay: TestService;
let base: string;

/** Sends a GET for exactly this address. */
const get = (url: string) =>
	new Promise<IncomingMessage>((resolve, reject) => {
		const { port } = new URL(url);
		const path = url.slice(url.indexOf("/agent-packages"));
		request({ host: "127.0.0.1", port, path }, (answer) => {
			answer.resume();
			resolve(answer);
		})
			.on("error", reject)
			.end();
	});

beforeAll(async () => {
	folder = await makeFolder("assay-packages-");
	await mkdir(join(folder, "repodata"));
	await mkdir(join(folder, "private"));
	await writeFile(join(folder, DEB), "the package");
	await writeFile(join(folder, "repodata/repomd.xml"), "<repomd/>");
	await writeFile(join(folder, ".hidden"), "secret");
	await writeFile(join(folder, "private/key"), "secret");
	await writeFile(
		join(folder, "packages.json"),
		JSON.stringify({
			version: "1.4.0",
			is_signed: false,
			packages: [
				{
					file: DEB,
					platform: "LINUX",
					architecture: "x64",
					format: "deb",
					bytes: 11,
					sha256: "0".repeat(64),
				},
			],
		}),
	);
	assay = await startService(
		async (url) => url,
		{ ASSAY_AGENT_DIR: folder },
		await readConsoleFiles(await findBuiltConsole()),
	);
	base = `${assay.service.url}/agent-packages/`;
});
afterAll(async () => {
	await assay.close();
	await rm(folder, { recursive: true });
});

test("everybody may download a package, the list of packages and the repositories", async () => {
	const response = await fetch(base + DEB);
	expect(response.status).toBe(200);
	expect(response.headers.get("content-length")).toBe("11");
	expect(response.headers.get("content-type")).toBe(
		"application/vnd.debian.binary-package",
	);
	expect(await response.text()).toBe("the package");
	const list = await (await fetch(`${base}packages.json`)).json();
	expect(list).toMatchObject({ version: "1.4.0" });
	// apt asks for names that begin with ./, which fetch would remove.
	const apt = get(`${base}./${DEB}`);
	expect((await apt).statusCode).toBe(200);
	const yum = await fetch(`${base}repodata/repomd.xml`);
	expect(await yum.text()).toBe("<repomd/>");
});

test("every service offers the agent as one file for Node, with its checksum", async () => {
	const about = (await (await fetch(`${base}program.json`)).json()) as {
		file: string;
	};
	const response = await fetch(`${base}${about.file}`);
	expect(response.status).toBe(200);
	const program = Buffer.from(await response.arrayBuffer());
	expect(about).toEqual({
		file: "assay-agent.cjs",
		version: VERSION,
		bytes: program.length,
		sha256: createHash("sha256").update(program).digest("hex"),
	});
	expect(program.toString()).toContain(`Assay agent ${VERSION}`);
});

test("a file that has not changed is not sent again, and HEAD sends none", async () => {
	const first = await fetch(base + DEB, { method: "HEAD" });
	expect(first.headers.get("content-length")).toBe("11");
	expect(await first.text()).toBe("");
	const headers: Record<string, string>[] = [
		{ "if-none-match": first.headers.get("etag") ?? "" },
		{ "if-modified-since": first.headers.get("last-modified") ?? "" },
	];
	for (const each of headers) {
		const again = await fetch(base + DEB, { headers: new Headers(each) });
		expect(again.status).toBe(304);
	}
});

test.each([
	".hidden",
	"private/key",
	"..%2f..%2fetc%2fpasswd",
	"repodata%2f..%2f.hidden",
	"missing.deb",
	"",
])("nothing else can be read: %j is 404", async (path) => {
	const response = await fetch(base + path);
	expect(response.status).toBe(404);
});

test("a heartbeat's answer names the newest version", async () => {
	const { key, hardwareUuid } = await assay.activateDevice();
	const response = await assay.post(
		"heartbeat",
		heartbeatBody({ hardware_uuid: hardwareUuid }),
		{ key },
	);
	expect(await response.json()).toMatchObject({
		newest_agent_version: "1.4.0",
	});
});

import { createHash } from "node:crypto";
import {
	mkdir,
	rename,
	rm,
	symlink,
	truncate,
	writeFile,
} from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findBuiltConsole } from "../../console/ensure-build.ts";
import { MAX_DOWNLOADS } from "../../src/http/agent-packages.ts";
import { readConsoleFiles } from "../../src/http/console-files.ts";
import { VERSION } from "../../src/version.ts";
import { makeFolder } from "../support/folder.ts";
import {
	heartbeatBody,
	startService,
	type TestService,
} from "../support/service.ts";

const DEB = "assay-agent_1.4.0_amd64.deb";
const MSI = "assay-agent-1.3.0-x64.msi";
const RPM = "assay-agent-1.4.0-1.x86_64.rpm";
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
	await writeFile(join(folder, MSI), "an earlier package");
	await writeFile(join(folder, RPM), "a package that somebody has changed");
	await writeFile(join(folder, "Packages"), "before");
	await symlink("/etc/hostname", join(folder, "Release"));
	// More than the buffers of a connection take, so that an unread download does not end.
	await writeFile(join(folder, "Packages.gz"), "");
	await truncate(join(folder, "Packages.gz"), 64 << 20);
	await writeFile(join(folder, "repodata/repomd.xml"), "<repomd/>");
	await writeFile(join(folder, ".hidden"), "secret");
	await writeFile(join(folder, "private/key"), "secret");
	await writeFile(join(folder, "private-key.pem"), "secret");
	await writeFile(
		join(folder, "SHA256SUMS"),
		`${createHash("sha256").update("an earlier package").digest("hex")}  ${MSI}\n`,
	);
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
					sha256: createHash("sha256").update("the package").digest("hex"),
				},
				{
					file: RPM,
					platform: "LINUX",
					architecture: "x64",
					format: "rpm",
					bytes: 11,
					sha256: createHash("sha256").update("a package").digest("hex"),
				},
			],
		}),
	);
	assay = await startService(
		async (url) => url,
		{ ASSAY_AGENT_DIR: folder, ASSAY_TRUSTED_PROXIES: "127.0.0.1" },
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
	expect(list).toMatchObject({
		version: "1.4.0",
		newest: { LINUX: "1.4.0", WINDOWS: "1.3.0" },
		packages: [{ file: DEB }],
		withheld: [
			{ file: "Release", reason: expect.stringContaining("link") },
			{ file: RPM, reason: expect.stringContaining("SHA-256") },
		],
	});
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
	"private-key.pem",
	"..%2f..%2fetc%2fpasswd",
	"repodata%2f..%2f.hidden",
	"missing.deb",
	"Release",
	RPM,
	"",
])("nothing else can be read: %j is 404", async (path) => {
	const response = await fetch(base + path);
	expect(response.status).toBe(404);
});

test("a file that somebody replaces is not sent before the service has looked at it again", async () => {
	expect((await fetch(`${base}Packages`)).status).toBe(200);
	await writeFile(join(folder, "new"), "after!");
	await rename(join(folder, "new"), join(folder, "Packages"));
	expect((await fetch(`${base}Packages`)).status).toBe(503);
	await rm(join(folder, "Packages"));
	await symlink("/etc/hostname", join(folder, "Packages"));
	expect((await fetch(`${base}Packages`)).status).toBe(404);
});

test("a network can hold half of the downloads that others leave, and each newcomer gets one", async () => {
	const open = (from: string) =>
		new Promise<IncomingMessage>((resolve, reject) => {
			const headers = { "x-forwarded-for": from };
			request(`${base}Packages.gz`, { headers }, resolve)
				.on("error", reject)
				.end();
		});
	const held: IncomingMessage[] = [];
	const release = () => {
		for (const answer of held.splice(0)) answer.destroy();
	};
	onTestFinished(release);
	/** Starts downloads from all these addresses, and returns how many of them the service allows. */
	const hold = async (...from: string[]) => {
		const answers = await Promise.all(from.map(open));
		const allowed = answers.filter(({ statusCode }) => statusCode === 200);
		for (const { statusCode, headers } of answers) {
			if (statusCode === 200) continue;
			expect(statusCode).toBe(503);
			expect(Number(headers["retry-after"])).toBeGreaterThan(0);
		}
		held.push(...allowed);
		return allowed.length;
	};
	const times = (count: number, address: string) => Array(count).fill(address);
	const half = MAX_DOWNLOADS / 2;
	expect(await hold(...times(half + 3, "192.0.2.1"))).toBe(half);
	expect(await hold(...times(half, "192.0.2.2"))).toBe(half / 2);
	// A subscriber of IPv6 has many addresses in one network.
	const one = times(half, "").map((_, at) => `2001:db8::${at + 1}`);
	expect(await hold(...one)).toBe(half / 4);
	const others = times(half, "").map((_, at) => `198.51.100.${at + 1}`);
	expect(await hold(...others)).toBe(half / 4);
	// Ended downloads make room.
	release();
	await expect.poll(() => hold("192.0.2.1"), { timeout: 20_000 }).toBe(1);
});

test.each([
	["LINUX", "assay-agent/1.2.0 (LINUX)", "1.4.0"],
	["WINDOWS", "assay-agent/1.2.0 (WINDOWS)", "1.3.0"],
	["DARWIN", "assay-agent/1.2.0 (DARWIN)", undefined],
	["LINUX", "curl/8.5.0", "1.4.0"],
	["LINUX", "probo-agent/1.2.0", undefined],
])("on %s, the answer to a heartbeat of %s names the version %s", async (platform, userAgent, newest) => {
	// The service has read the folder before it answers with the list.
	await fetch(`${base}packages.json`);
	const { key, hardwareUuid } = await assay.activateDevice();
	const facts = {
		hardware_uuid: hardwareUuid,
		platform,
		agent_version: "1.2.0",
	};
	const response = await assay.post("heartbeat", heartbeatBody(facts), {
		key,
		headers: { "user-agent": userAgent },
	});
	expect(response.status).toBe(200);
	const answer = (await response.json()) as Record<string, unknown>;
	expect(answer.newest_agent_version).toBe(newest);
});

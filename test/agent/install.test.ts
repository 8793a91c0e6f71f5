import {
	chownSync,
	lchownSync,
	mkdirSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCredentials } from "../../agent/credentials.ts";
import {
	defaultFolder,
	prepareFolder,
	readMarker,
	removeFolder,
} from "../../agent/folder.ts";
import { install } from "../../agent/install.ts";
import { storeProxies, useStoredProxies } from "../../agent/proxies.ts";
import { isPrivileged } from "../../agent/system-host.ts";
import { makeFolder } from "../support/folder.ts";
import { makeAgentFolder, makeParts } from "./folders.ts";
import { startScriptedService } from "./scripted-service.ts";

async function tokenFile(): Promise<string> {
	const folder = await makeFolder("assay-token-");
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	const file = join(folder, "token");
	writeFileSync(file, "asy_enr_x\n");
	return file;
}

test("if the service could not be set up, repeating the command sets it up without a token", async () => {
	const scripted = await startScriptedService();
	const folder = await makeAgentFolder();
	let isBroken = true;
	const service = {
		name: "systemd",
		install: async () => {
			if (isBroken) throw new Error("the bus is away");
			return ["noted"];
		},
	};
	const options = { serverUrl: scripted.url, folder, service };
	const first = await install(
		{ ...options, tokenFile: await tokenFile() },
		makeParts(),
	);
	expect(first).toMatchObject({ device_id: scripted.deviceId, service: null });
	expect(first.warnings.join()).toContain("the bus is away");
	expect(await readMarker(folder)).toEqual({ service: null });
	isBroken = false;
	expect(await install(options, makeParts())).toEqual({
		server_url: scripted.url,
		folder,
		device_id: scripted.deviceId,
		service: "systemd",
		warnings: ["noted"],
	});
	await expect(install(options, makeParts())).rejects.toThrow(
		"is already enrolled",
	);
	expect(scripted.seen.map(({ route }) => route)).toEqual([
		"enroll",
		"heartbeat",
	]);
});

test("a device whose first heartbeat does not arrive stays enrolled", async () => {
	const scripted = await startScriptedService();
	scripted.answer(({ route }, response) => {
		if (route === "heartbeat") response.socket?.destroy();
		return route !== "heartbeat";
	});
	const folder = await makeAgentFolder();
	const installed = await install(
		{ serverUrl: scripted.url, folder, tokenFile: await tokenFile() },
		makeParts(),
	);
	expect(installed.device_id).toBeNull();
	expect(installed.warnings.join()).toContain("becomes active as soon as");
	expect(await readCredentials(folder)).toMatchObject({
		api_key: "asy_dev_key",
	});
});

test("a malformed key is not stored", async () => {
	const scripted = await startScriptedService();
	scripted.answer((_, response) => {
		response.end(JSON.stringify({ api_key: "one\r\nx-two: three" }));
		return false;
	});
	const folder = await makeAgentFolder();
	await expect(
		install(
			{ serverUrl: scripted.url, folder, tokenFile: await tokenFile() },
			makeParts(),
		),
	).rejects.toThrow("not from an Assay service");
	expect(await readCredentials(folder)).toBeUndefined();
});

test("a file that is not a certificate is rejected before the token is used", async () => {
	const scripted = await startScriptedService();
	const file = await tokenFile();
	await expect(
		install(
			{
				serverUrl: scripted.url,
				folder: await makeAgentFolder(),
				tokenFile: file,
				caFile: file,
			},
			makeParts(),
		),
	).rejects.toThrow("--ca-file needs");
	expect(scripted.seen).toEqual([]);
});

test("the agent's folder has its usual place on each platform", () => {
	const environment = { ProgramData: "D:\\Data", XDG_STATE_HOME: "/state" };
	const at = (
		platform: NodeJS.Platform,
		isPrivileged: boolean,
		env = environment,
	) =>
		defaultFolder({
			platform,
			isPrivileged,
			environment: env,
			home: "/home/ada",
		});
	expect(at("linux", true)).toBe("/var/lib/assay-agent");
	expect(at("freebsd", true)).toBe("/var/db/assay-agent");
	expect(at("darwin", true)).toBe("/Library/Application Support/Assay Agent");
	expect(at("win32", true)).toBe("D:\\Data\\Assay Agent");
	expect(at("linux", false)).toBe("/state/assay-agent");
	expect(at("linux", false, { ...environment, XDG_STATE_HOME: "state" })).toBe(
		"/home/ada/.local/state/assay-agent",
	);
	expect(at("darwin", false)).toBe(
		"/home/ada/Library/Application Support/Assay Agent",
	);
});

test("the agent accepts only its own folder and removes only its own files", async () => {
	const outer = await makeFolder("assay-folder-");
	onTestFinished(() => rm(outer, { recursive: true, force: true }));
	const home = join(outer, "home");
	mkdirSync(join(home, "queue"), { recursive: true });
	await expect(prepareFolder(home)).rejects.toThrow("not the agent's");
	const own = join(outer, "a/b/agent");
	await prepareFolder(own);
	await prepareFolder(own);
	writeFileSync(join(own, "notes.txt"), "");
	writeFileSync(join(own, "credentials.json.0123456789ab.tmp"), "");
	expect(await removeFolder(own)).toEqual([own]);
	expect(await readdir(own)).toEqual(["notes.txt"]);
});

test.runIf(isPrivileged())(
	"a folder or a link that belongs to another user is rejected and not changed",
	async () => {
		const base = await makeFolder("assay-agent-");
		onTestFinished(() => rm(base, { recursive: true, force: true }));
		const theirs = join(base, "theirs");
		mkdirSync(theirs, { mode: 0o755 });
		chownSync(theirs, 54_321, 54_321);
		const link = join(base, "link");
		mkdirSync(join(base, "own"));
		symlinkSync(join(base, "own"), link);
		lchownSync(link, 54_321, 54_321);
		for (const folder of [theirs, link]) {
			await expect(prepareFolder(folder)).rejects.toThrow(
				`${folder} belongs to another user`,
			);
		}
		expect(await readdir(theirs)).toEqual([]);
		expect(statSync(theirs).mode & 0o777).toBe(0o755);
	},
);

test("`install` stores the proxies for the service where nobody else can read them", async () => {
	const folder = await makeAgentFolder();
	const proxies = {
		HTTPS_PROXY: "http://ada:S3CRET@proxy.example.com:3128",
		no_proxy: "localhost",
	};
	await storeProxies(folder, { ...proxies, PATH: "/bin" });
	expect(statSync(join(folder, "proxies.json")).mode & 0o777).toBe(0o600);
	const environment = { PATH: "/usr/bin" };
	await useStoredProxies(folder, environment);
	expect(environment).toEqual({ PATH: "/usr/bin", ...proxies });
	const own = { HTTP_PROXY: "http://other" };
	await useStoredProxies(folder, own);
	expect(own).toEqual({ HTTP_PROXY: "http://other" });
	await removeFolder(folder);
	await useStoredProxies(folder, {});
});

import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { readMarker, removeFolder } from "../../agent/folder.ts";
import type { Host } from "../../agent/host.ts";
import { MANAGED_FILE } from "../../agent/managed-settings.ts";
import { describeStatus, readStatus } from "../../agent/status.ts";
import { makeFolder } from "../support/folder.ts";
import { recordedHost } from "./recorded-host.ts";
import { count, eventually, start } from "./running-agent.ts";
import { respond, startScriptedService } from "./scripted-service.ts";

/** Writes a config file and a key file, and returns the paths with a folder that does not exist. */
async function prepare(serverUrl: string) {
	const place = await makeFolder("assay-config-");
	onTestFinished(() => rm(place, { recursive: true, force: true }));
	const configFile = join(place, "config");
	const keyFile = join(place, "enrollment-key");
	await writeFile(keyFile, "asy_enk_secret\n");
	const text = `SERVER=${serverUrl}\nKEYFILE=${keyFile}\nOWNEREMAIL=ada@example.com\n`;
	await writeFile(configFile, text, { mode: 0o644 });
	return { configFile, keyFile, folder: join(place, "agent") };
}

test("the service enrolls this device as the config file says, deletes the key and reports", async () => {
	const service = await startScriptedService();
	const { configFile, keyFile, folder } = await prepare(service.url);
	start(folder, { configFile, serviceName: "systemd" });
	await service.until((seen) => count(seen, "postures") === 1);
	expect(service.seen[0]).toMatchObject({
		route: "enroll",
		body: { token: "asy_enk_secret", owner_email: "ada@example.com" },
	});
	expect(existsSync(keyFile)).toBe(false);
	expect(await readMarker(folder)).toEqual({ service: "systemd" });
});

test("the service does not store its proxies, because its environment names them at each start", async () => {
	const before = process.env.NO_PROXY;
	process.env.NO_PROXY = "localhost";
	onTestFinished(() => {
		if (before === undefined) delete process.env.NO_PROXY;
		else process.env.NO_PROXY = before;
	});
	const service = await startScriptedService();
	const { configFile, folder } = await prepare(service.url);
	const agent = start(folder, { configFile });
	await service.until((seen) => count(seen, "postures") === 1);
	await agent.stop();
	expect(existsSync(join(folder, "credentials.json"))).toBe(true);
	expect(existsSync(join(folder, "proxies.json"))).toBe(false);
});

test("the service enrolls with files that Windows PowerShell wrote", async () => {
	const service = await startScriptedService();
	const { configFile, keyFile, folder } = await prepare(service.url);
	await writeFile(keyFile, "\uFEFFasy_enk_secret\r\n", "utf16le");
	const text = `\uFEFFSERVER=${service.url}\r\nKEYFILE=${keyFile}\r\n`;
	await writeFile(configFile, text, { mode: 0o644, encoding: "utf16le" });
	start(folder, { configFile });
	await service.until((seen) => count(seen, "heartbeat") > 0);
	expect(service.seen[0]?.body).toEqual({ token: "asy_enk_secret" });
});

test("the service keeps the key while it cannot enroll, waits as long as it was asked to, and says why", async () => {
	const service = await startScriptedService();
	const { configFile, keyFile, folder } = await prepare(service.url);
	service.answer((_, response) => {
		response.setHeader("retry-after", "3600");
		respond(response, 503, { error: "service_unavailable" });
		return false;
	});
	const agent = start(folder, { configFile, idleMs: 5 });
	await eventually(() =>
		agent.logged().includes("this device is not enrolled"),
	);
	await new Promise((resolve) => setTimeout(resolve, 100));
	await agent.stop();
	expect(count(service.seen, "enroll")).toBe(1);
	expect(existsSync(keyFile)).toBe(true);
	expect(agent.logged()).not.toContain("Run the command again");
});

test("the service tries again soon after a clock that was a day ahead is corrected", async () => {
	const service = await startScriptedService();
	const { configFile, folder } = await prepare(service.url);
	vi.spyOn(Math, "random").mockReturnValue(0);
	const ahead = Date.now() + 86_400_000;
	const clock = vi.spyOn(Date, "now").mockReturnValue(ahead);
	onTestFinished(() => void vi.restoreAllMocks());
	service.answer((_, response) => {
		response.setHeader("retry-after", "1");
		respond(response, 503, { error: "service_unavailable" });
		return false;
	});
	const agent = start(folder, { configFile, idleMs: 5 });
	await eventually(() =>
		agent.logged().includes("this device is not enrolled"),
	);
	clock.mockRestore();
	service.answer(() => true);
	await service.until((seen) => count(seen, "postures") === 1);
});

test("the service uses a config file that is written or corrected while it runs", async () => {
	const service = await startScriptedService();
	const { configFile, folder } = await prepare(service.url);
	const right = `SERVER=${service.url}\nKEYFILE=${configFile}-key\n`;
	await writeFile(configFile, "SERVER=nowhere\n");
	const agent = start(folder, { configFile, idleMs: 5 });
	await eventually(() => agent.logged().includes("must look like https://"));
	await writeFile(configFile, right);
	await eventually(() => agent.logged().includes("put an enrollment key into"));
	await writeFile(`${configFile}-key`, "asy_enk_later");
	await service.until((seen) => count(seen, "heartbeat") > 0);
	expect(service.seen[0]?.body).toEqual({ token: "asy_enk_later" });
});

test("`status` says why this device is not enrolled, and since when, until it enrolls", async () => {
	const service = await startScriptedService();
	const { configFile, keyFile, folder } = await prepare(service.url);
	const right = `SERVER=${service.url}\nKEYFILE=${keyFile}\n`;
	await rm(keyFile);
	await writeFile(configFile, "SERVER=nowhere\n");
	const look = () => readStatus(folder, async () => "active");
	const until = (reason: string) =>
		eventually(async () => {
			const { trouble } = await look();
			return trouble?.reason.includes(reason) ?? false;
		});
	start(folder, { configFile, idleMs: 5 });
	await until("must look like https://");
	const first = await look();
	expect(Date.parse(first.trouble?.since ?? "")).not.toBeNaN();
	await writeFile(configFile, right);
	await until(`put an enrollment key into ${keyFile}`);
	const second = await look();
	expect(second.trouble?.since).toBe(first.trouble?.since);
	const text = describeStatus(second);
	expect(text).toMatch(/^Not enrolled\.$/m);
	expect(text).toMatch(/^trouble +this device is not enrolled; .* \(since 20/m);
	await writeFile(keyFile, "asy_enk_later");
	await service.until((seen) => count(seen, "heartbeat") > 0);
	expect(await look()).toMatchObject({ enrolled: true, trouble: null });
	expect(existsSync(join(folder, "enrollment-trouble.json"))).toBe(false);
});

test("`status` says that the service rejects the enrollment key, and uninstalling removes the note", async () => {
	const service = await startScriptedService();
	const { configFile, folder } = await prepare(service.url);
	service.answer((_, response) => {
		respond(response, 401, { error: "unauthorized", message: "no" });
		return false;
	});
	const agent = start(folder, { configFile, idleMs: 5 });
	await eventually(() => existsSync(join(folder, "enrollment-trouble.json")));
	await agent.stop();
	const status = await readStatus(folder, async () => "active");
	expect(describeStatus(status)).toContain("used, expired or revoked");
	expect(await removeFolder(folder)).toEqual([]);
	expect(existsSync(folder)).toBe(false);
});

/** Makes a Mac. `set` puts a profile with these settings on it, or takes it away. */
function makeMac() {
	let profile: object | undefined;
	const now = () =>
		recordedHost({
			platform: "DARWIN",
			...(profile && { files: { [MANAGED_FILE]: "bplist00" } }),
			commands: {
				"ioreg -rd1 -c IOPlatformExpertDevice":
					'  "IOPlatformUUID" = "6F1C3B0A-92D4-5E7B-8A11-0C4D2E9F7A63"\n',
				...(profile && {
					[`plutil -convert json -o - ${MANAGED_FILE}`]:
						JSON.stringify(profile),
				}),
			},
		});
	const host: Host = {
		...now(),
		run: (...call) => now().run(...call),
		readFile: (path) => now().readFile(path),
	};
	return {
		host,
		set: (settings: object | undefined) => {
			profile = settings;
		},
	};
}

test("a Mac enrolls when its profile comes after the package, and the key is deleted", async () => {
	const service = await startScriptedService();
	const { configFile, keyFile, folder } = await prepare(service.url);
	await rm(configFile);
	const mac = makeMac();
	const agent = start(folder, { configFile, host: mac.host, idleMs: 5 });
	await eventually(() => agent.logged().includes("until a profile"));
	mac.set({ SERVER: service.url, KEYFILE: keyFile, OWNEREMAIL: "", Other: 1 });
	await service.until((seen) => count(seen, "heartbeat") > 0);
	expect(service.seen[0]).toMatchObject({
		route: "enroll",
		body: { token: "asy_enk_secret" },
	});
	await eventually(() => !existsSync(keyFile));
});

test("what a profile sets replaces the same setting of the config file, and the others stay", async () => {
	const service = await startScriptedService();
	const { configFile, folder } = await prepare(service.url);
	const mac = makeMac();
	mac.set({ OWNEREMAIL: "grace@example.com" });
	start(folder, { configFile, host: mac.host });
	await service.until((seen) => count(seen, "enroll") > 0);
	expect(service.seen[0]?.body).toEqual({
		token: "asy_enk_secret",
		owner_email: "grace@example.com",
	});
});

test.each([
	[{ SERVER: "https://a.example" }, "profile for assay-agent has no value for"],
	[{ SERVER: 1, KEYFILE: "/k" }, "SERVER in the profile for assay-agent must"],
	[undefined, "plutil cannot read /Library/Managed Preferences/assay-agent"],
])("a profile %j is not used, and the log says why", async (profile, reason) => {
	const { configFile, folder } = await prepare("https://a.example");
	await rm(configFile);
	const mac = makeMac();
	mac.set(profile ?? {});
	const host: Host = profile
		? mac.host
		: { ...mac.host, run: recordedHost({ platform: "DARWIN" }).run };
	const agent = start(folder, { configFile, host, idleMs: 5 });
	await eventually(() => agent.logged().includes(reason));
});

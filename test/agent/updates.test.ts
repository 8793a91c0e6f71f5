import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../../agent/folder.ts";
import { readStateOf, writeState } from "../../agent/state.ts";
import { readStatus } from "../../agent/status.ts";
import { fetchInChild, fetchNewest } from "../../agent/updates/fetch-newest.ts";
import { signManifest } from "../../agent/updates/manifest.ts";
import { type TrialTimes, tryProgram } from "../../agent/updates/trial.ts";
import {
	dueMs,
	notesAbout,
	pinUpdateKey,
	readNotes,
	writeNotes,
} from "../../agent/updates/update-notes.ts";
import { runWithUpdates } from "../../agent/updates/updates.ts";
import { VERSION } from "../../src/version.ts";
import { runAgent } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
import { PROGRAM } from "../support/program.ts";
import { makeEnrolledFolder, makeParts } from "./folders.ts";
import { count, eventually, start } from "./running-agent.ts";
import { respond, startScriptedService } from "./scripted-service.ts";
import {
	DAY_MS,
	keys,
	makeArchive,
	manifestOf,
	NEW,
	offer,
	other,
	PROGRAMS,
} from "./update-offers.ts";

const TIMES: TrialTimes = {
	trialMs: 20,
	silentMs: 600_000,
	restartMs: 1,
	lookMs: 5,
};

const archives = {} as Record<keyof typeof PROGRAMS, Buffer>;
beforeAll(async () => {
	for (const [name, script] of Object.entries(PROGRAMS)) {
		archives[name as keyof typeof PROGRAMS] = await makeArchive(script);
	}
});

/** Starts an agent whose turn to update has come. */
async function startUpdating(
	url: string,
	options: { times?: Partial<TrialTimes>; seenAt?: Date; named?: string } = {},
) {
	const { folder } = await makeEnrolledFolder(url);
	await pinUpdateKey(folder, keys.publicKey);
	const seenAt = options.seenAt ?? new Date(Date.now() - 2 * DAY_MS);
	await writeNotes(folder, {
		version: options.named ?? NEW,
		seen_at: seenAt.toISOString(),
		tries: 0,
		tried_at: null,
		failed: null,
		trouble: null,
	});
	const program = join(await makeFolder("assay-program-"), "assay-agent");
	await writeFile(program, "the old program");
	const parts = makeParts();
	const ended = runWithUpdates({
		folder,
		startDelayMs: 0,
		...parts,
		own: { program, args: [] },
		args: ["run", "--dir", folder],
		fetch: (wanted) => fetchNewest(folder, wanted, parts.host),
		version: "0.1.0",
		times: { ...TIMES, ...options.times },
	});
	onTestFinished(async () => {
		parts.stop();
		await ended;
	});
	return { ...parts, folder, ended, read: () => readFile(program, "utf8") };
}

test("an agent fetches a signed program, tries it, and lets it take its place", async () => {
	const { url } = await offer(archives.passes);
	const agent = await startUpdating(url);
	await agent.ended;
	expect(await agent.read()).toContain(PROGRAMS.passes);
	expect(agent.logged()).toContain(`updated to version ${NEW}`);
});

test.each([
	["0.3.0", "earlier"],
	["0.1.5", "later"],
])("if the service names version %s, an agent uses a manifest for an %s one", async (named) => {
	const { url } = await offer(archives.passes, undefined, named);
	const agent = await startUpdating(url, { named });
	await agent.ended;
	expect(await agent.read()).toContain(PROGRAMS.passes);
	expect(agent.logged()).toContain(`updated to version ${NEW}`);
});

test("an agent does not try a version of a manifest again that failed, whichever the service names", async () => {
	const named = "0.3.0";
	const { url } = await offer(archives.crashes, undefined, named);
	const agent = await startUpdating(url, { named });
	const untilProblem = (text: string) =>
		eventually(async () => {
			const { updates } = await readStatus(agent.folder, async () => "");
			return updates?.problem?.includes(text) ?? false;
		});
	await untilProblem(`version ${NEW} failed: it crashed three times`);
	const notes = await readNotes(agent.folder);
	expect(notes).toMatchObject({
		version: named,
		failed: null,
		failed_before: { [NEW]: "it crashed three times" },
	});
	// The agent looks at the manifest again when its turn comes again.
	const triedAt = new Date(Date.now() - 2 * DAY_MS).toISOString();
	if (notes) await writeNotes(agent.folder, { ...notes, tried_at: triedAt });
	await untilProblem(`version ${NEW}, which failed on this device`);
	expect(agent.logged().match(/trying version/g)).toHaveLength(1);
	expect(await agent.read()).toBe("the old program");
});

test.each([
	["crashes", {}, "it crashed three times"],
	["passes and crashes", { trialMs: 600_000 }, "it crashed three times"],
	["gets no answer", { silentMs: 20 }, "the old program did"],
	["is another version", { silentMs: 20 }, "the old program did"],
] as const)("if the new program %s, the old one goes on and does not try it again", async (name, times, reason) => {
	const service = await offer(archives[name]);
	const agent = await startUpdating(service.url, { times });
	await eventually(async () => {
		const failed = (await readNotes(agent.folder))?.failed;
		return failed?.includes(reason) ?? false;
	});
	const beats = count(service.seen, "heartbeat");
	await service.until((seen) => count(seen, "heartbeat") > beats + 1);
	expect(await agent.read()).toBe("the old program");
	expect(agent.logged().match(/trying version/g)).toHaveLength(1);
	const { updates } = await readStatus(agent.folder, async () => "running");
	expect(updates?.newest_version).toBe(NEW);
	expect(updates?.problem).toContain(reason);
});

test("an agent remembers each version that failed, and says what went wrong with the one that is named", async () => {
	const service = await offer(archives.crashes);
	const agent = await startUpdating(service.url);
	const problem = async (version?: string) => {
		const status = await readStatus(agent.folder, async () => "", version);
		return status.updates?.problem ?? null;
	};
	await eventually(async () => (await problem()) !== null);
	agent.stop();
	await agent.ended;
	// Somebody installs the version by hand.
	expect(await problem(NEW)).toBeNull();
	const failed = await readNotes(agent.folder);
	const later = notesAbout("0.3.0", failed);
	expect(later).toMatchObject({
		version: "0.3.0",
		failed: null,
		trouble: null,
	});
	await writeNotes(agent.folder, later);
	expect(await problem()).toBeNull();
	const again = notesAbout(NEW, await readNotes(agent.folder));
	expect(again.failed).toBe("it crashed three times");
	await writeNotes(agent.folder, again);
	expect(await problem()).toContain(NEW);
});

test("an error about one version does not delay the next version", async () => {
	const service = await startScriptedService({ heartbeat: 1 });
	let named = NEW;
	service.answer(({ route }, response) => {
		if (route !== "heartbeat") return true;
		respond(response, 200, {
			device_id: service.deviceId,
			heartbeat_interval_seconds: 1,
			posture_interval_seconds: 3600,
			server_time: new Date().toISOString(),
			newest_agent_version: named,
		});
		return false;
	});
	const agent = await startUpdating(service.url);
	await eventually(async () => {
		const notes = await readNotes(agent.folder);
		return typeof notes?.trouble === "string";
	});
	named = "0.3.0";
	await eventually(async () => {
		const notes = await readNotes(agent.folder);
		return notes?.version === named;
	});
});

test("if neither program gets an answer, the trial goes on", async () => {
	const folder = await makeFolder("assay-trial-");
	const program = join(folder, "program");
	// The program passes when it is started for the third time.
	const script = `echo >>"$1.starts"; [ "$(wc -l <"$1.starts")" -lt 3 ] || printf ${NEW} >"$1"; exec sleep 600`;
	await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
	const passedFile = join(folder, "passed");
	let asked = 0;
	const verdict = await tryProgram({
		program,
		args: [passedFile],
		version: NEW,
		passedFile,
		askAgain: async () => {
			asked++;
			return false;
		},
		...makeParts(),
		times: { ...TIMES, silentMs: 200 },
	});
	expect(verdict).toEqual({ kind: "passed" });
	expect(asked).toBeGreaterThanOrEqual(2);
});

test("a device waits for its turn within the day after it heard of the version", async () => {
	const notes = {
		version: NEW,
		seen_at: "2026-11-25T12:00:00.000Z",
		tries: 0,
		tried_at: null,
		failed: null,
		trouble: null,
	};
	const seenMs = Date.parse(notes.seen_at);
	const hours = Array.from({ length: 480 }, (_, device) =>
		Math.floor((dueMs(notes, `device ${device}`) - seenMs) / 3_600_000),
	);
	expect(Math.min(...hours)).toBe(0);
	expect(Math.max(...hours)).toBe(23);
	// 20 devices belong to each hour on average.
	for (let hour = 0; hour < 24; hour++) {
		const of = hours.filter((each) => each === hour).length;
		expect(of).toBeGreaterThan(5);
		expect(of).toBeLessThan(40);
	}
	const tried = { ...notes, tries: 1, tried_at: "2026-11-27T12:00:00.000Z" };
	expect(new Date(dueMs(tried, "device 1")).toISOString()).toBe(
		"2026-11-27T14:00:00.000Z",
	);

	const service = await offer(archives.passes);
	const agent = await startUpdating(service.url, { seenAt: new Date() });
	await service.until((seen) => count(seen, "heartbeat") > 2);
	expect(
		service.seen.filter(({ route }) => route.startsWith("/agent-packages/")),
	).toEqual([]);
	expect(await agent.read()).toBe("the old program");
});

test("a separate process fetches the program, and says what went wrong", async () => {
	const archive = archives.passes;
	const own = { program: process.execPath, args: [PROGRAM, "agent"] };
	const fetchFrom = async (url: string) => {
		const { folder } = await makeEnrolledFolder(url);
		await pinUpdateKey(folder, keys.publicKey);
		const to = join(folder, "assay-agent.new");
		const { signal } = new AbortController();
		const wanted = { newest: NEW, to, signal };
		expect(await fetchInChild(own, folder, wanted)).toBe(NEW);
		return readFile(to, "utf8");
	};
	const good = await offer(archive);
	expect(await fetchFrom(good.url)).toContain(PROGRAMS.passes);
	const manifest = signManifest(manifestOf(archive), other.privateKey);
	const bad = await offer(archive, manifest);
	await expect(fetchFrom(bad.url)).rejects.toThrow("not signed with the key");
});

test("a separate process that is killed leaves no files", async () => {
	const folder = await makeFolder("assay-killed-");
	// The arguments are the command, the version, the file for the program, --dir and the folder.
	const script = 'touch "$3" "$5/update.tar.gz" && kill -9 $$';
	const own = { program: "/bin/sh", args: ["-c", script, "agent"] };
	const to = join(folder, "assay-agent.new");
	const { signal } = new AbortController();
	await expect(
		fetchInChild(own, folder, { newest: NEW, to, signal }),
	).rejects.toThrow("the program could not be fetched");
	expect(await readdir(folder)).toEqual([]);
});

test("an agent without a pinned key never fetches a program", async () => {
	const service = await offer(archives.passes);
	const agent = await startUpdating(service.url);
	agent.stop();
	await agent.ended;
	const { folder } = await makeEnrolledFolder(service.url);
	const parts = makeParts();
	const before = service.seen.length;
	const ended = runWithUpdates({
		folder,
		startDelayMs: 0,
		...parts,
		own: { program: join(folder, "none"), args: [] },
		args: [],
		fetch: (wanted) => fetchNewest(folder, wanted, parts.host),
		version: "0.1.0",
	});
	await service.until((seen) => count(seen.slice(before), "heartbeat") > 2);
	parts.stop();
	await ended;
	const routes = service.seen.slice(before).map(({ route }) => route);
	expect(routes).not.toContain("/agent-packages/agent-update.json");
});

test("a program that does not come from the tar.gz cannot be told to update itself", async () => {
	const folder = await makeFolder("assay-install-");
	const file = join(folder, "key.pem");
	await writeFile(file, keys.publicKey);
	const { code, stderr } = await runAgent(
		["install", "--server", "https://assay.example", "--update-key", file],
		{},
		"token",
	);
	expect(code).toBe(1);
	expect(stderr).toContain("tar.gz");
});

test("removing the agent removes the pinned key and the notes", async () => {
	const { folder } = await makeEnrolledFolder("https://assay.example");
	await pinUpdateKey(folder, keys.publicKey);
	expect(await removeFolder(folder)).toEqual([]);
	await expect(readFile(join(folder, "update-key.pem"))).rejects.toThrow();
});

test("a program on trial says at once that the service has accepted its heartbeat", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	const state = await readStateOf(folder, credentials.enrollment_id);
	// Otherwise the next heartbeat would be due in five minutes.
	const now = new Date().toISOString();
	await writeState(folder, {
		...state,
		last_heartbeat_at: now,
		last_checks_at: now,
	});
	const trialFile = join(folder, "update-passed");
	let accept = () => {};
	service.answer(({ route }, response) => {
		if (route !== "heartbeat") return true;
		accept = () =>
			respond(response, 200, {
				device_id: service.deviceId,
				heartbeat_interval_seconds: 300,
				posture_interval_seconds: 3600,
				server_time: now,
			});
		return false;
	});
	start(folder, { trialFile, startDelayMs: 600_000 });
	await service.until((seen) => count(seen, "heartbeat") > 0);
	await expect(readFile(trialFile)).rejects.toThrow("ENOENT");
	accept();
	await eventually(async () => {
		const text = await readFile(trialFile, "utf8").catch(() => "");
		return text === VERSION;
	});
});

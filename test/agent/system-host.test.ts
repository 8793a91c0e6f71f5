import { execFileSync, spawn } from "node:child_process";
import {
	chmodSync,
	chownSync,
	mkdirSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
	type CommandResult,
	type Host,
	MAX_FILE_BYTES,
	MAX_OUTPUT_BYTES,
} from "../../agent/host.ts";
import { isPrivileged, makeSystemHost } from "../../agent/system-host.ts";
import { isRunning } from "../support/child.ts";
import { makeAgentFolder } from "./folders.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/assay.js");
const OWN = { program: process.execPath, args: [PROGRAM, "agent"] };

function makeHost() {
	const stop = new AbortController();
	onTestFinished(() => stop.abort());
	return { host: makeSystemHost("LINUX", OWN, stop.signal), stop };
}

/**
 * Runs a command that is stopped after a while, with more and more time until `isEnough`. A busy
 * machine may need seconds to start it.
 */
async function runUntil(
	isEnough: (result: CommandResult) => boolean,
	host: Host,
	command: string,
) {
	for (let timeoutMs = 300; ; timeoutMs *= 3) {
		const result = await host.run("sh", ["-c", command], { timeoutMs });
		if (isEnough(result) || timeoutMs > 30_000) return result;
	}
}

test("a program's exit code, output and error output are returned separately", async () => {
	const { host } = makeHost();
	expect(
		await host.run("sh", ["-c", "echo out; echo err >&2; exit 3"]),
	).toEqual({
		ended: "exited",
		exitCode: 3,
		stdout: "out\n",
		stderr: "err\n",
	});
});

test("a program that does not exist is reported as missing", async () => {
	const { host } = makeHost();
	expect((await host.run("no-such-program")).ended).toBe("missing");
	expect((await host.run("/nowhere/no-such-program")).ended).toBe("missing");
});

test("a program is never found through PATH", async () => {
	const folder = await makeAgentFolder();
	const program = join(folder, "assay-test-program");
	writeFileSync(program, "#!/bin/sh\necho found\n", { mode: 0o755 });
	const before = process.env.PATH;
	process.env.PATH = `${folder}:${before}`;
	onTestFinished(() => {
		process.env.PATH = before;
	});
	const { host } = makeHost();
	expect((await host.run("assay-test-program")).ended).toBe("missing");
});

test.runIf(isPrivileged())(
	"root does not run a program that another user may have placed",
	async () => {
		const folder = await makeAgentFolder();
		const program = join(folder, "program");
		writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
		const { host } = makeHost();
		expect((await host.run(program)).ended).toBe("exited");
		chmodSync(program, 0o777);
		expect((await host.run(program)).ended).toBe("denied");
		chmodSync(program, 0o755);
		chmodSync(folder, 0o777);
		expect((await host.run(program)).ended).toBe("denied");
	},
);

test("a program gets a fixed locale and none of the agent's environment", async () => {
	process.env.ASSAY_ENROLLMENT_TOKEN = "asy_enr_x";
	onTestFinished(() => {
		delete process.env.ASSAY_ENROLLMENT_TOKEN;
	});
	const { host } = makeHost();
	const { stdout } = await host.run("env");
	const names = stdout.split("\n").map((line) => line.split("=")[0]);
	expect(stdout).toContain("LC_ALL=C\n");
	expect(names).not.toContain("ASSAY_ENROLLMENT_TOKEN");
	expect(names).toContain("HOME");
});

test("a program that does not end is killed, and so are its children", async () => {
	const { host } = makeHost();
	const result = await runUntil(
		({ stdout }) => stdout !== "",
		host,
		"sleep 600 & echo $!; sleep 600",
	);
	expect(result).toMatchObject({ ended: "timed_out", exitCode: -1 });
	const pid = Number(result.stdout);
	expect(pid).toBeGreaterThan(0);
	// The kernel needs a moment to remove a killed process.
	while (isRunning(pid))
		await new Promise((resolve) => setTimeout(resolve, 10));
});

test("a program has ended even if it leaves another one behind", async () => {
	const { host } = makeHost();
	const result = await runUntil(
		({ ended }) => ended === "exited",
		host,
		"sleep 600 & echo done",
	);
	expect(result).toEqual({
		ended: "exited",
		exitCode: 0,
		stdout: "done\n",
		stderr: "",
	});
});

test("a program that was killed has no exit code", async () => {
	const { host } = makeHost();
	const result = await host.run("sh", ["-c", "kill -9 $$"]);
	expect(result).toMatchObject({ ended: "timed_out", exitCode: -1 });
});

test("a program does not wait for standard input", async () => {
	const { host } = makeHost();
	expect(await host.run("cat")).toMatchObject({ ended: "exited", stdout: "" });
});

test("output that never ends is cut off and does not fill the memory", async () => {
	const { host } = makeHost();
	const { stdout, ended } = await runUntil(
		({ stdout }) => stdout.length >= MAX_OUTPUT_BYTES,
		host,
		"yes",
	);
	expect(ended).toBe("timed_out");
	expect(stdout).toHaveLength(MAX_OUTPUT_BYTES);
});

test("a stop kills the running program, and no other is started after it", async () => {
	const { host, stop } = makeHost();
	const running = host.run("sleep", ["600"], { timeoutMs: 600_000 });
	stop.abort();
	expect((await running).ended).toBe("timed_out");
	expect((await host.run("true")).ended).toBe("timed_out");
});

test("a file is read completely, and an unreadable one gives the reason", async () => {
	const folder = await makeAgentFolder();
	const path = (name: string) => join(folder, name);
	writeFileSync(path("text"), "text\n");
	writeFileSync(path("exact"), "x".repeat(MAX_FILE_BYTES));
	writeFileSync(path("large"), "x".repeat(MAX_FILE_BYTES + 1));
	execFileSync("mkfifo", [path("pipe")]);
	const { host } = makeHost();
	expect(await host.readFile(path("text"))).toEqual({
		kind: "text",
		text: "text\n",
	});
	expect((await host.readFile(path("exact"))).kind).toBe("text");
	expect((await host.readFile(path("large"))).kind).toBe("unreadable");
	expect((await host.readFile(path("missing"))).kind).toBe("missing");
	expect((await host.readFile(path("text/below"))).kind).toBe("missing");
	expect((await host.readFile(folder)).kind).toBe("unreadable");
	expect((await host.readFile(path("pipe"))).kind).toBe("unreadable");
	expect((await host.readFile("/dev/zero")).kind).toBe("unreadable");
});

test.runIf(process.platform === "linux")(
	"files in /proc are read although they report a size of 0",
	async () => {
		const { host } = makeHost();
		const mounts = await host.readFile("/proc/self/mounts");
		expect(mounts).toMatchObject({ text: expect.stringContaining("/proc") });
	},
);

test("a folder's names are sorted, and a missing folder is reported as missing", async () => {
	const folder = await makeAgentFolder();
	mkdirSync(join(folder, "d"));
	for (const name of ["b", "a", "c"])
		writeFileSync(join(folder, "d", name), "");
	const { host } = makeHost();
	expect(await host.listFolder(join(folder, "d"))).toEqual({
		kind: "names",
		names: ["a", "b", "c"],
	});
	expect((await host.listFolder(join(folder, "no"))).kind).toBe("missing");
	expect((await host.listFolder(join(folder, "d/a"))).kind).toBe("missing");
});

const ALICE = { uid: 54_321, gid: 54_321 };

/** Creates a folder that every user may enter, with one file of Alice and one of root. */
async function makeHome() {
	const home = await makeAgentFolder();
	chmodSync(home, 0o755);
	const own = join(home, "own");
	writeFileSync(own, "timeout 300 swaylock\n", { mode: 0o600 });
	chownSync(own, ALICE.uid, ALICE.gid);
	const secret = join(home, "secret");
	writeFileSync(secret, "S3CRET\n", { mode: 0o600 });
	return { home, own, secret };
}

test.runIf(isPrivileged())(
	"root reads a file as a user with only that user's rights",
	async () => {
		const { host } = makeHost();
		const { home, own, secret } = await makeHome();
		expect(await host.readFileAs(ALICE, own)).toEqual({
			kind: "text",
			text: "timeout 300 swaylock\n",
		});
		symlinkSync(own, join(home, "link"));
		expect(await host.readFileAs(ALICE, join(home, "link"))).toMatchObject({
			kind: "text",
		});
		expect(await host.readFileAs(ALICE, secret)).toEqual({ kind: "denied" });
		const missing = await host.readFileAs(ALICE, join(home, "none"));
		expect(missing).toEqual({ kind: "missing" });
		expect(await host.readFileAs({ uid: 0, gid: 0 }, own)).toEqual({
			kind: "unreadable",
		});
	},
);

test.runIf(isPrivileged())(
	"a pipe that a user names through /proc/self/root is never opened",
	async () => {
		const { host } = makeHost();
		const { home } = await makeHome();
		const pipe = join(home, "pipe");
		execFileSync("mkfifo", ["-m", "666", pipe]);
		// Writing blocks until another process opens the pipe for reading.
		const writer = spawn("sh", [
			"-c",
			'echo "timeout 60 swaylock" > "$0"',
			pipe,
		]);
		onTestFinished(() => {
			writer.kill("SIGKILL");
		});
		for (const path of [pipe, `/proc/self/root${pipe}`]) {
			expect(await host.readFileAs(ALICE, path)).toEqual({
				kind: "unreadable",
			});
			expect(await host.readFile(path)).toEqual({ kind: "unreadable" });
		}
		expect(writer.exitCode).toBe(null);
	},
);

test.runIf(isPrivileged())(
	"a device file, and a file that is too large, are not read as a user",
	async () => {
		const { host } = makeHost();
		const { home } = await makeHome();
		const large = join(home, "large");
		writeFileSync(large, "x".repeat(200_000), { mode: 0o644 });
		for (const path of [large, "/dev/zero", "/proc/self/root/dev/zero", home]) {
			expect(await host.readFileAs(ALICE, path)).toEqual({
				kind: "unreadable",
			});
		}
	},
);

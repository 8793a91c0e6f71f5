import { execFileSync, spawnSync } from "node:child_process";
import {
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { VERSION } from "../../src/version.ts";

let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "assay-build-test-"));
	execFileSync(process.execPath, [
		join(import.meta.dirname, "../../agent/build.ts"),
		"--out",
		folder,
	]);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program far from the sources and with an empty PATH. */
const runAlone = (program: string, args: string[], env = {}) =>
	spawnSync(program, args, {
		cwd: folder,
		encoding: "utf8",
		env: { PATH: folder, HOME: folder, ...env },
	});

describe.each([
	["the single executable", () => [join(folder, "assay-agent")]],
	[
		"the single file for Node",
		() => [process.execPath, join(folder, "assay-agent.cjs")],
	],
])("%s", (_, command) => {
	const run = (args: string[], env = {}) => {
		const [program = "", ...first] = command();
		return runAlone(program, [...first, ...args], env);
	};

	test("prints its version without package.json", () => {
		expect(run(["--version"]).stdout).toBe(`${VERSION}\n`);
	});

	test("runs every check, and loads each command when it is needed", () => {
		const { stdout, stderr } = run(["checks", "--json"]);
		expect(stderr).toBe("");
		const { results } = JSON.parse(stdout);
		expect(results).toHaveLength(CHECK_KEYS.length);
		for (const { evidence } of results) {
			expect(evidence.reason).not.toBe("check_crashed");
		}
	});

	test("says what was wrong with a command", () => {
		const { status, stderr } = run(["install"]);
		expect(status).toBe(2);
		expect(stderr).toContain("--server");
	});
});

test("the executable ignores options for Node in the environment", () => {
	const { stdout } = runAlone(join(folder, "assay-agent"), ["--version"], {
		NODE_OPTIONS: "--require=/nowhere/evil.cjs",
	});
	expect(stdout).toBe(`${VERSION}\n`);
});

test("the distributed file carries the licenses of the packages in it", () => {
	const bundle = readFileSync(join(folder, "assay-agent.cjs"), "utf8");
	expect(bundle).toMatch(/^#!.*\n\/\*! .*\n\(The MIT License\)/);
	const licenses = readFileSync(join(folder, "LICENSES.txt"), "utf8");
	expect(licenses).toContain("Node.js");
});

test("the single file says which Node it needs if an earlier one runs it", () => {
	const old = join(folder, "old.cjs");
	writeFileSync(
		old,
		'Object.defineProperty(process.versions, "node", { value: "20.1.0" });',
	);
	const bundle = join(folder, "assay-agent.cjs");
	const ended = runAlone(process.execPath, ["--require", old, bundle]);
	expect(ended.status).toBe(1);
	expect(ended.stderr).toBe(
		"The Assay agent needs Node 24 or later. This is Node 20.1.0.\n",
	);
});

test("the single file contains the agent and not the server", () => {
	const bundle = readFileSync(join(folder, "assay-agent.cjs"), "utf8");
	expect(bundle).not.toMatch(/from "(?!node:)/);
	expect(statSync(join(folder, "assay-agent.cjs")).size).toBeLessThan(
		1024 * 1024,
	);
});

test("the single file loads Node's modules only when they are needed, and V8 stores each character in one byte", () => {
	const hook = join(folder, "list.cjs");
	writeFileSync(
		hook,
		'process.on("exit", () => console.log(process.moduleLoadList.join("\\n")));',
	);
	const bundle = join(folder, "assay-agent.cjs");
	const args = ["--require", hook, bundle, "--version"];
	const loaded = runAlone(process.execPath, args).stdout.split("\n");
	expect(loaded).toContain("NativeModule child_process");
	for (const name of ["http", "https", "zlib", "readline"]) {
		expect(loaded).not.toContain(`NativeModule ${name}`);
	}
	expect(readFileSync(bundle).every((byte) => byte < 128)).toBe(true);
});

import { execFile } from "node:child_process";
import { lchown, lstat, readFile, symlink, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	publicFolder,
	readLastResult,
	storeLastResult,
} from "../../agent/last-result.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { runAgent } from "../support/command.ts";
import { startAgents, type TestAgents } from "./agents.ts";
import { makeAgentFolder } from "./folders.ts";

let agents: TestAgents;
beforeAll(async () => {
	agents = await startAgents();
});
afterAll(() => agents.assay.close());

const NOBODY = 65_534;

/** Runs `status` as a user without rights, who may be unable to read the program's files. */
const AS_NOBODY = `
import { runAgentCommand } from "./agent/command.ts";
import "./agent/last-result.ts";
import "./agent/status.ts";
import "./agent/enrollment-token.ts";
process.setgroups([]);
process.setgid(${NOBODY});
process.setuid(${NOBODY});
await runAgentCommand(["status", "--json", "--dir", process.argv[1]]);
`;

const results = [
	{
		check_key: "PASSWORD_POLICY",
		status: "FAIL" as const,
		evidence: { engine: "pam_unix", minimum_length: 6 },
		observed_at: "2026-11-22T12:00:00Z",
	},
];

test("everybody may read the last results, and they contain no evidence", async () => {
	const folder = await makeAgentFolder();
	await storeLastResult(folder, results, "LINUX");
	const open = publicFolder(folder);
	expect((await lstat(open)).mode & 0o777).toBe(0o755);
	expect((await lstat(`${open}/last-result.json`)).mode & 0o777).toBe(0o644);
	expect((await lstat(folder)).mode & 0o777).toBe(0o700);
	const text = await readFile(`${open}/last-result.json`, "utf8");
	expect(text).not.toContain("pam_unix");
	expect(JSON.parse(text)).toEqual({
		checked_at: expect.any(String),
		results: [
			{
				check_key: "PASSWORD_POLICY",
				status: "FAIL",
				reason: "the minimum length is 6; at least 8 is required",
				remediation: expect.stringContaining("pwquality"),
			},
		],
	});
});

test.runIf(process.geteuid?.() === 0)(
	"the results are not written through a link that another user made",
	async () => {
		const folder = await makeAgentFolder();
		const elsewhere = await makeAgentFolder();
		await symlink(elsewhere, publicFolder(folder));
		await lchown(publicFolder(folder), NOBODY, NOBODY);
		await expect(storeLastResult(folder, results, "LINUX")).rejects.toThrow(
			"belongs to another user",
		);
		expect(await readLastResult(folder)).toBeUndefined();
	},
);

test("a damaged file of results counts as none", async () => {
	const folder = await makeAgentFolder();
	await storeLastResult(folder, results, "LINUX");
	await writeFile(
		`${publicFolder(folder)}/last-result.json`,
		'{"checked_at":"2026-11-22","results":[{"check_key":7}]}',
	);
	expect(await readLastResult(folder)).toBeUndefined();
});

test.runIf(process.geteuid?.() === 0)(
	"a user without rights sees the last results with `status`, and uninstalling removes them",
	async () => {
		const device = await agents.enroll();
		const { folder } = device;
		expect((await runAgent(["once", "--dir", folder])).code).toBe(0);
		const { stdout } = await promisify(execFile)(process.execPath, [
			"--input-type=module-typescript",
			"--eval",
			AS_NOBODY,
			folder,
		]);
		const shown = JSON.parse(stdout);
		expect(shown).not.toHaveProperty("device_id");
		expect(shown.last_result.results).toHaveLength(CHECK_KEYS.length);
		const text = await runAgent(["status", "--dir", folder]);
		expect(text.stdout).toMatch(/^STATUS +CHECK\n/m);

		await runAgent(["uninstall", "--dir", folder]);
		await expect(lstat(publicFolder(folder))).rejects.toThrow("ENOENT");
	},
);

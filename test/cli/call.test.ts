import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import { runCommand } from "../support/command.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

const call = (args: string[], settings = {}, input = "") =>
	runCommand(
		["call", ...args],
		{
			ASSAY_BASE_URL: tools.url,
			ASSAY_TOKEN: tools.member.token,
			...settings,
		},
		input,
	);

test("`call` prints a tool's output as JSON", async () => {
	const input = JSON.stringify({ organization_id: tools.organizationId });
	const { code, stdout, stderr } = await call(["listRisks", input]);
	expect(stderr).toBe("");
	expect(code).toBe(0);
	expect(JSON.parse(stdout)).toEqual({
		risks: [],
		next_cursor: null,
		total: 0,
		total_is_exact: true,
	});
});

test("`call` reads its input from standard input, and its address and token from options", async () => {
	const input = JSON.stringify({
		organization_id: tools.organizationId,
		name: "Backups",
		category: "Operations",
	});
	const { code, stdout } = await call(
		[
			"addMeasure",
			"-",
			"--json",
			"--url",
			tools.url,
			"--token",
			tools.admin.token,
		],
		{ ASSAY_BASE_URL: "http://localhost:1", ASSAY_TOKEN: "" },
		input,
	);
	expect(code).toBe(0);
	expect(stdout.trimEnd()).not.toContain("\n");
	expect(JSON.parse(stdout).measure.name).toBe("Backups");
});

test("`call` prints why the service rejected the call, and exits with 1", async () => {
	const cases: [string[], Record<string, string>, RegExp][] = [
		[["addRisk", "{}"], {}, /category: is required/],
		[["listRisks", "{"], {}, /must be valid JSON/],
		[["launchRocket"], {}, /no tool "launchRocket"/],
		[["deleteRisk"], {}, /permission denied/],
		[["listRisks"], { ASSAY_TOKEN: "" }, /ASSAY_TOKEN/],
		[["listRisks"], { ASSAY_TOKEN: makeSecret("pat") }, /invalid/],
		[["listRisks", "{}", "--token", "asy_pat_\nx"], {}, /line break/],
		[["listRisks"], { ASSAY_TOKEN: "“asy_pat_x”" }, /no token has/],
		[
			["listRisks"],
			{ ASSAY_BASE_URL: "http://localhost:1" },
			/no service answers/,
		],
	];
	for (const [args, settings, says] of cases) {
		const { code, stdout, stderr } = await call(args, settings);
		expect(stderr).toMatch(says);
		expect(code, args.join(" ")).toBe(1);
		expect(stdout).toBe("");
	}
});

test("wrong usage of `call` ends with 2", async () => {
	for (const args of [[], ["../x"], ["listRisks", "{}", "--url", "ftp://x"]]) {
		expect((await call(args)).code, args.join(" ")).toBe(2);
	}
});

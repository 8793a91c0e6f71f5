import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFolder } from "../support/folder.ts";
import { startHeaderProxy } from "../support/header-proxy.ts";
import { startTools, type TestTools } from "../support/tools.ts";

/**
 * This file runs the server scenarios of the official conformance suite against the real server, in
 * both groups of protocol revisions. Most scenarios call tools, prompts and resources that only the
 * suite's example server has, so a list leaves them out by name. All other scenarios must pass. In
 * every scenario, even those left out, what the server sends must be valid by the protocol's
 * schema.
 */

const SUITE = join(
	import.meta.dirname,
	"../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

const FIXTURE_TOOL = "calls a tool of the suite's example server";
const FIXTURE_RESOURCE = "reads a resource of the suite's example server";
const NO_SUBSCRIPTIONS = "Assay does not report changes of a record";
const FIXTURE_PROMPT = "gets a prompt of the suite's example server";
const NO_ASKING =
	"its tool asks the client back (elicitation, sampling, roots)";
const NO_LOGGING = "Assay sends no log messages to clients";
const NO_TASKS = "Assay offers no tasks, an extension";
const NO_HEADERS = "no argument of a tool travels in a header of its own";

/**
 * The scenarios, or the checks of a scenario, that a server of this kind cannot pass, with the
 * reason.
 */
const LEFT_OUT: Record<string, string> = {
	"tools-call-simple-text": FIXTURE_TOOL,
	"tools-call-image": FIXTURE_TOOL,
	"tools-call-audio": FIXTURE_TOOL,
	"tools-call-embedded-resource": FIXTURE_TOOL,
	"tools-call-mixed-content": FIXTURE_TOOL,
	"tools-call-error": FIXTURE_TOOL,
	"tools-call-with-progress": FIXTURE_TOOL,
	"json-schema-2020-12": FIXTURE_TOOL,
	"logging-set-level": NO_LOGGING,
	"tools-call-with-logging": NO_LOGGING,
	"tools-call-sampling": NO_ASKING,
	"tools-call-elicitation": NO_ASKING,
	"elicitation-sep1034-defaults": NO_ASKING,
	"elicitation-sep1330-enums": NO_ASKING,
	"input-required-result-basic-elicitation": NO_ASKING,
	"input-required-result-basic-sampling": NO_ASKING,
	"input-required-result-basic-list-roots": NO_ASKING,
	"input-required-result-request-state": NO_ASKING,
	"input-required-result-multiple-input-requests": NO_ASKING,
	"input-required-result-multi-round": NO_ASKING,
	"input-required-result-result-type": NO_ASKING,
	"input-required-result-tampered-state": NO_ASKING,
	"input-required-result-capability-check": NO_ASKING,
	"input-required-result-non-tool-request": FIXTURE_PROMPT,
	"prompts-get-simple": FIXTURE_PROMPT,
	"prompts-get-with-args": FIXTURE_PROMPT,
	"prompts-get-embedded-resource": FIXTURE_PROMPT,
	"prompts-get-with-image": FIXTURE_PROMPT,
	"resources-read-text": FIXTURE_RESOURCE,
	"resources-read-binary": FIXTURE_RESOURCE,
	"resources-templates-read": FIXTURE_RESOURCE,
	"resources-subscribe": NO_SUBSCRIPTIONS,
	"resources-unsubscribe": NO_SUBSCRIPTIONS,
	"server-stateless/sep-2575-server-rejects-undeclared-capability":
		FIXTURE_TOOL,
	"server-stateless/sep-2575-missing-capability-http-400": FIXTURE_TOOL,
	"server-stateless/sep-2575-http-server-no-independent-requests-on-stream":
		FIXTURE_TOOL,
	"server-stateless/sep-2575-server-no-log-without-loglevel": FIXTURE_TOOL,
	"http-custom-header-server-validation": NO_HEADERS,
	"tasks-lifecycle": NO_TASKS,
	"tasks-capability-negotiation": NO_TASKS,
	"tasks-wire-fields": NO_TASKS,
	"tasks-request-state-removal": NO_TASKS,
	"tasks-mrtr-input": NO_TASKS,
	"tasks-request-headers": NO_TASKS,
	"tasks-dispatch-and-envelope": NO_TASKS,
	"tasks-required-task-error": NO_TASKS,
	"tasks-mrtr-composition": NO_TASKS,
};

interface Check {
	id: string;
	status: string;
	errorMessage?: string;
}

let tools: TestTools;
let proxy: Awaited<ReturnType<typeof startHeaderProxy>>;
beforeAll(async () => {
	tools = await startTools();
	proxy = await startHeaderProxy(tools.url, tools.admin.token);
});
afterAll(async () => {
	await proxy.close();
	await tools.close();
});

/** Runs all server scenarios of a protocol revision. Returns the checks of each. */
async function runSuite(revision: string): Promise<Map<string, Check[]>> {
	const folder = await makeFolder("assay-conformance-");
	try {
		const child = spawn(
			process.execPath,
			[
				SUITE,
				"server",
				`--url=${proxy.url}/api/mcp/v1`,
				`--requirements=${revision}`,
				`--output-dir=${folder}`,
			],
			{ stdio: "ignore" },
		);
		await once(child, "exit");
		const scenarios = new Map<string, Check[]>();
		for (const name of await readdir(folder)) {
			const text = await readFile(join(folder, name, "checks.json"), "utf8");
			// The name of the file is, for example, server-tools-list-2026-11-21T15-13-14-241Z.
			const scenario = name
				.replace(/^server-/, "")
				.replace(/-\d{4}-\d\d-\d\dT.*$/, "");
			scenarios.set(scenario, JSON.parse(text) as Check[]);
		}
		return scenarios;
	} finally {
		await rm(folder, { recursive: true });
	}
}

test.each([
	["2025-11-25", 30, ["server-initialize", "ping", "tools-list"]],
	[
		"2026-07-28",
		45,
		["server-stateless", "tools-list", "caching", "http-header-validation"],
	],
] as const)("revision %s: every scenario passes that a server of tools can pass", async (revision, atLeast, known) => {
	const scenarios = await runSuite(revision);
	expect(scenarios.size).toBeGreaterThanOrEqual(atLeast);
	for (const name of [...known, "dns-rebinding-protection"]) {
		const passed = scenarios
			.get(name)
			?.filter(({ status }) => status === "SUCCESS");
		expect(passed?.length, name).toBeGreaterThan(0);
	}
	const failures = [...scenarios].flatMap(([scenario, checks]) =>
		checks
			.filter(({ status }) => status === "FAILURE")
			.map((check) => ({ ...check, scenario })),
	);
	const isLeftOut = ({ scenario, id }: { scenario: string; id: string }) =>
		id !== "wire-schema-valid" &&
		(scenario in LEFT_OUT || `${scenario}/${id}` in LEFT_OUT);
	expect(failures.filter((failure) => !isLeftOut(failure))).toEqual([]);
	// A scenario that passes no longer belongs on the list.
	const failed = new Set(
		failures.flatMap(({ scenario, id }) => [scenario, `${scenario}/${id}`]),
	);
	const passing = Object.keys(LEFT_OUT).filter(
		(name) => scenarios.has(name.split("/")[0] ?? "") && !failed.has(name),
	);
	expect(passing).toEqual([]);
});

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
	Client,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { firstLine, isRunning } from "../support/child.ts";
import { runCommand } from "../support/command.ts";
import { sendTo } from "../support/console-client.ts";
import { makeFolder } from "../support/folder.ts";
import {
	DEVICES,
	demoFolders,
	postmasterOf,
	startDemo,
} from "./demonstration.ts";
import { readTimes } from "./document-times.ts";

const DAY_MS = 86_400_000;

interface Ready {
	url: string;
	listening: string;
	organization_id: string;
	logins: { role: string; email: string; password: string }[];
	api_token: string;
	mcp_configuration: {
		mcpServers: {
			assay: { url: string; headers: { Authorization: string } };
		};
	};
}

let folder: string;
let demo: ChildProcess;
let ready: Ready;
/**
 * The folder that a demonstration leaves if it is killed together with the process that would clean
 * up.
 */
let orphan: string;

/** Makes a folder of a demonstration whose process has ended. */
function makeOrphan(): string {
	const path = join(folder, "assay-demo-orphan");
	mkdirSync(path);
	writeFileSync(join(path, "owner"), "2147483647");
	return path;
}

beforeAll(async () => {
	folder = await makeFolder("assay-test-");
	orphan = makeOrphan();
	demo = startDemo(folder);
	ready = JSON.parse(await firstLine(demo));
});

afterAll(async () => {
	if (demo.exitCode === null && demo.signalCode === null) {
		demo.kill("SIGTERM");
		await once(demo, "exit");
	}
	await rm(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there.
async function use(tool: string, input: object = {}): Promise<any> {
	const response = await fetch(`${ready.url}/api/mcp/tools/${tool}`, {
		method: "POST",
		headers: { authorization: `Bearer ${ready.api_token}` },
		body: JSON.stringify(input),
	});
	if (!response.ok) throw new Error(`${tool}: ${await response.text()}`);
	return response.json();
}

const inOrganization = (input: object = {}) => ({
	organization_id: ready.organization_id,
	size: 100,
	...input,
});

test("a demonstration removes the remains of an earlier one", () => {
	expect(demoFolders(folder).map((name) => join(folder, name))).not.toContain(
		orphan,
	);
});

test("a demonstration listens only on this machine, and each of its users has the printed role", async () => {
	expect(new URL(ready.listening).hostname).toBe("127.0.0.1");
	expect(ready.logins.map(({ role }) => role)).toEqual([
		"admin",
		"member",
		"viewer",
	]);
	for (const { role, email, password } of ready.logins) {
		const { cookie, status } = await sendTo(
			ready.url,
			"/api/auth/sign-in/email",
			{ email, password },
		);
		expect(status).toBe(200);
		const { body } = await sendTo(
			ready.url,
			"/api/console/getProfile",
			{},
			{ cookie },
		);
		expect(body.profile.organizations).toMatchObject([
			{ id: ready.organization_id, role },
		]);
	}
});

test("the printed configuration connects an MCP client", async () => {
	const { url, headers } = ready.mcp_configuration.mcpServers.assay;
	const client = new Client({ name: "test", version: "1" });
	await client.connect(
		new StreamableHTTPClientTransport(new URL(url), {
			requestInit: { headers },
		}),
	);
	const answer = await client.callTool({
		name: "listOrganizations",
		arguments: {},
	});
	expect(answer.structuredContent).toMatchObject({
		organizations: [{ id: ready.organization_id }],
	});
	await client.close();
});

test("the registers are filled with past dates, and the audit log verifies", async () => {
	for (const [tool, key, least] of [
		["listPeople", "people", 25],
		["listVendors", "vendors", 15],
		["listRisks", "risks", 20],
		["listMeasures", "measures", 30],
		["listControls", "controls", 60],
		["listNonconformities", "nonconformities", 8],
		["listObligations", "obligations", 10],
		["listAudits", "audits", 4],
		["listAssets", "assets", 10],
		["listData", "data", 10],
		["listTasks", "tasks", 20],
		["listContinualImprovements", "continual_improvements", 6],
		["listDocuments", "documents", 6],
		["listEvidence", "evidence", 5],
	] as const) {
		const records = (await use(tool, inOrganization()))[key];
		expect(records.length, tool).toBeGreaterThanOrEqual(least);
		const oldest = Math.min(
			...records.map((one: { created_at: string }) =>
				Date.parse(one.created_at),
			),
		);
		expect(oldest, tool).toBeLessThan(Date.now() - 30 * DAY_MS);
	}
	const [name = ""] = demoFolders(folder);
	const verified = await runCommand(["audit", "verify"], {
		ASSAY_DATA_DIR: join(folder, name, "data"),
	});
	expect(verified).toMatchObject({ code: 0 });
});

test("documents were approved and signed in the past, and an audit can begin", async () => {
	const { documents } = await use("listDocuments", inOrganization());
	const policy = documents.find(
		(one: { title: string }) => one.title === "Information security policy",
	);
	const { document_versions: versions } = await use("listDocumentVersions", {
		document_id: policy.id,
	});
	expect(versions).toMatchObject([
		{ version_number: 2, status: "PUBLISHED" },
		{ version_number: 1, status: "PUBLISHED" },
	]);
	for (const { published_at } of versions) {
		expect(Date.parse(published_at)).toBeLessThan(Date.now() - 30 * DAY_MS);
	}
	const { document_version: version } = await use("getDocumentVersion", {
		id: versions[0].id,
	});
	expect(version.content).toContain("Harbour & Pine");
	expect(version.content).not.toMatch(/\[(Company|name)\]/);
	const { document_version_signatures: signatures } = await use(
		"listDocumentVersionSignatures",
		{ document_version_id: version.id },
	);
	const signed = signatures.filter(
		(one: { state: string }) => one.state === "SIGNED",
	);
	expect(signed).toHaveLength(2);
	expect(signatures.length).toBeGreaterThan(2);
	for (const { signed_at } of signed) {
		expect(Date.parse(signed_at)).toBeLessThan(Date.now() - 30 * DAY_MS);
	}
	const { snapshots } = await use("listSnapshots", inOrganization());
	expect(snapshots).toMatchObject([{ name: "Before the surveillance audit" }]);
});

test("versions, approvals and signatures have the times of the document's history", async () => {
	const { documents } = await use("listDocuments", inOrganization());
	const all = [];
	for (const { id } of documents) all.push(await readTimes(use, id));
	expect(all.map(({ stored }) => stored)).toEqual(
		all.map((one) => one.history),
	);
	expect(all.flatMap(({ stored }) => stored.signed_at)).toHaveLength(3);
});

test("the next review of a document is a year after each publication, in its history too", async () => {
	const { documents } = await use("listDocuments", inOrganization());
	for (const { id, next_review_on } of documents) {
		const { stored, reviews } = await readTimes(use, id);
		const expected = stored.published_at.map((at) => {
			const day = new Date(at);
			day.setUTCFullYear(day.getUTCFullYear() + 1);
			return day.toISOString().slice(0, 10);
		});
		expect(reviews).toEqual(expected);
		expect(next_review_on).toBe(expected.at(-1) ?? null);
	}
});

test("devices have months of history, and each kind of problem occurs", async () => {
	const { devices } = await use("listDevices", inOrganization());
	const having = (wanted: object) =>
		devices.filter((device: Record<string, unknown>) =>
			Object.entries(wanted).every(([field, value]) => device[field] === value),
		);
	expect(having({ status: "ACTIVE" }).length).toBeGreaterThan(DEVICES / 2);
	expect(having({ status: "PENDING" }).length).toBeGreaterThan(0);
	expect(
		having({ status: "ACTIVE", freshness: "ONLINE" }).length,
	).toBeGreaterThan(0);
	expect(
		having({ freshness: "STALE" }).length +
			having({ freshness: "MISSING" }).length,
	).toBeGreaterThan(0);
	expect(
		devices.flatMap(({ conflicts }: { conflicts: string[] }) => conflicts),
	).toEqual(expect.arrayContaining(["DUPLICATE_HARDWARE", "POSSIBLE_CLONE"]));
	// The list begins with the newest device.
	const device = having({ status: "ACTIVE", freshness: "ONLINE" }).at(-1);
	expect(Date.parse(device.enrolled_at)).toBeLessThan(Date.now() - 30 * DAY_MS);
	const { device_postures } = await use("listDevicePostures", {
		device_id: device.id,
		size: 100,
		as_of: new Date(Date.parse(device.enrolled_at) + 10 * DAY_MS).toISOString(),
	});
	expect(device_postures).toHaveLength(CHECK_KEYS.length);
});

test("the reports of a device show no silence that its history does not show", async () => {
	const { devices } = await use(
		"listDevices",
		inOrganization({ filter: { status: "ACTIVE", freshness: "ONLINE" } }),
	);
	const { id: device_id } = devices.at(-1);
	const { silences } = await use("listDevicePostures", { device_id });
	const { posture_reports } = await use("listDevicePostureReports", {
		device_id,
		size: 100,
	});
	const times: number[] = posture_reports.map(
		({ received_at }: { received_at: string }) => Date.parse(received_at),
	);
	expect(times.length).toBeGreaterThan(15);
	const gaps = times.slice(1).map((time, n) => (times[n] ?? time) - time);
	const long = gaps.filter((gap) => gap > 3 * DAY_MS);
	expect(long.length).toBeLessThanOrEqual(silences.length);
});

test("trends show a year, and the registers can be read as they were in it", async () => {
	const { points } = await use("getTrends", {});
	expect(points).toHaveLength(13);
	for (const point of points) {
		expect(point.overdue).toEqual(expect.any(Number));
		expect(point.residual_risk).toEqual(expect.any(Number));
	}
	const [first, last] = [points[0], points.at(-1)];
	expect(first.residual_risk).toBeGreaterThan(last.residual_risk);
	const as_of = new Date(Date.now() - 100 * DAY_MS).toISOString();
	const [now, then] = await Promise.all([
		use("listRisks", inOrganization({ detail: "full" })),
		use("listRisks", inOrganization({ detail: "full", as_of })),
	]);
	expect(then.total).toBe(now.total);
	expect(then.risks).not.toEqual(now.risks);
	for (const risk of then.risks) {
		expect(Date.parse(risk.updated_at)).toBeLessThanOrEqual(Date.parse(as_of));
	}
});

test("this machine takes part as a device with the real agent", async () => {
	await expect
		.poll(
			async () => {
				const { devices } = await use(
					"listDevices",
					inOrganization({ filter: { query: "This machine" } }),
				);
				return devices[0];
			},
			{ interval: 500 },
		)
		.toMatchObject({ status: "ACTIVE", owner_id: expect.any(String) });
});

test("no record looks as if it was just created, and one of the members has a second factor", async () => {
	const { members } = await use("listMembers", inOrganization());
	expect(
		members.filter(
			(one: { two_factor_enabled: boolean }) => one.two_factor_enabled,
		),
	).toHaveLength(1);
	const { devices } = await use("listDevices", inOrganization());
	const newest = Math.max(
		...devices.map((one: { created_at: string }) => Date.parse(one.created_at)),
	);
	expect(newest).toBeLessThan(Date.now() - 60 * 60_000);
});

test("SIGUSR1 and SIGUSR2 only write a line to a demonstration's log", async () => {
	let said = "";
	demo.stderr?.on("data", (chunk) => {
		said += chunk;
	});
	for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
		demo.kill(signal);
		await expect.poll(() => said).toContain(`"signal":"${signal}"`);
	}
	expect(said).not.toContain("Debugger listening");
	expect((await fetch(`${ready.listening}/health/ready`)).status).toBe(200);
});

test("Ctrl-C ends a demonstration with exit code 0 and leaves no folder and no database server", async () => {
	const postmaster = postmasterOf(join(folder, demoFolders(folder)[0] ?? ""));
	demo.kill("SIGINT");
	const [code] = await once(demo, "exit");
	expect(code).toBe(0);
	expect(demoFolders(folder)).toEqual([]);
	expect(isRunning(postmaster)).toBe(false);
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeLeftovers } from "../../agent/files.ts";
import {
	enqueue,
	keepReportsOf,
	listQueue,
	readQueued,
	removeQueued,
	setAside,
} from "../../agent/queue.ts";
import type { Report } from "../../agent/report.ts";
import { makeId, makeOrganizationId } from "../../src/id.ts";
import { makeAgentFolder } from "./folders.ts";

const organization = makeOrganizationId();

const NOW = Date.parse("2026-11-21T12:00:00.000Z");

/** Makes a report. Its id says that it was made `hoursAgo` hours before NOW. */
function makeReport(textLength = 10, hoursAgo = 0): Report {
	const id = Buffer.from(
		makeId(organization, "device_posture_report"),
		"base64url",
	);
	id.writeBigUInt64BE(BigInt(NOW - hoursAgo * 3_600_000), 10);
	const report_id = id.toString("base64url");
	return {
		report_id,
		dropped_total: 0,
		results: [
			{
				check_key: "OS_VERSION",
				status: "PASS",
				evidence: { text: "x".repeat(textLength) },
				observed_at: "2026-11-21T12:00:00.000Z",
				correlation_id: report_id,
			},
		],
	};
}

async function idsIn(folder: string): Promise<(string | undefined)[]> {
	const names = await listQueue(folder);
	return Promise.all(
		names.map(async (name) => (await readQueued(folder, name))?.report_id),
	);
}

test("reports are sent in the order in which they were queued, also after number 9 and after a removal", async () => {
	const folder = await makeAgentFolder();
	const reports = Array.from({ length: 12 }, () => makeReport());
	for (const report of reports) await enqueue(folder, report, false);
	const [first] = await listQueue(folder);
	await removeQueued(folder, first ?? "");
	const last = makeReport();
	await enqueue(folder, last, false);
	expect(await idsIn(folder)).toEqual(
		[...reports.slice(1), last].map(({ report_id }) => report_id),
	);
});

test("a full queue keeps the reports in which a status changed, and one of the other reports a day", async () => {
	const folder = await makeAgentFolder();
	const limits = { maxReports: 8, maxBytes: 1e6 };
	// There is a report every six hours for four days. A status changed in the second one.
	const reports = Array.from({ length: 17 }, (_, index) =>
		makeReport(10, (16 - index) * 6),
	);
	const dropped: number[] = [];
	for (const [index, report] of reports.entries()) {
		dropped.push(await enqueue(folder, report, index === 1, limits));
	}
	expect(dropped.reduce((sum, one) => sum + one, 0)).toBe(9);
	// The changed report and the first report of each day remain, and two more of the last day fit.
	const kept = await idsIn(folder);
	expect(kept).toEqual(
		[0, 1, 2, 6, 10, 14, 15, 16].map((index) => reports[index]?.report_id),
	);
});

test("a queue that is full of changes drops the oldest of them", async () => {
	const folder = await makeAgentFolder();
	const limits = { maxReports: 3, maxBytes: 1e6 };
	const reports = Array.from({ length: 5 }, () => makeReport());
	for (const report of reports) await enqueue(folder, report, true, limits);
	expect(await idsIn(folder)).toEqual(
		reports.slice(2).map(({ report_id }) => report_id),
	);
});

test("by default the queue holds 2,000 reports of usual length", async () => {
	const folder = await makeAgentFolder();
	// Only the names and sizes matter for the limit, so the files are written quickly.
	await Promise.all(
		Array.from({ length: 1999 }, (_, index) => {
			const report = makeReport(2000);
			const number = String(index + 1).padStart(10, "0");
			return writeFile(
				join(folder, "queue", `${number}-${report.report_id}.json`),
				JSON.stringify(report),
			);
		}),
	);
	expect(await enqueue(folder, makeReport(2000), false)).toBe(0);
	expect(await enqueue(folder, makeReport(2000), false)).toBe(1);
	expect(await listQueue(folder)).toHaveLength(2000);
});

test("a queue that has too many bytes drops as many of the oldest reports as necessary", async () => {
	const folder = await makeAgentFolder();
	const limits = { maxReports: 100, maxBytes: 3000 };
	for (let i = 0; i < 4; i++)
		await enqueue(folder, makeReport(300), true, limits);
	expect(await enqueue(folder, makeReport(2000), true, limits)).toBe(3);
	expect(await listQueue(folder)).toHaveLength(2);
});

test("only the owner of queued reports can read them", async () => {
	const folder = await makeAgentFolder();
	await enqueue(folder, makeReport(), false);
	const [name] = await listQueue(folder);
	const { mode } = await stat(join(folder, "queue", name ?? ""));
	expect(mode & 0o777).toBe(0o600);
});

test("a damaged report is skipped, and other files are not touched", async () => {
	const folder = await makeAgentFolder();
	const id = makeReport().report_id;
	for (const [number, text] of [
		[1, ""],
		[2, '{"report_id": "x'],
		[3, "[]"],
		[4, "\u0000\u0000\u0000"],
	] as const) {
		await writeFile(
			join(folder, "queue", `000000000${number}-${id}.json`),
			text,
		);
	}
	await writeFile(join(folder, "queue", "notes.txt"), "");
	expect(await idsIn(folder)).toEqual([
		undefined,
		undefined,
		undefined,
		undefined,
	]);
});

test("only the newest ten reports that were set aside are kept", async () => {
	const folder = await makeAgentFolder();
	for (let i = 0; i < 12; i++) {
		await enqueue(folder, makeReport(), false);
		const [name] = await listQueue(folder);
		await setAside(folder, name ?? "", "refused");
	}
	expect(await readdir(join(folder, "refused"))).toHaveLength(10);
	expect(await listQueue(folder)).toEqual([]);
});

test("reports of another device are discarded, also those that were set aside", async () => {
	const folder = await makeAgentFolder();
	const [own, other] = [0, 1].map(() => makeId(organization, "device"));
	for (const device_id of [other, own, other]) {
		await enqueue(folder, { ...makeReport(), device_id }, false);
	}
	const [name = ""] = await listQueue(folder);
	await setAside(folder, name, "refused");
	expect(await keepReportsOf(folder, own ?? "")).toBe(1);
	expect(await listQueue(folder)).toHaveLength(1);
	expect(await readdir(join(folder, "refused"))).toEqual([]);
	expect(await keepReportsOf(folder, own ?? "")).toBe(0);
});

test("an agent that is killed while it writes to the queue leaves only complete reports", async () => {
	const folder = await makeAgentFolder();
	const child = spawn(
		process.execPath,
		[join(import.meta.dirname, "queue-process.ts"), folder],
		{ stdio: ["ignore", "pipe", "inherit"] },
	);
	// The program prints a line after each report, so after ten lines it is certainly writing
	// reports.
	let lines = 0;
	for await (const chunk of child.stdout) {
		lines += String(chunk).split("\n").length - 1;
		if (lines >= 10) break;
	}
	child.kill("SIGKILL");
	if (child.signalCode === null) await once(child, "exit");
	const ids = await idsIn(folder);
	expect(ids.length).toBeGreaterThanOrEqual(10);
	expect(ids).not.toContain(undefined);
	await removeLeftovers(join(folder, "queue"));
	expect(await readdir(join(folder, "queue"))).toEqual(await listQueue(folder));
});

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, InvalidArgumentError } from "commander";
import type { Pool } from "pg";
import { exportLine } from "../audit/entry.ts";
import { listLogs, readLog } from "../audit/read.ts";
import { sealAll } from "../audit/sealer.ts";
import {
	type ChainReport,
	type Expectation,
	UNSEEN,
	verifyLog,
} from "../audit/verify.ts";
import type { Database } from "../db/database.ts";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { parseId } from "../id.ts";
import {
	parseOrganizationId,
	requireOrganization,
} from "../organizations/organization-store.ts";
import { dateSchema, timeSchema } from "../records/text-schemas.ts";
import { counted, print, printable } from "./output.ts";
import { wholeNumber } from "./simulate.ts";
import { withDatabase } from "./with-database.ts";

export function addAudit(program: Command): void {
	const audit = program
		.command("audit")
		.description(
			"Verify and export the audit log, which records who did what in a chain of hashes.",
		);
	addVerify(audit);
	addExport(audit);
}

interface VerifyOptions {
	org?: string;
	expect: Expectation[];
	expectErasures?: number;
	json?: boolean;
}

function addVerify(audit: Command): void {
	audit
		.command("verify")
		.description(
			"Look for entries that were changed, removed or inserted, and fail (1) if there are any. Prints each organization's newest hash: keep it elsewhere and pass it with --expect next time.",
		)
		.option("--org <id>", "id of the only organization to read")
		.option(
			"--expect <organization:sequence:hash>",
			"entry that must be in the log, as verify printed it earlier; repeat the option for more",
			parseExpectation,
			[],
		)
		.option(
			"--expect-erasures <count>",
			"fail unless the logs contain exactly this many erasures, and print each of them",
			wholeNumber(0, Number.MAX_SAFE_INTEGER),
		)
		.option("--json", "print the result as JSON")
		.action(async (options: VerifyOptions) => {
			const reports = await withDatabase(async (database) => {
				const found = await organizationsOf(database, options.org);
				const expected = options.expect.map((one) => one.organizationId);
				if (options.org && expected.some((id) => id !== options.org)) {
					throw new AppError(
						"bad_request",
						"--expect names another organization than --org; omit --org to check all",
					);
				}
				const all = [...new Set([...found, ...expected])];
				return verifyAll(database.auditPool, all, options.expect);
			});
			const erasures = reports.reduce(
				(sum, report) => sum + report.erasures.length,
				0,
			);
			const areExpected =
				options.expectErasures === undefined ||
				options.expectErasures === erasures;
			const isSound =
				areExpected && reports.every((report) => report.finding_count === 0);
			const lines = reports.map(describeReport);
			if (!areExpected) {
				lines.push(
					`PROBLEM: the logs contain ${counted(erasures, "erasure")}, but ${options.expectErasures} were expected`,
				);
			}
			if (options.expect.length === 0 && lines.length > 0) {
				lines.push(
					`Keep these lines in another place. Without an earlier line in --expect, this command cannot see ${UNSEEN}.`,
				);
			}
			print(
				options,
				{ is_sound: isSound, erasures, organizations: reports },
				lines.join("\n") || "No organizations yet.",
			);
			if (!isSound) process.exitCode = 1;
		});
}

async function verifyAll(
	pool: Pool,
	organizationIds: string[],
	expectations: Expectation[],
): Promise<ChainReport[]> {
	await sealAll(pool);
	const reports: ChainReport[] = [];
	for (const id of organizationIds) {
		reports.push(await verifyLog(pool, id, { expectations, isSealing: true }));
	}
	return reports;
}

/**
 * Returns the organization that --org names, or all organizations without --org. Throws if the
 * named organization does not exist.
 */
async function organizationsOf(
	database: Database,
	org: string | undefined,
): Promise<string[]> {
	if (org === undefined) return listLogs(database.auditPool);
	const id = parseOrganizationId(org);
	await withTenant(database.pool, id, (client) =>
		requireOrganization(client, id),
	);
	return [id];
}

function parseExpectation(text: string, before: Expectation[]): Expectation[] {
	const [, organizationId = "", sequence, hash = ""] =
		/^([\w-]{32}):([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
	if (parseId(organizationId)?.kind !== "organization") {
		throw new InvalidArgumentError(
			"Give the organization, sequence and hash that verify printed, separated by colons.",
		);
	}
	return [...before, { organizationId, sequence: Number(sequence), hash }];
}

function describeReport(report: ChainReport): string {
	const { organization_id: id, head, findings, finding_count: count } = report;
	const name = report.organization_name ?? "no such organization";
	const lines = findings.map(({ problem }) => `PROBLEM ${id}: ${problem}`);
	if (count > findings.length) {
		lines.push(`PROBLEM ${id}: and ${count - findings.length} more`);
	}
	for (const { sequence, at, operation, record_name } of report.erasures) {
		lines.push(
			`erasure ${id}: entry ${sequence} of ${at}, ${operation}, ${printable(record_name ?? "")}`,
		);
	}
	const redacted = report.redacted ? `, ${report.redacted} redacted` : "";
	const unsealed = report.unsealed ? `, ${report.unsealed} not sealed` : "";
	const newest = head ? `${id}:${head.sequence}:${head.hash}` : id;
	lines.push(
		`${count === 0 ? "ok     " : "BROKEN "} ${newest}  ${name} (${counted(report.entries, "entry", "entries")}${redacted}${unsealed})`,
	);
	return lines.join("\n");
}

interface ExportOptions {
	org?: string;
	from?: string;
	until?: string;
}

function addExport(audit: Command): void {
	audit
		.command("export")
		.description(
			"Write entries to standard output as JSON Lines, one organization after the other, oldest first.",
		)
		.option("--org <id>", "id of the only organization to read")
		.option(
			"--from <time>",
			"first time of the entries (RFC 3339); a date alone means the beginning of that day, UTC",
			(text: string) => parseTime(text, 0),
		)
		.option(
			"--until <time>",
			"time before which the entries were written (RFC 3339); a date alone means the end of that day, UTC",
			(text: string) => parseTime(text, 1),
		)
		.option("--json", "has no effect: the output is always JSON Lines")
		.action((options: ExportOptions) =>
			withDatabase(async (database) => {
				const ids = await organizationsOf(database, options.org);
				const lines = exportLines(database.auditPool, ids, options);
				try {
					await pipeline(Readable.from(lines), process.stdout, { end: false });
				} catch (error) {
					// The program that reads the output has closed it, as `head` does when it has enough.
					if ((error as { code?: string }).code !== "EPIPE") throw error;
				}
			}),
		);
}

/**
 * Yields the lines of one batch of entries at a time. The next batch is read when the previous one
 * has been taken.
 */
async function* exportLines(
	pool: Pool,
	organizationIds: string[],
	between: ExportOptions,
): AsyncGenerator<string> {
	await sealAll(pool);
	for (const id of organizationIds) {
		for await (const { entries } of readLog(pool, id, between)) {
			if (entries.length > 0) {
				yield entries.map((entry) => `${exportLine(entry)}\n`).join("");
			}
		}
	}
}

/** Returns a time. A date alone means the beginning of the day that is `daysAfter` days later. */
function parseTime(text: string, daysAfter: number): string {
	const time = timeSchema().safeParse(text);
	if (time.success) return time.data;
	if (dateSchema().safeParse(text).success) {
		const day = new Date(`${text}T00:00:00Z`);
		day.setUTCDate(day.getUTCDate() + daysAfter);
		return day.toISOString();
	}
	throw new InvalidArgumentError(
		"Give a time such as 2026-01-31T00:00:00Z, or a date such as 2026-01-31.",
	);
}

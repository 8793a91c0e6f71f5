import { stat } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { z } from "zod";
import { appendChanges } from "../audit/log.ts";
import { packageChange } from "../audit-package/package-change.ts";
import {
	type PackageScope,
	resolveScope,
	scopeInput,
} from "../audit-package/scope.ts";
import { readConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { makeLogger } from "../log.ts";
import {
	parseOrganizationId,
	requireOrganization,
} from "../organizations/organization-store.ts";
import { systemPrincipal } from "../principal.ts";
import { parseInput } from "../validation.ts";
import { explainPipe, size, toStandardOutput } from "./backup.ts";
import { stopSignal } from "./organization-files.ts";
import { counted, print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
	audit?: string;
	from?: string;
	until?: string;
	withoutFiles?: boolean;
	json?: boolean;
}

/** Adds the command that writes a package for an auditor. */
export function addAuditPackage(org: Command): void {
	org
		.command("audit-package <id> <file>")
		.description(
			"Write a ZIP file for an auditor (- is standard output), for one audit or a period: registers, statement of applicability, documents, evidence, devices and audit log, with digests. The service may keep running.",
		)
		.option(
			"--audit <id>",
			"audit that the package is for; it sets the framework and, by default, the period",
		)
		.option("--from <day>", "first day of the period, such as 2026-01-01")
		.option("--until <day>", "last day of the period, such as 2026-12-31")
		.option(
			"--without-files",
			"leave out the contents of the files of evidence; their names and hashes stay",
		)
		.option(
			"--json",
			"print a summary as JSON (on standard error if the package goes to standard output)",
		)
		.action(write);
}

async function write(
	id: string,
	file: string,
	options: Options,
): Promise<void> {
	const { STANDARD, writeFileSafely } = await import("../backup/file.ts");
	const { openAuditPackage } = await import("../audit-package/open-package.ts");
	const organizationId = parseOrganizationId(id);
	const asked = parseInput(z.strictObject(scopeInput), {
		...(options.audit && { audit_id: options.audit }),
		...(options.from && { from: options.from }),
		...(options.until && { until: options.until }),
		with_files: !options.withoutFiles,
	});
	const isStandard = file === STANDARD;
	if (isStandard && process.stdout.isTTY) {
		throw new AppError(
			"bad_request",
			"a ZIP file cannot be written to a terminal; redirect standard output to a file or another program",
		);
	}
	const { logLevel, baseUrl } = readConfig(process.env);
	const signal = stopSignal();
	await withDatabase(async (database) => {
		const { pool, poolConnection } = database;
		const scope = await note(database, organizationId, asked);
		const services = { pool, log: makeLogger(logLevel), baseUrl };
		const { name } = systemPrincipal();
		const send = async (out: Writable) => {
			const opened = await openAuditPackage(
				services,
				poolConnection,
				scope,
				name,
			);
			try {
				await pipeline(Readable.from(opened.content), out, { signal });
				return opened.files;
			} finally {
				await opened.close();
			}
		};
		const files = await (isStandard
			? send(toStandardOutput())
			: writeFileSafely(file, send)
		).catch((error) => {
			throw signal.aborted
				? new AppError(
						"bad_request",
						"the package was stopped, so no complete file was written",
					)
				: explainPipe(error);
		});
		const manifest = files.find(({ path }) => path === "manifest.json");
		const found = {
			from: scope.from,
			until: scope.until,
			files: files.length,
			manifest_sha256: manifest?.sha256,
		};
		const text = `The package for ${scope.from} to ${scope.until} is complete${isStandard ? "" : `: ${file} (${size((await stat(file)).size)})`}, with ${counted(files.length, "file")}.
SHA-256 of its manifest.json: ${manifest?.sha256}
Give it to the auditor in another way than the package. Otherwise nobody would notice a replaced package.`;
		if (!isStandard) print(options, { file, ...found }, text);
		else {
			process.stderr.write(`${options.json ? JSON.stringify(found) : text}\n`);
		}
	});
}

/** Finds out what the package contains, and writes to the audit log that it is made. */
function note(
	{ pool }: Database,
	organizationId: string,
	asked: Parameters<typeof resolveScope>[2],
): Promise<PackageScope> {
	return withTenant(pool, organizationId, async (client) => {
		await requireOrganization(client, organizationId);
		const { scope, subject } = await resolveScope(
			client,
			organizationId,
			asked,
		);
		await appendChanges(
			client,
			systemPrincipal(),
			"exportAuditPackage",
			organizationId,
			[packageChange(scope, subject)],
		);
		return scope;
	});
}

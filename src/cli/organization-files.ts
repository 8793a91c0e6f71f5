import { stat } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { readArchiveFiles } from "../archive/archive-files.ts";
import { appendChanges } from "../audit/log.ts";
import { sealAll } from "../audit/sealer.ts";
import { type ChainReport, verifyLog } from "../audit/verify.ts";
import type { FormerMember } from "../backup/import-organization.ts";
import type { Part } from "../backup/organization-tables.ts";
import type { SealCheck } from "../backup/seal.ts";
import { readConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { isNewDatabase } from "../db/migrate.ts";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import {
	parseOrganizationId,
	requireOrganization,
} from "../organizations/organization-store.ts";
import { systemPrincipal } from "../principal.ts";
import { addMember, requireUser } from "../sign-in/users.ts";
import { reachingTokens } from "../tokens/reaching-tokens.ts";
import { COMMAND } from "../version.ts";
import {
	describeEncryption,
	describeSeal,
	explainPipe,
	report,
	size,
	toStandardOutput,
} from "./backup.ts";
import { parseEmail } from "./email.ts";
import { counted, print, printable, table } from "./output.ts";
import { withDatabase } from "./with-database.ts";

interface ExportOptions {
	/** False if the option --without-… is given. */
	withoutFiles?: boolean;
	withoutReports?: boolean;
	auditCheck: boolean;
	json?: boolean;
}

interface ImportOptions {
	admin?: string;
	json?: boolean;
}

/** Adds the commands that write an organization to a file and read it again. */
export function addOrganizationFiles(org: Command): void {
	org
		.command("export <id> <file>")
		.description(
			"Write one organization, as of one moment, to a new file (- is standard output), to import it into another installation. The service may keep running, and the organization may be suspended. The file contains no passwords, tokens or keys.",
		)
		.option(
			"--without-files",
			"leave out the contents of the files of evidence; their names and hashes stay",
		)
		.option(
			"--without-reports",
			"leave out the raw reports of devices; the history of every check stays",
		)
		.option(
			"--no-audit-check",
			"do not verify the audit log, which takes long when it has many entries",
		)
		.option(
			"--json",
			"print a summary as JSON (on standard error if the export goes to standard output)",
		)
		.action(exportTo);
	org
		.command("import <file>")
		.description(
			"Add an exported organization (- is standard input) to this installation. The service may keep running. A file that is damaged, cut off, from another version, or whose organization exists here changes nothing.",
		)
		.option(
			"--admin <address>",
			"e-mail address of a user of this installation who becomes its administrator",
			parseEmail,
		)
		.option("--json", "print what was imported as JSON")
		.action(importFrom);
}

async function exportTo(
	id: string,
	file: string,
	options: ExportOptions,
): Promise<void> {
	const { encryptionFor } = await import("../backup/encryption.ts");
	const { openOrganizationExport } = await import(
		"../backup/export-organization.ts"
	);
	const { STANDARD, writeFileSafely } = await import("../backup/file.ts");
	const { readBackupKey } = await import("../backup/key.ts");
	const { describeSummary, summarize } = await import("../backup/summary.ts");
	const organizationId = parseOrganizationId(id);
	const isStandard = file === STANDARD;
	if (isStandard && process.stdout.isTTY) {
		throw new AppError(
			"bad_request",
			"an export cannot be written to a terminal; redirect standard output to a file or another program",
		);
	}
	const config = readConfig(process.env);
	const key = await readBackupKey(config.backupKeyFile);
	const encrypt = encryptionFor(config.backupRecipients);
	const leavesOut: Part[] = [];
	if (options.withoutFiles) leavesOut.push("files");
	if (options.withoutReports) leavesOut.push("reports");
	const signal = stopSignal();
	await withDatabase(async (database) => {
		await noteExport(database, organizationId, leavesOut);
		const write = async (out: Writable) => {
			const opened = await openOrganizationExport(
				database.ownerConnection,
				organizationId,
				{ leavesOut, key, encrypt, report },
			);
			try {
				await pipeline(Readable.from(opened.content), out, { signal });
				return opened;
			} finally {
				await opened.close();
			}
		};
		const { manifest, rows, head } = await (isStandard
			? write(toStandardOutput())
			: writeFileSafely(file, write)
		).catch((error) => {
			throw signal.aborted
				? new AppError(
						"bad_request",
						"the export was stopped; nothing was written",
					)
				: explainPipe(error);
		});
		const checked = options.auditCheck
			? await verifyLog(database.auditPool, organizationId)
			: undefined;
		const summary = summarize(manifest, rows);
		const archived = await countOnlyCopies(database, organizationId);
		const found = {
			organization: manifest.organization,
			...summary,
			left_out: leavesOut,
			archived_files: archived,
			recipients: config.backupRecipients.length,
			audit_head: head ?? null,
			audit_problems: checked?.findings ?? null,
		};
		const text = `The export of ${printable(manifest.organization?.name ?? "")} at ${summary.made_at} is complete${isStandard ? "" : `: ${file} (${size((await stat(file)).size)})`}.
${describeSummary(summary)}
${describeLeftOut(leavesOut)}${describeArchived(archived, organizationId)}${describeEncryption(config.backupRecipients.length)}
${describeAudit(checked)}
${head ? `Its newest entry is ${organizationId}:${head.sequence}:${head.hash}. After the import, \`${COMMAND} audit verify --expect\` with this line shows that the log is the same.` : "Its audit log has no entry yet."}

Next, in the other installation, with the same version: ${COMMAND} org import ${isStandard ? "FILE" : file}`;
		if (checked && checked.finding_count > 0) process.exitCode = 1;
		if (!isStandard) print(options, { file, ...found }, text);
		else {
			process.stderr.write(`${options.json ? JSON.stringify(found) : text}\n`);
		}
	});
}

/**
 * Returns how many files of the archive have reports that are nowhere else, so no export has them.
 */
async function countOnlyCopies(
	{ ownerConnection }: Database,
	organizationId: string,
): Promise<number> {
	const files = await readArchiveFiles(ownerConnection, organizationId);
	return files.filter(({ is_only_copy }) => is_only_copy).length;
}

function describeArchived(files: number, organizationId: string): string {
	return files === 0
		? ""
		: `It does not contain the older reports in ${counted(files, "file")} of the archive. Deleting the organization here deletes these files, so copy the folder organization_id=${organizationId} of the archive first.\n`;
}

/** Returns a signal that says that somebody wants to stop this command. */
export function stopSignal(): AbortSignal {
	const stop = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(signal, () => stop.abort());
	}
	return stop.signal;
}

/** Writes to the audit log that the organization is exported. The file contains this entry too. */
async function noteExport(
	{ pool }: Database,
	organizationId: string,
	leavesOut: readonly Part[],
): Promise<void> {
	await withTenant(pool, organizationId, async (client) => {
		await requireOrganization(client, organizationId);
		const { rows } = await client.query<{ name: string }>(
			"select name from organizations where id = $1",
			[organizationId],
		);
		await appendChanges(
			client,
			systemPrincipal(),
			"exportOrganization",
			organizationId,
			[
				{
					kind: "organization",
					id: organizationId,
					name: rows[0]?.name ?? null,
					fields: {
						...(leavesOut.length > 0 && { left_out: { after: leavesOut } }),
					},
				},
			],
		);
	});
	await sealAll(pool);
}

async function importFrom(file: string, options: ImportOptions): Promise<void> {
	const { readIdentities } = await import("../backup/encryption.ts");
	const { readBackup } = await import("../backup/file.ts");
	const { importOrganization } = await import(
		"../backup/import-organization.ts"
	);
	const { readBackupKey } = await import("../backup/key.ts");
	const { describeSummary, summarize } = await import("../backup/summary.ts");
	const config = readConfig(process.env);
	const check: SealCheck = { key: await readBackupKey(config.backupKeyFile) };
	const identities = await readIdentities(config.backupIdentityFile);
	const add = async (database: Database) => {
		// In a new installation, this command may be the first one. If the operator is in the wrong
		// folder, this message reveals it.
		if (isNewDatabase(database.migrated)) {
			report(`created a new database: ${database.description}`);
		}
		const admin =
			options.admin === undefined
				? undefined
				: await requireUser(database.identityPool, options.admin);
		const imported = await importOrganization(
			database.ownerConnection,
			readBackup(file, identities),
			report,
			check,
			async (client, organizationId) =>
				admin
					? [
							await addMember(client, organizationId, admin, "admin"),
							...(await reachingTokens(client, organizationId, admin.id)),
						]
					: [],
		);
		report("imported; verifying the audit log");
		await sealAll(database.pool);
		const { organization, members, head, manifest, rows } = imported;
		const checked = await verifyLog(database.auditPool, organization.id, {
			expectations: head ? [{ organizationId: organization.id, ...head }] : [],
		});
		const summary = summarize(manifest, rows);
		if (checked.finding_count > 0) process.exitCode = 1;
		print(
			options,
			{
				organization,
				...summary,
				left_out: manifest.left_out ?? [],
				keyed_seal: check.keyedSeal,
				admin: admin?.email ?? null,
				former_members: members,
				audit_head: head ?? null,
				audit_problems: checked.findings,
			},
			[
				`Imported ${printable(organization.name)} (${organization.id}) as it was at ${summary.made_at}.`,
				describeSummary(summary),
				`${describeLeftOut(manifest.left_out ?? [])}${describeSeal(check)}`,
				describeAudit(checked),
				describeMembers(members),
				...REMAINING,
				"",
				`Next: ${
					admin
						? `${admin.email} is the administrator and can invite the others (Settings → Members).`
						: `${COMMAND} user create --org ${organization.id} --role admin --email <e-mail> --name <name>`
				}`,
			].join("\n"),
		);
	};
	await withDatabase(add, "make");
}

const REMAINING = [
	"Devices keep their records and history. Their keys are not in an export, so each agent enrolls anew.",
	"Webhooks and notifications are switched off. Chats, enrollment keys, API tokens and open invitations are not in an export.",
];

function describeLeftOut(parts: readonly Part[]): string {
	const words = {
		files: "the contents of files",
		reports: "the raw reports of devices",
	};
	return parts.length === 0
		? ""
		: `It does not contain ${parts.map((part) => words[part]).join(" and ")}.\n`;
}

function describeAudit(report: ChainReport | undefined): string {
	if (!report) return "The audit log was not verified.";
	if (report.finding_count === 0) {
		return `The audit log is sound (${counted(report.entries, "entry", "entries")}).`;
	}
	return report.findings
		.map(({ problem }) => `PROBLEM ${report.organization_id}: ${problem}`)
		.join("\n");
}

const MAX_LISTED = 20;

function describeMembers(members: readonly FormerMember[]): string {
	if (members.length === 0) return "It had no members.";
	const more = members.length - MAX_LISTED;
	return [
		"These people were members. They are not members here until somebody invites them:",
		table(
			["E-MAIL", "ROLE", "NAME"],
			members
				.slice(0, MAX_LISTED)
				.map(({ email, role, name }) => [email, role, name]),
		).replace(/^/gm, "  "),
		...(more > 0 ? [`  and ${more} more; --json prints all`] : []),
	].join("\n");
}

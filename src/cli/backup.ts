import { stat } from "node:fs/promises";
import { Writable } from "node:stream";
import type { Command } from "commander";
import type { LogProblem } from "../audit/verify-all.ts";
import type { SealCheck } from "../backup/seal.ts";
import { readConfig } from "../config/config.ts";
import { openServer } from "../db/database.ts";
import { requireDatabase } from "../db/missing-database.ts";
import { AppError } from "../errors.ts";
import { compareWithStore, describeKept, keepBackup } from "./keep-backup.ts";
import { print, printable } from "./output.ts";

interface BackupOptions {
	verify?: boolean;
	auditCheck: boolean;
	withoutFiles?: boolean;
	deleteOld?: boolean;
	json?: boolean;
}

export function addBackup(program: Command): void {
	program
		.command("backup <file>")
		.description(
			"Write everything in the database, as of one moment, to a new file (- is standard output). The service may keep running. Also keep ASSAY_SECRET (or the file secret of the data folder), which is not in the backup.",
		)
		.option(
			"--verify",
			"read the file (- is standard input) and check that it is complete; needs no database",
		)
		.option(
			"--no-audit-check",
			"do not verify the audit logs, which takes long when they have many entries",
		)
		.option(
			"--without-files",
			"leave out the contents of the files of evidence; their names and hashes stay",
		)
		.option(
			"--delete-old",
			"afterwards delete the files assay-….backup in the same folder that are older than ASSAY_BACKUP_KEEP_DAYS; keeps the newest three, and deletes nothing if the new backup lacks an organization",
		)
		.option(
			"--json",
			"print a summary as JSON (on standard error if the backup goes to standard output)",
		)
		.action(async (file: string, options: BackupOptions) => {
			if (options.verify) await verify(file, options);
			else await backup(file, options);
		});
}

async function backup(file: string, options: BackupOptions): Promise<void> {
	const { encryptionFor } = await import("../backup/encryption.ts");
	const { STANDARD, writeFileSafely } = await import("../backup/file.ts");
	const { readBackupKey } = await import("../backup/key.ts");
	const { noteBackup } = await import("../backup/last-backup.ts");
	const { writeBackup } = await import("../backup/write.ts");
	const { describeSummary, summarize } = await import("../backup/summary.ts");
	const isStandard = file === STANDARD;
	if (isStandard && process.stdout.isTTY) {
		throw new AppError(
			"bad_request",
			"a backup cannot be written to a terminal; redirect standard output to a file or another program",
		);
	}
	if (isStandard && options.deleteOld) {
		throw new AppError(
			"bad_request",
			"--delete-old needs the name of a file, because it deletes old backups in the folder of the file",
		);
	}
	const config = readConfig(process.env);
	requireDatabase(config);
	const key = await readBackupKey(config.backupKeyFile);
	const recipients = config.backupRecipients;
	const encrypt = encryptionFor(recipients);
	const stop = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(signal, () => stop.abort());
	}
	const server = await openServer(config);
	try {
		const write = (out: Writable) =>
			writeBackup(server.connection, out, report, {
				verifiesAudit: options.auditCheck,
				key,
				encrypt,
				leavesOutFiles: options.withoutFiles,
				signal: stop.signal,
			});
		const written = isStandard
			? await write(toStandardOutput())
			: await writeFileSafely(file, write);
		const { manifest, rows, auditProblems, isCurrent } = written;
		// A backup that should be elsewhere and is not does not count as made.
		if (isStandard) await compareWithStore(config, written, report);
		const kept = isStandard
			? {}
			: await keepBackup(
					config,
					file,
					options.deleteOld ?? false,
					written,
					report,
				);
		const summary = summarize(manifest, rows);
		if (isCurrent) {
			await noteBackup(server.connection, {
				madeAt: manifest.made_at,
				hasSoundLogs: auditProblems ? auditProblems.length === 0 : null,
			});
		}
		const text = `The backup of ${summary.made_at} is complete${isStandard ? "" : `: ${file} (${size((await stat(file)).size)})`}.\n${describeSummary(summary)}
${[describeEncryption(recipients.length), ...describeKept(kept)].join("\n")}
Keep ASSAY_SECRET, or the file secret of the data folder, in another place; second factors need it.
${describeAudit(auditProblems)}`;
		const found = {
			...summary,
			recipients: recipients.length,
			...kept,
			audit_problems: auditProblems ?? null,
		};
		if (auditProblems?.length) process.exitCode = 1;
		if (!isStandard) {
			print(options, { file, ...found }, text);
		} else {
			process.stderr.write(`${options.json ? JSON.stringify(found) : text}\n`);
		}
	} catch (error) {
		throw stop.signal.aborted
			? new AppError(
					"bad_request",
					"the backup was stopped; nothing was written",
				)
			: explainPipe(error);
	} finally {
		await server.close();
	}
}

async function verify(file: string, options: BackupOptions): Promise<void> {
	const { readIdentities } = await import("../backup/encryption.ts");
	const { readBackup } = await import("../backup/file.ts");
	const { readBackupKey } = await import("../backup/key.ts");
	const { BackupReader } = await import("../backup/read.ts");
	const { describeSummary, summarize } = await import("../backup/summary.ts");
	const { backupKeyFile, backupIdentityFile } = readConfig(process.env);
	const check: SealCheck = { key: await readBackupKey(backupKeyFile) };
	const identities = await readIdentities(backupIdentityFile);
	const reader = await BackupReader.open(readBackup(file, identities), check, [
		"backup",
		"organization",
	]);
	try {
		await reader.drain();
	} finally {
		reader.close();
	}
	const { organization } = reader.manifest;
	const summary = summarize(reader.manifest, reader.rows);
	print(
		options,
		{
			is_whole: true,
			keyed_seal: check.keyedSeal,
			...(organization && { organization }),
			...summary,
		},
		`The ${organization ? "export" : "backup"} is intact. It shows ${organization ? `the organization ${printable(organization.name)}` : "the database"} at ${summary.made_at} and was made by Assay ${summary.made_by}.\n${describeSummary(summary)}\n${describeSeal(check)}`,
	);
}

export function describeEncryption(recipients: number): string {
	if (recipients === 0)
		return "It is not encrypted. ASSAY_BACKUP_RECIPIENTS encrypts backups.";
	return recipients === 1
		? "It is encrypted for one recipient."
		: `It is encrypted for ${recipients} recipients.`;
}

/** Returns a sentence about whether somebody with the key wrote the backup. */
export function describeSeal({ keyedSeal }: SealCheck): string {
	if (keyedSeal === "right") return "Its seal was made with your key.";
	if (keyedSeal === "unchecked") {
		return "It is sealed with a key, which was not checked: set ASSAY_BACKUP_KEY_FILE.";
	}
	return "It is not sealed with a key, so nobody can notice if somebody changed it on purpose.";
}

function describeAudit(problems: LogProblem[] | undefined): string {
	if (!problems) return "The audit logs were not verified.";
	if (problems.length === 0)
		return "The audit log of each organization is sound.";
	return [
		...describeProblems(problems),
		"The backup is complete, but these audit logs are broken. Keep the file as evidence, and keep older backups for comparison (docs/audit-log.md).",
	].join("\n");
}

export function describeProblems(problems: LogProblem[]): string[] {
	return problems.map(({ id, problem }) => `PROBLEM ${id}: ${problem}`);
}

/**
 * Returns a stream that writes to standard output and can be ended. Standard output itself cannot
 * be ended.
 */
export function toStandardOutput(): Writable {
	// The failed write reports the error too. Without a listener, this event would end the process.
	process.stdout.on("error", () => {});
	return new Writable({
		write: (chunk, _, done) =>
			process.stdout.write(chunk, (error) => done(error)),
	});
}

export function explainPipe(error: unknown): unknown {
	return (error as { code?: string }).code === "EPIPE"
		? new AppError(
				"bad_request",
				"the program that reads standard output has ended, so the file is incomplete",
			)
		: error;
}

/** Prints progress on standard error, because it is not part of the result. */
export function report(text: string): void {
	process.stderr.write(`${text}\n`);
}

export function size(bytes: number): string {
	return bytes < 1e6
		? `${Math.ceil(bytes / 1e3)} kB`
		: `${(bytes / 1e6).toFixed(1)} MB`;
}

import type { ClientConfig } from "pg";
import type { LogProblem } from "../audit/verify-all.ts";
import type { Restored } from "../backup/restore.ts";
import type { SealCheck } from "../backup/seal.ts";
import type { Config } from "../config/config.ts";
import { makePool } from "../db/pool.ts";
import { report } from "./backup.ts";

export interface RestoredFile extends Restored {
	check: SealCheck;
	/** Audit logs that were broken when the backup was made. */
	problems: LogProblem[];
}

/**
 * Restores the backup in `file` into the empty database of `connection` and verifies the audit
 * logs. Decrypts the file and checks its seal with the keys that the settings name. Throws what
 * `restoreBackup` throws.
 */
export async function restoreFile(
	config: Config,
	connection: ClientConfig,
	file: string,
): Promise<RestoredFile> {
	const { readIdentities } = await import("../backup/encryption.ts");
	const { readBackup, STANDARD } = await import("../backup/file.ts");
	const { readBackupKey } = await import("../backup/key.ts");
	const { restoreBackup } = await import("../backup/restore.ts");
	const { unseal } = await import("../backup/seal.ts");
	const check: SealCheck = { key: await readBackupKey(config.backupKeyFile) };
	const identities = await readIdentities(config.backupIdentityFile);
	if (check.key && file !== STANDARD) {
		// Nothing from a forged file may reach the database. The file is therefore read twice, first
		// only to check its seal. Standard input can be read only once, so its seal is checked before
		// the commit.
		for await (const _ of unseal(readBackup(file, identities), check));
	}
	const restored = await restoreBackup(
		connection,
		readBackup(file, identities),
		report,
		check,
	);
	report("restored; verifying the audit logs");
	return { ...restored, check, problems: await verifyLogs(connection) };
}

async function verifyLogs(connection: ClientConfig): Promise<LogProblem[]> {
	const { findLogProblems } = await import("../audit/verify-all.ts");
	const pool = makePool(connection, { max: 1, role: "audit" });
	try {
		return await findLogProblems(pool);
	} finally {
		await pool.end();
	}
}

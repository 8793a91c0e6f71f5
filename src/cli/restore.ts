import type { Command } from "commander";
import { readConfig } from "../config.ts";
import { openServer } from "../db/database.ts";
import { AUDIT_ROLE, makePool } from "../db/pool.ts";
import { report } from "./backup.ts";
import { print } from "./output.ts";

const REMEMBER = `Remember:
  ASSAY_SECRET (or the file secret of the data folder) is not in a backup. Put back the one that was
  used: with another, second factors do not work (npx assay user reset-two-factor).
  Keys, tokens and memberships that were taken away after the backup was made count again: take
  them away again. Whoever enrolled a device since enrolls it once more.
  Everybody signs in anew.`;

export function addRestore(program: Command): void {
	program
		.command("restore <file>")
		.description(
			"Load a backup (- is standard input) into an empty database and bring it to the newest schema. A file that is damaged, cut off or of a newer version changes nothing.",
		)
		.option("--json", "print what was restored as JSON")
		.action(restore);
}

async function restore(
	file: string,
	options: { json?: boolean },
): Promise<void> {
	const { readBytes } = await import("../backup/file.ts");
	const { restoreBackup } = await import("../backup/restore.ts");
	const { describeSummary, summarize } = await import("../backup/summary.ts");
	const server = await openServer(readConfig(process.env));
	try {
		const { manifest, rows, migrated } = await restoreBackup(
			server.connection,
			readBytes(file),
			report,
		);
		report("restored; looking at the audit logs");
		const problems = await verifyLogs(server.connection);
		const summary = summarize(manifest, rows);
		const lines = [
			`Restored the backup of ${summary.made_at}, made by Assay ${summary.made_by}.`,
			describeSummary(summary),
		];
		if (migrated.length > 0) lines.push(`Then applied ${migrated.join(", ")}.`);
		lines.push(
			...problems.map(({ id, problem }) => `PROBLEM ${id}: ${problem}`),
			problems.length > 0
				? "Everything is restored, but these audit logs were broken when the backup was made: npx assay audit verify"
				: "The audit log of each organization is sound.",
			REMEMBER,
		);
		print(
			options,
			{ ...summary, migrated, audit_problems: problems },
			lines.join("\n"),
		);
		if (problems.length > 0) process.exitCode = 1;
	} finally {
		await server.close();
	}
}

interface Problem {
	id: string;
	problem: string;
}

async function verifyLogs(
	connection: Parameters<typeof makePool>[0],
): Promise<Problem[]> {
	const { listLogs } = await import("../audit/read.ts");
	const { verifyLog } = await import("../audit/verify.ts");
	const pool = makePool(connection, { max: 1, role: AUDIT_ROLE });
	try {
		const problems: Problem[] = [];
		for (const id of await listLogs(pool)) {
			const { findings } = await verifyLog(pool, id);
			problems.push(...findings.map(({ problem }) => ({ id, problem })));
		}
		return problems;
	} finally {
		await pool.end();
	}
}

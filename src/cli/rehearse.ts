import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { describeSummary, summarize } from "../backup/summary.ts";
import { type Config, readConfig } from "../config/config.ts";
import { openServer } from "../db/database.ts";
import { describeProblems, describeSeal } from "./backup.ts";
import type { Finding } from "./doctor.ts";
import { examineSecondFactors } from "./doctor-sign-in.ts";
import { describeDuration } from "./duration.ts";
import { print } from "./output.ts";
import { restoreFile } from "./restore-file.ts";

/**
 * Restores a backup into an embedded PostgreSQL in a temporary folder, prints what is in it and
 * whether it is sound, and removes the folder. Does not touch the configured database. The exit code
 * is 1 if an audit log is broken or the secret of the service does not decrypt the second factors.
 */
export async function rehearse(
	file: string,
	options: { json?: boolean },
): Promise<void> {
	const config = readConfig(process.env);
	const began = performance.now();
	const { restored, bytes, secondFactors } = await inTemporaryDatabase(
		config,
		async (connection) => ({
			restored: await restoreFile(config, connection, file),
			...(await examine(connection, config)),
		}),
	);
	const { manifest, rows, migrated, check, problems } = restored;
	const took = performance.now() - began;
	const age = Date.now() - Date.parse(manifest.made_at);
	const summary = summarize(manifest, rows);
	const lines = [
		`This backup can be restored. It took ${describeDuration(took)}. The database has ${(bytes / 1e6).toFixed(1)} MB.`,
		`It shows the state of ${describeDuration(age)} ago (${summary.made_at}) and was made by Assay ${summary.made_by}.`,
		describeSummary(summary),
		describeSeal(check),
		...(migrated.length > 0
			? [`This version then applied ${migrated.join(", ")}.`]
			: []),
		...describeProblems(problems),
		problems.length > 0
			? "These audit logs were broken when the backup was made."
			: "The audit log of each organization is sound.",
		`Second factors: ${secondFactors.found}.`,
		...(secondFactors.advice ? [`→ ${secondFactors.advice}`] : []),
		"The database of this rehearsal is removed.",
	];
	print(
		options,
		{
			...summary,
			keyed_seal: check.keyedSeal,
			migrated,
			audit_problems: problems,
			second_factors: secondFactors,
			database_bytes: bytes,
			took_ms: Math.round(took),
		},
		lines.join("\n"),
	);
	if (problems.length > 0 || secondFactors.status === "problem") {
		process.exitCode = 1;
	}
}

async function inTemporaryDatabase<Result>(
	config: Config,
	work: (connection: ClientConfig) => Promise<Result>,
): Promise<Result> {
	const dataDir = await mkdtemp(join(tmpdir(), "assay-rehearsal-"));
	try {
		// If root runs the command, PostgreSQL runs as another user, who must be able to enter.
		await chmod(dataDir, 0o711);
		const server = await openServer({
			...config,
			databaseUrl: undefined,
			dataDir,
		});
		try {
			return await work(server.connection);
		} finally {
			await server.close();
		}
	} finally {
		await rm(dataDir, { recursive: true, force: true });
	}
}

async function examine(
	connection: ClientConfig,
	config: Config,
): Promise<{ bytes: number; secondFactors: Finding }> {
	const client = new Client(connection);
	await client.connect();
	try {
		const { rows } = await client.query<{ bytes: number }>(
			"select pg_database_size(current_database())::float8 as bytes",
		);
		return {
			bytes: rows[0]?.bytes ?? 0,
			secondFactors: await examineSecondFactors(client, config),
		};
	} finally {
		await client.end();
	}
}

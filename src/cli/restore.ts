import type { Command } from "commander";
import type { LogProblem } from "../audit/verify-all.ts";
import { type Credentials, readCredentials } from "../backup/credentials.ts";
import type { SealCheck } from "../backup/seal.ts";
import type { Summary } from "../backup/summary.ts";
import { type Config, readConfig } from "../config/config.ts";
import { openDatabase, openServer } from "../db/database.ts";
import type { Replaced } from "../db/replace-embedded.ts";
import { AppError } from "../errors.ts";
import { COMMAND } from "../version.ts";
import { describeProblems, describeSeal } from "./backup.ts";
import { describeDuration, parseDuration } from "./duration.ts";
import { print } from "./output.ts";
import { restoreFile } from "./restore-file.ts";
import { describeCredentials, revocableBy } from "./restored-credentials.ts";
import { setWait } from "./unknown-keys.ts";
import { whenInterrupted } from "./until-signal.ts";

type Kept = Replaced<unknown>["kept"];

/** Returns what an operator has to do or know after a restore with these options. */
function describeNextSteps({
	replace,
	unknownKeysWait,
}: RestoreOptions): string {
	const secret = replace
		? `The secret of this installation stays. Second factors work only with the one that was used when
  the backup was made. If the data folder was lost, put that one back before the service starts;
  without a copy, reset them (${COMMAND} user reset-two-factor).`
		: `ASSAY_SECRET (or the file secret of the data folder) is not in a backup. Put back the one that
  was used: second factors do not work with another one (${COMMAND} user reset-two-factor).`;
	const keys = unknownKeysWait
		? `The service answers these keys 503 for ${describeDuration(unknownKeysWait * 1000)}, and agents keep them: ${COMMAND} device unknown-keys.`
		: `Their agents forget them unless you let unknown keys wait before the service starts
  (${COMMAND} device unknown-keys --wait 2d).`;
	return `Remember:
  ${secret}
  Credentials and memberships that were removed after the backup was made count again: remove
  them again. Devices that enrolled since then have keys that this database does not know.
  ${keys}
  Everybody has to sign in again.`;
}

export function addRestore(program: Command): void {
	program
		.command("restore <file>")
		.description(
			"Load a backup (- is standard input) into an empty database and bring it to the newest schema. A file that is damaged, cut off or from a newer version changes nothing.",
		)
		.option(
			"--revoke-tokens",
			"revoke every API token in the backup, because some may have been revoked after it was made",
		)
		.option(
			"--revoke-credentials",
			"revoke every API token, SCIM credential, enrollment key and open invitation in the backup",
		)
		.option(
			"--unknown-keys-wait <duration>",
			`answer 503 instead of 401 to device keys that the backup does not contain, for example for 2d, so that agents keep them until you decide (${COMMAND} device unknown-keys)`,
			parseDuration,
		)
		.option(
			"--replace",
			"exchange the embedded database for the backup when it is loaded; the former database is kept under another name, and the secret stays (stop the service first)",
		)
		.option(
			"--rehearse",
			"restore into a temporary database instead, say whether all is sound, and remove it; the configured database is not touched",
		)
		.option("--json", "print what was restored as JSON")
		.action(run);
}

interface RestoreOptions {
	replace?: boolean;
	rehearse?: boolean;
	revokeTokens?: boolean;
	revokeCredentials?: boolean;
	unknownKeysWait?: number;
	json?: boolean;
}

async function run(file: string, options: RestoreOptions): Promise<void> {
	if (!options.rehearse) return await restore(file, options);
	if (
		options.replace ||
		revocableBy(options).length > 0 ||
		options.unknownKeysWait
	) {
		throw new AppError(
			"bad_request",
			"--rehearse keeps nothing, so --replace, --revoke-tokens, --revoke-credentials and --unknown-keys-wait have no effect with it; leave them out",
		);
	}
	const { rehearse } = await import("./rehearse.ts");
	await rehearse(file, options);
}

async function restore(file: string, options: RestoreOptions): Promise<void> {
	const config = readConfig(process.env);
	if (!options.replace)
		return await tell(await load(config, file, options), options);
	const { replaceEmbedded } = await import("../db/replace-embedded.ts");
	const { result, kept } = await replaceEmbedded(
		config,
		(inside) => load(inside, file, options),
		whenInterrupted(),
	);
	await tell(result, options, kept);
}

interface Loaded {
	summary: Summary;
	check: SealCheck;
	migrated: string[];
	problems: LogProblem[];
	credentials: Credentials;
}

/** Loads the file into the empty database that `config` names. */
async function load(
	config: Config,
	file: string,
	options: RestoreOptions,
): Promise<Loaded> {
	const { summarize } = await import("../backup/summary.ts");
	const server = await openServer(config);
	try {
		const { manifest, rows, ...restored } = await restoreFile(
			config,
			server.connection,
			file,
		);
		const credentials = await readCredentials(server.connection);
		const database = await openDatabase(config, {
			whenMissing: "refuse",
		});
		try {
			await setWait(database.pool, options.unknownKeysWait ?? null);
			const revoked = revocableBy(options);
			if (revoked.length > 0) {
				const { revokeCredentials } = await import("./revoke-restored.ts");
				await revokeCredentials(database, config, credentials, revoked);
			}
		} finally {
			await database.close();
		}
		return { summary: summarize(manifest, rows), credentials, ...restored };
	} finally {
		await server.close();
	}
}

/** Prints what was restored. */
async function tell(
	{ summary, check, migrated, problems, credentials }: Loaded,
	options: RestoreOptions,
	kept?: Kept,
): Promise<void> {
	const { describeSummary } = await import("../backup/summary.ts");
	const revoked = revocableBy(options);
	const lines = [
		`Restored the backup of ${summary.made_at}, made by Assay ${summary.made_by}.`,
		describeSummary(summary),
		describeSeal(check),
	];
	if (migrated.length > 0) lines.push(`Then applied ${migrated.join(", ")}.`);
	lines.push(
		...describeProblems(problems),
		problems.length > 0
			? `Everything is restored, but these audit logs were broken when the backup was made: ${COMMAND} audit verify`
			: "The audit log of each organization is sound.",
		...describeCredentials(credentials, revoked),
		describeNextSteps(options),
	);
	if (kept) {
		lines.push(
			`The former database is kept. Delete it when nobody needs it any more:\n  rm -r ${[kept.directory, kept.file].filter(Boolean).join(" ")}`,
		);
	}
	print(
		options,
		{
			...summary,
			keyed_seal: check.keyedSeal,
			migrated,
			audit_problems: problems,
			credentials,
			unknown_keys_wait_seconds: options.unknownKeysWait ?? null,
			revoked_api_tokens: revoked.includes("api_tokens")
				? credentials.api_tokens.length
				: 0,
			revoked,
			...(kept && { former_database: kept }),
		},
		lines.join("\n"),
	);
	if (problems.length > 0) process.exitCode = 1;
}

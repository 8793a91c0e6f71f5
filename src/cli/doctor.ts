import { join } from "node:path";
import type { Command } from "commander";
import { Client } from "pg";
import { BACKUP_FOLDER } from "../backup/file.ts";
import { type Config, readConfig } from "../config/config.ts";
import {
	type AuthoritiesFinding,
	FOUND_AUTHORITIES,
} from "../config/shell-authorities.ts";
import { connectionAdvice } from "../db/connection-advice.ts";
import { openServer } from "../db/database.ts";
import { readMigrationState } from "../db/migrate.ts";
import {
	describeMissing,
	hasDatabase,
	MISSING_DATABASE_ADVICE,
} from "../db/missing-database.ts";
import { assertConfined, makePool } from "../db/pool.ts";
import { placeOf } from "../db/postgres-tls.ts";
import { REPLICA_SETTING } from "../db/read-replica.ts";
import { isReadOnlyDatabase } from "../db/sqlstate.ts";
import { AppError, plainReason } from "../errors.ts";
import { readTracing } from "../tracing/settings.ts";
import { COMMAND } from "../version.ts";
import { examineArchive } from "./doctor-archive.ts";
import {
	backupPlaces,
	examineBackup,
	examineBackupKeys,
	examineOrganizations,
	examinePartials,
	examineRefused,
} from "./doctor-backup.ts";
import { examineCertificate } from "./doctor-certificate.ts";
import { examineClock, examineTimeSynchronization } from "./doctor-clock.ts";
import { examineDatabaseTls } from "./doctor-database-tls.ts";
import { examineEnrollmentKeys, examineUnknownKeys } from "./doctor-devices.ts";
import {
	examineDisks,
	examineDrafts,
	examineFormerDatabases,
} from "./doctor-disk.ts";
import { examineSilence } from "./doctor-embedded.ts";
import { examineMaintenance } from "./doctor-maintenance.ts";
import { readMetrics } from "./doctor-metrics.ts";
import { examinePackages } from "./doctor-packages.ts";
import { examineProvider } from "./doctor-provider.ts";
import { examineProviders } from "./doctor-providers.ts";
import { examineProxies } from "./doctor-proxies.ts";
import { examinePublicName } from "./doctor-public-name.ts";
import { examineReadReplica } from "./doctor-read-replica.ts";
import { examineReceivers } from "./doctor-receivers.ts";
import { examineRoles, examineSeparation } from "./doctor-roles.ts";
import { examineSamlCertificates } from "./doctor-saml.ts";
import { examineServer } from "./doctor-server.ts";
import { examineService } from "./doctor-service.ts";
import {
	examineAccounts,
	examineMail,
	examineMails,
	examineSecondFactors,
} from "./doctor-sign-in.ts";
import { print } from "./output.ts";

export interface Finding {
	check: string;
	status: "ok" | "warning" | "problem";
	found: string;
	/** Action that the operator should take. */
	advice?: string;
}

const MIN_POSTGRES = 150_000;
const NEWEST_TRIED = 180_000;
/** Longest time that one question to the database may take. */
const QUERY_MS = 30_000;

export function addDoctor(program: Command): void {
	program
		.command("doctor")
		.description(
			"Check the runtime, configuration, disk, database, clock and metrics, and say what to do.",
		)
		.option("--json", "print the findings as JSON")
		.action(async (options: { json?: boolean }) => {
			const findings = await examine();
			print(options, { findings }, findings.map(describe).join("\n"));
			if (findings.some((finding) => finding.status === "problem")) {
				process.exitCode = 1;
			}
		});
}

function describe(finding: Finding): string {
	const line = `${finding.status.padEnd(8)} ${finding.check}: ${finding.found}`;
	return finding.advice ? `${line}\n         → ${finding.advice}` : line;
}

async function examine(): Promise<Finding[]> {
	const findings: Finding[] = [
		{
			check: "runtime",
			status: "ok",
			found: `Node ${process.versions.node} on ${process.platform}-${process.arch}`,
		},
		...examineAuthorities(process.env[FOUND_AUTHORITIES]),
	];
	let config: Config;
	try {
		config = readConfig(process.env);
	} catch (error) {
		return [
			...findings,
			{
				check: "configuration",
				status: "problem",
				found: (error as Error).message,
				advice:
					"correct the variable, or the file that it names, and run assay doctor again",
			},
		];
	}
	// Most of these wait for something that may hang, so they wait at the same time.
	const groups = await Promise.all([
		examineService(config),
		examineAddress(config),
		examinePublicName(config),
		examineCertificate(config),
		examineMail(config),
		config.oidc ? examineProvider(config.oidc) : [],
		examineDisks(config),
		examineDrafts(config),
		examineFormerDatabases(config),
		config.agentDir ? examinePackages(config.agentDir) : [],
		examineTimeSynchronization(),
		config.databaseUrl ? examineDatabaseTls(config.databaseUrl) : [],
		config.replicaUrl
			? examineDatabaseTls(config.replicaUrl, REPLICA_SETTING)
			: [],
		examineDatabase(config),
		examineBackupKeys(config),
		examinePartials(BACKUP_FOLDER),
		examineRefused(BACKUP_FOLDER),
		examineMetrics(config),
		examineTraces(),
	]);
	return [...findings, ...groups.flat()];
}

/** Examines the metrics, and what they say about proxies. */
async function examineMetrics(config: Config): Promise<Finding[]> {
	const metrics = config.metricsPort ? await readMetrics(config) : undefined;
	return [
		...(metrics ? [metrics.finding] : []),
		examineProxies(config, metrics?.text),
	];
}

/** Warns if this shell trusts other certificate authorities than the service, as `found` says. */
function examineAuthorities(found: string | undefined): Finding[] {
	if (!found) return [];
	return [
		{
			check: "certificate authorities",
			status: "warning",
			...(JSON.parse(found) as AuthoritiesFinding),
		},
	];
}

function examineAddress(config: Config): Finding {
	const { protocol, hostname } = new URL(config.baseUrl);
	const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
	if (protocol === "https:" || isLocal) {
		return {
			check: "configuration",
			status: "ok",
			found: `agents and people use ${config.baseUrl}`,
		};
	}
	return {
		check: "configuration",
		status: "warning",
		found: `connections to ${config.baseUrl} are not encrypted`,
		advice:
			"put a proxy with TLS in front of the service and set ASSAY_BASE_URL to its https address",
	};
}

async function examineDatabase(config: Config): Promise<Finding[]> {
	if (!hasDatabase(config)) {
		return [
			{
				check: "database",
				status: "problem",
				...describeMissing(config),
			},
		];
	}
	try {
		const silence = await examineSilence(config);
		if (silence) return [silence];
		const server = await openServer(config);
		const client = new Client({
			...server.connection,
			connectionTimeoutMillis: 5_000,
			query_timeout: QUERY_MS,
		});
		client.on("error", () => {});
		try {
			await client.connect();
			const { applied, pending } = await readMigrationState(client);
			const schema = examineSchema(applied, pending);
			return [
				await examineVersion(client, server.description),
				schema,
				...(pending.length > 0
					? [await examineRoles(client, applied.length)]
					: []),
				await examineRole(server.connection),
				await examineClock(client, schema.status === "ok"),
				// The server and the accounts are examined only if the schema is new enough, because the
				// queries need objects that an older schema may lack.
				...(schema.status === "ok"
					? [
							...(await examineServer(client, config.reportRetentionMonths)),
							await examineBackup(client),
							...(await examineOrganizations(
								client,
								backupPlaces(BACKUP_FOLDER, config),
							)),
							...(await examineReadReplica(config, server.connection)),
							...(config.archivePlace ? [await examineArchive(client)] : []),
							await examineAccounts(client),
							await examineSecondFactors(client, config),
							...(await examineProviders(client, config)),
							await examineMails(client),
							await examineReceivers(client),
							...(await examineSamlCertificates(client)),
							await examineMaintenance(client),
							await examineUnknownKeys(client),
							await examineEnrollmentKeys(client),
							...(config.databaseUrl ? [await examineSeparation(client)] : []),
						]
					: []),
			];
		} finally {
			await client.end().catch(() => {});
			await server.close();
		}
	} catch (error) {
		return [
			{
				check: "database",
				status: "problem",
				found: describeFailure(config, error),
				// An error of ours says itself what to do.
				...(!(error instanceof AppError) && {
					advice: config.databaseUrl
						? connectionAdvice(error)
						: `look at the newest file in ${join(config.dataDir, "postgres", "log")}`,
				}),
			},
		];
	}
}

function describeFailure({ databaseUrl }: Config, error: unknown): string {
	const reason = plainReason((error as Error).message || String(error));
	// An error of ours names the place itself.
	return databaseUrl && !(error instanceof AppError)
		? `${placeOf(databaseUrl)} does not answer, or refuses: ${reason}`
		: reason;
}

async function examineVersion(
	client: Client,
	description: string,
): Promise<Finding> {
	const { rows } = await client.query<{ number: number; fsync: string }>(
		"select current_setting('server_version_num')::int as number, current_setting('fsync') as fsync",
	);
	const number = rows[0]?.number ?? 0;
	const found = `PostgreSQL ${Math.floor(number / 10_000)}.${number % 100}, ${description}`;
	if (number < MIN_POSTGRES) {
		return {
			check: "database",
			status: "problem",
			found,
			advice: "Assay needs PostgreSQL 15 or newer",
		};
	}
	if (rows[0]?.fsync !== "on") {
		return {
			check: "database",
			status: "problem",
			found: `${found}, with fsync off`,
			advice: "set fsync = on: without it a crash loses acknowledged data",
		};
	}
	if (number >= NEWEST_TRIED + 10_000) {
		return {
			check: "database",
			status: "warning",
			found,
			advice: `Assay is tested with PostgreSQL 15 to ${NEWEST_TRIED / 10_000}; newer versions probably work, but keep backups`,
		};
	}
	return { check: "database", status: "ok", found };
}

/** Examines the settings of traces. Returns no findings if no traces are configured. */
function examineTraces(): Finding[] {
	const traces = readTracing(process.env);
	if (!traces) return [];
	const [notice] = traces.notices;
	return notice
		? [
				{
					check: "traces",
					status: "warning",
					found: traces.notices.join("; "),
					advice: "docs/watching.md lists the values",
				},
			]
		: [
				{
					check: "traces",
					status: "ok",
					found: `sent as ${traces.protocol}; the log says when they cannot be sent`,
				},
			];
}

function examineSchema(applied: string[], pending: string[]): Finding {
	if (applied.length === 0) {
		return {
			check: "schema",
			status: "problem",
			found: "the database has no schema of Assay",
			advice: MISSING_DATABASE_ADVICE,
		};
	}
	if (pending.length > 0) {
		return {
			check: "schema",
			status: "warning",
			found: `${pending.length} migrations to apply`,
			advice: `${COMMAND} migrate, or the next start, applies them`,
		};
	}
	return {
		check: "schema",
		status: "ok",
		found: `${applied.length} migrations applied, the newest ${applied.at(-1)}`,
	};
}

async function examineRole(
	connection: ConstructorParameters<typeof Client>[0] & object,
): Promise<Finding> {
	const pool = makePool(connection as object, { max: 1 });
	try {
		await assertConfined(pool);
		return {
			check: "tenancy",
			status: "ok",
			found: "the service's role is bound by row-level security",
		};
	} catch (error) {
		if (isReadOnlyDatabase(error)) {
			return {
				check: "tenancy",
				status: "warning",
				found: "the service cannot work with a server that is read-only",
				advice: "see replication below",
			};
		}
		return {
			check: "tenancy",
			status: "problem",
			found: (error as Error).message,
			advice: `${COMMAND} migrate creates the role and its rights`,
		};
	} finally {
		await pool.end();
	}
}

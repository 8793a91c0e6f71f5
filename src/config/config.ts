import { resolve } from "node:path";
import { AppError, StartRefused } from "../errors.ts";
import type { FileLimits } from "../files/file-limits.ts";
import type { LogLevel } from "../log.ts";
import { COMMAND } from "../version.ts";
import { suggestSettings } from "./nearest-settings.ts";
import { type ArchivePlace, readArchivePlace } from "./read-archive.ts";
import { readFileLimits } from "./read-file-limits.ts";
import {
	type OidcConfig,
	type PasswordSignIn,
	readOidc,
	readPasswordSignIn,
} from "./read-oidc.ts";
import {
	type BackupStore,
	readBackupStore,
	readKeepDays,
} from "./read-s3-folder.ts";
import {
	FILE_SETTING_NAMES,
	type OrganizationCreation,
	SETTING_NAMES,
	SETTINGS,
	type Setting,
	type SettingName,
} from "./settings.ts";
import {
	readAllowedOrigins,
	readDatabaseUrl,
	readLogLevel,
	readMail,
	readMetricsPort,
	readMonths,
	readOrganizationCreation,
	readOrigin,
	readPort,
	readRanges,
	readRecipients,
	readReplicaUrl,
	readSecretText,
	readSwitch,
	readValueOrFile,
} from "./values.ts";

export interface Config {
	readonly host: string;
	/** Port to listen on. With 0, the operating system chooses a free port. */
	readonly port: number;
	/**
	 * The address that agents and people use. It is an origin, without a path and without a slash at
	 * the end.
	 */
	readonly baseUrl: string;
	/** True if people may connect programs with OAuth. */
	readonly oauth: boolean;
	/** True if programs may register themselves as clients of OAuth. */
	readonly oauthRegistration: boolean;
	/** The identity provider with which people sign in. Undefined means that there is none. */
	readonly oidc: OidcConfig | undefined;
	readonly passwordSignIn: PasswordSignIn;
	/**
	 * True for a copy of an installation that somebody looks at. It sends nothing to anybody, and
	 * deletes nothing by its age.
	 */
	readonly isCopy?: boolean;
	/** Name servers that are asked for the records of domains. Only tests set them. */
	readonly dnsServers?: readonly string[];
	/** Time from the start until the work of once a day begins. Only tests set it. */
	readonly dailyWorkAfterMs?: number;
	readonly dataDir: string;
	/** Folder of the packages of the agent. Undefined if the service offers none. */
	readonly agentDir: string | undefined;
	/** URL of the database. Undefined means the embedded PostgreSQL in `dataDir`. */
	readonly databaseUrl: string | undefined;
	/** URL of a replica of that database, for reads that ask for it. */
	readonly replicaUrl: string | undefined;
	/**
	 * Addresses and ranges of proxies. The service believes the X-Forwarded-For header of these
	 * proxies.
	 */
	readonly trustedProxies: readonly string[];
	/** Origins of other websites whose pages may send requests with an API token. */
	readonly allowedOrigins: readonly string[];
	readonly logLevel: LogLevel;
	/** Says whether the log has a line for each request. */
	readonly accessLog: boolean;
	/** The port that serves metrics. Undefined means that no metrics are served. */
	readonly metricsPort: number | undefined;
	readonly metricsHost: string;
	/**
	 * Secret that signs sessions. Undefined means that the service makes one and keeps it in
	 * `dataDir`.
	 */
	readonly secret: string | undefined;
	/**
	 * The secret that was used before. With it the service still reads second factors, and webhooks
	 * are signed with both secrets.
	 */
	readonly previousSecret: string | undefined;
	/** API token that `assay call` and `assay simulate` work with. */
	readonly token: string | undefined;
	/**
	 * Mail server and sender. Undefined means that the service sends no mail and that people pass on
	 * links themselves.
	 */
	readonly mail: MailConfig | undefined;
	/** Says who may create organizations: every signed-in user, or only the command line. */
	readonly organizationCreation: OrganizationCreation;
	/** Number of months after which raw posture reports are deleted. 0 keeps them forever. */
	readonly reportRetentionMonths: number;
	/** Limits of uploaded files, and the scanner that looks for malware in them. */
	readonly fileLimits: FileLimits;
	/** Addresses and ranges that are not public and that webhooks may reach. */
	readonly outgoingAllow: readonly string[];
	/** File with the key that seals backups. */
	readonly backupKeyFile: string | undefined;
	/** Public keys of age for which backups are encrypted. Without any, they are not encrypted. */
	readonly backupRecipients: readonly string[];
	/** File with the identities of age that decrypt backups. */
	readonly backupIdentityFile: string | undefined;
	/** Days after which old backups in the folder of a new one are deleted. 0 keeps all. */
	readonly backupKeepDays: number;
	/** Where backups are uploaded. */
	readonly backupStore: BackupStore | undefined;
	/** Where closed months of raw reports are archived. */
	readonly archivePlace: ArchivePlace | undefined;
}

export interface MailConfig {
	/** URL of the mail server. It may contain a password, so it is never shown. */
	readonly smtpUrl: string;
	/** Sender of the mails, such as "Assay <assay@example.com>". */
	readonly from: string;
	/**
	 * Says whether mails are sent only over TLS. With `smtp://`, the value is false for a mail server
	 * on this machine, and if the URL contains `?requireTLS=false` or `?ignoreTLS=true`.
	 */
	readonly requiresTls: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration from `env`, and secrets from the files that it names. An empty value
 * counts as absent. Throws StartRefused (bad_request) with the name of the variable if a value is
 * wrong, a file cannot be read or an `ASSAY_` name is unknown. A misspelled setting therefore stops
 * the start and is not silently ignored.
 */
export function readConfig(env: Environment): Config {
	try {
		return readSettings(env);
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		throw new StartRefused(error.code, error.message, { cause: error });
	}
}

function readSettings(env: Environment): Config {
	const known: readonly string[] = [
		...SETTING_NAMES,
		...FILE_SETTING_NAMES.map((name) => `${name}_FILE`),
	];
	for (const name of Object.keys(env)) {
		if (name.startsWith("ASSAY_") && !known.includes(name)) {
			throw new AppError(
				"bad_request",
				`${name} is not a setting of this version; ${suggestSettings(name, known)}\`${COMMAND} --help\` and README.md list the settings`,
			);
		}
	}
	const settingOf = (name: SettingName): string | undefined => {
		const setting: Setting = SETTINGS[name];
		const value = setting.canBeInFile ? readValueOrFile(env, name) : env[name];
		return value || setting.default;
	};
	const port = readPort("ASSAY_PORT", settingOf("ASSAY_PORT")) ?? 0;
	const agentDir = settingOf("ASSAY_AGENT_DIR");
	const oidc = readOidc(settingOf);
	const databaseUrl = readDatabaseUrl(
		"DATABASE_URL",
		settingOf("DATABASE_URL"),
		"the primary",
	);
	return Object.freeze({
		host: settingOf("ASSAY_HOST") ?? "",
		port,
		baseUrl: readOrigin(settingOf("ASSAY_BASE_URL"), port),
		trustedProxies: readRanges(
			"ASSAY_TRUSTED_PROXIES",
			settingOf("ASSAY_TRUSTED_PROXIES"),
		),
		outgoingAllow: readRanges(
			"ASSAY_OUTGOING_NETWORKS",
			settingOf("ASSAY_OUTGOING_NETWORKS"),
		),
		allowedOrigins: readAllowedOrigins(settingOf("ASSAY_ALLOWED_ORIGINS")),
		oauth: readSwitch("ASSAY_OAUTH", settingOf("ASSAY_OAUTH")),
		oauthRegistration: readSwitch(
			"ASSAY_OAUTH_REGISTRATION",
			settingOf("ASSAY_OAUTH_REGISTRATION"),
		),
		oidc,
		passwordSignIn: readPasswordSignIn(
			settingOf("ASSAY_PASSWORD_SIGN_IN"),
			oidc,
		),
		dataDir: resolve(settingOf("ASSAY_DATA_DIR") ?? ""),
		agentDir: agentDir && resolve(agentDir),
		databaseUrl,
		replicaUrl: readReplicaUrl(settingOf("DATABASE_REPLICA_URL"), databaseUrl),
		logLevel: readLogLevel(
			settingOf("ASSAY_LOG_LEVEL"),
			env.ASSAY_LOG_LEVEL_FILE,
		),
		accessLog: readSwitch("ASSAY_ACCESS_LOG", settingOf("ASSAY_ACCESS_LOG")),
		metricsPort: readMetricsPort(settingOf("ASSAY_METRICS_PORT"), port),
		metricsHost: settingOf("ASSAY_METRICS_HOST") ?? "",
		secret: readSecretText("ASSAY_SECRET", settingOf("ASSAY_SECRET")),
		previousSecret: readSecretText(
			"ASSAY_SECRET_PREVIOUS",
			settingOf("ASSAY_SECRET_PREVIOUS"),
		),
		token: settingOf("ASSAY_TOKEN"),
		mail: readMail(settingOf("ASSAY_SMTP_URL"), settingOf("ASSAY_MAIL_FROM")),
		organizationCreation: readOrganizationCreation(
			settingOf("ASSAY_ORGANIZATION_CREATION"),
		),
		fileLimits: readFileLimits(
			settingOf("ASSAY_MAX_FILE_MB"),
			settingOf("ASSAY_MAX_FILES_GB"),
			settingOf("ASSAY_CLAMD"),
		),
		reportRetentionMonths: readMonths(
			settingOf("ASSAY_REPORT_RETENTION_MONTHS"),
		),
		backupKeyFile: settingOf("ASSAY_BACKUP_KEY_FILE"),
		backupRecipients: readRecipients(settingOf("ASSAY_BACKUP_RECIPIENTS")),
		backupIdentityFile: settingOf("ASSAY_BACKUP_IDENTITY_FILE"),
		backupKeepDays: readKeepDays(settingOf("ASSAY_BACKUP_KEEP_DAYS")),
		backupStore: readBackupStore(
			settingOf("ASSAY_BACKUP_S3_URL"),
			settingOf("ASSAY_BACKUP_S3_KEY"),
			settingOf("ASSAY_BACKUP_S3_KEEP_DAYS"),
		),
		archivePlace: readArchivePlace(
			settingOf("ASSAY_ARCHIVE_URL"),
			settingOf("ASSAY_ARCHIVE_S3_KEY"),
		),
	});
}

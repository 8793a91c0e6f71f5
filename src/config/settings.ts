import {
	DEFAULT_MAX_FILE_MB,
	DEFAULT_MAX_FILES_GB,
} from "../files/file-limits.ts";
import { LOG_LEVELS } from "../log.ts";

export const ORGANIZATION_CREATION = ["signed-in", "command-line"] as const;
export type OrganizationCreation = (typeof ORGANIZATION_CREATION)[number];

export interface Setting {
	/** Text about what the setting does, which `assay --help` shows. */
	help: string;
	/** The value that is used if the setting is absent. */
	default?: string;
	/** Text about what happens if the setting is absent and has no default. */
	without?: string;
	/**
	 * The value can also stand in a file, which the setting with `_FILE` at the end of its name
	 * names. This holds for every setting that may contain a secret, and for one that SIGHUP reads
	 * again.
	 */
	canBeInFile?: true;
}

/**
 * Every setting, in the order in which `assay --help` lists them. No other code contains the
 * default of a setting.
 */
export const SETTINGS = {
	ASSAY_HOST: { help: "address to listen on", default: "127.0.0.1" },
	ASSAY_PORT: { help: "port to listen on", default: "8080" },
	ASSAY_BASE_URL: {
		help: "address that agents and people use",
		without: "http://localhost:<port>",
	},
	ASSAY_TRUSTED_PROXIES: {
		help: "addresses or ranges of proxies whose X-Forwarded-For counts",
		without: "none",
	},
	ASSAY_ALLOWED_ORIGINS: {
		help: "origins of other websites whose pages may use API tokens here",
		without: "none",
	},
	ASSAY_OAUTH: {
		help: "on: people connect AI clients by allowing it, without a token",
		default: "off",
	},
	ASSAY_OAUTH_REGISTRATION: {
		help: "on: any program may register itself as a client of OAuth",
		default: "off",
	},
	ASSAY_OIDC_ISSUER: {
		help: "identity provider with which people sign in, such as https://login.example.com",
		without: "people sign in with passwords",
	},
	ASSAY_OIDC_CLIENT_ID: {
		help: "name of this service at the provider",
		without: "required with ASSAY_OIDC_ISSUER",
	},
	ASSAY_OIDC_CLIENT_SECRET: {
		help: "secret of this service at the provider",
		without: "required with ASSAY_OIDC_ISSUER",
		canBeInFile: true,
	},
	ASSAY_OIDC_DOMAINS: {
		help: "domains of the e-mail addresses that the provider may vouch for",
		without: "required with ASSAY_OIDC_ISSUER",
	},
	ASSAY_OIDC_NAME: {
		help: "name of the provider on the sign-in page",
		default: "single sign-on",
	},
	ASSAY_OIDC_TRUST_ADDRESSES: {
		help: "on: addresses count as verified if the provider does not say",
		default: "off",
	},
	ASSAY_OIDC_ORGANIZATION: {
		help: "id of the organization that people join at their first sign-in",
		without: "people need an account or an invitation",
	},
	ASSAY_OIDC_ROLES: {
		help: "role of those who join, and of groups, such as viewer, Security=admin",
		without: "viewer",
	},
	ASSAY_PASSWORD_SIGN_IN: {
		help: "who may sign in with a password: everybody, or only these e-mail addresses",
		default: "everybody",
	},
	ASSAY_DATA_DIR: {
		help: "folder of the embedded database and the secret",
		default: "./data",
	},
	DATABASE_URL: {
		help: "PostgreSQL to use, version 15 or newer",
		without: "the embedded one",
		canBeInFile: true,
	},
	DATABASE_REPLICA_URL: {
		help: "standby of that PostgreSQL, from which exports and reports are read on request",
		without: "all reads use DATABASE_URL",
		canBeInFile: true,
	},
	ASSAY_SECRET: {
		help: "key that signs sessions",
		without: "made and kept in the data folder",
		canBeInFile: true,
	},
	ASSAY_SECRET_PREVIOUS: {
		help: "former ASSAY_SECRET, while second factors move to the new one",
		without: "only ASSAY_SECRET counts",
		canBeInFile: true,
	},
	ASSAY_AGENT_DIR: {
		help: "folder of the agent's packages, as build:packages makes it",
		without: "only the agent as one file for Node can be downloaded",
	},
	ASSAY_SMTP_URL: {
		help: "mail server, such as smtps://user:password@mail.example.com",
		without: "no mail is sent",
		canBeInFile: true,
	},
	ASSAY_MAIL_FROM: {
		help: "sender of mails, such as Assay <assay@example.com>",
		without: "required with ASSAY_SMTP_URL",
	},
	ASSAY_OUTGOING_NETWORKS: {
		help: "private addresses or ranges that webhooks may reach",
		without: "only public addresses",
	},
	ASSAY_ORGANIZATION_CREATION: {
		help: "who may create organizations: signed-in users, or only the command-line",
		default: "signed-in",
	},
	ASSAY_REPORT_RETENTION_MONTHS: {
		help: "months to keep raw posture reports; 0 keeps them forever",
		default: "13",
	},
	ASSAY_MAX_FILE_MB: {
		help: "largest uploaded file, in MB",
		default: String(DEFAULT_MAX_FILE_MB),
	},
	ASSAY_MAX_FILES_GB: {
		help: "largest sum of an organization's uploaded files, in GB",
		default: String(DEFAULT_MAX_FILES_GB),
	},
	ASSAY_CLAMD: {
		help: "clamd that scans uploaded files, as host:port or the path of its socket",
		without: "files are not scanned",
	},
	ASSAY_BACKUP_KEY_FILE: {
		help: "file with the key that seals backups",
		without: "backups have no keyed seal",
	},
	ASSAY_BACKUP_RECIPIENTS: {
		help: "public keys of age for which backups are encrypted",
		without: "backups are not encrypted",
	},
	ASSAY_BACKUP_IDENTITY_FILE: {
		help: "file with the identities of age that decrypt backups",
		without: "encrypted backups cannot be read",
	},
	ASSAY_BACKUP_KEEP_DAYS: {
		help: "days after which `assay backup --delete-old` deletes backups in its folder; 0 keeps all",
		default: "30",
	},
	ASSAY_BACKUP_S3_URL: {
		help: "address of a bucket that speaks S3, to which backups are uploaded",
		without: "backups stay on this machine",
	},
	ASSAY_BACKUP_S3_KEY: {
		help: "access key of that bucket, as id:secret",
		without: "none",
		canBeInFile: true,
	},
	ASSAY_BACKUP_S3_KEEP_DAYS: {
		help: "days after which uploaded backups are deleted",
		without: "all are kept",
	},
	ASSAY_ARCHIVE_URL: {
		help: "folder, or address of a bucket, for closed months of raw reports as Parquet files",
		without: "no archive",
	},
	ASSAY_ARCHIVE_S3_KEY: {
		help: "access key of that bucket, as id:secret",
		without: "none",
		canBeInFile: true,
	},
	ASSAY_TOKEN: {
		help: "API token for assay call",
		without: "--token gives one",
		canBeInFile: true,
	},
	ASSAY_METRICS_PORT: {
		help: "port that serves metrics for Prometheus",
		without: "no metrics",
	},
	ASSAY_METRICS_HOST: {
		help: "address that the metrics' port listens on",
		default: "127.0.0.1",
	},
	ASSAY_LOG_LEVEL: {
		help: LOG_LEVELS.join(", "),
		default: "info",
		canBeInFile: true,
	},
	ASSAY_ACCESS_LOG: {
		help: "on: a line in the log for each request",
		default: "off",
	},
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Names of the settings whose value can stand in a file. */
export const FILE_SETTING_NAMES = SETTING_NAMES.filter(
	(name) => (SETTINGS[name] as Setting).canBeInFile,
);

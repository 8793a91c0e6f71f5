import { isIP } from "node:net";
import { resolve } from "node:path";
import { AppError } from "./errors.ts";
import { LOG_LEVELS, type LogLevel } from "./log.ts";

export interface Config {
	readonly host: string;
	/** Port to listen on. With 0, the operating system chooses a free port. */
	readonly port: number;
	/**
	 * The address that agents and people use. It is an origin, without a path and without a slash at
	 * the end.
	 */
	readonly baseUrl: string;
	readonly dataDir: string;
	/** URL of the database. Undefined means the embedded PostgreSQL in `dataDir`. */
	readonly databaseUrl: string | undefined;
	/**
	 * Addresses and ranges of proxies. The service believes the X-Forwarded-For header of these
	 * proxies.
	 */
	readonly trustedProxies: readonly string[];
	/** Origins of other websites whose pages may send requests with an API token. */
	readonly allowedOrigins: readonly string[];
	readonly logLevel: LogLevel;
	/** The port that serves metrics. Undefined means that no metrics are served. */
	readonly metricsPort: number | undefined;
	readonly metricsHost: string;
	/**
	 * Secret that signs sessions. Undefined means that the service makes one and keeps it in
	 * `dataDir`.
	 */
	readonly secret: string | undefined;
	/**
	 * Mail server and sender. Undefined means that the service sends no mail and that people pass on
	 * links themselves.
	 */
	readonly mail: MailConfig | undefined;
	/** Says who may create organizations: every signed-in user, or only the command line. */
	readonly organizationCreation: OrganizationCreation;
	/** Number of months after which raw posture reports are deleted. 0 keeps them forever. */
	readonly reportRetentionMonths: number;
	/** Addresses and ranges that are not public and that webhooks may reach. */
	readonly outgoingAllow: readonly string[];
	/** File with the key that seals backups. */
	readonly backupKeyFile: string | undefined;
}

export const ORGANIZATION_CREATION = ["signed-in", "command-line"] as const;
export type OrganizationCreation = (typeof ORGANIZATION_CREATION)[number];

export interface MailConfig {
	/** URL of the mail server. It may contain a password, so it is never shown. */
	readonly smtpUrl: string;
	/** Sender of the mails, such as "Assay <assay@example.com>". */
	readonly from: string;
	/**
	 * Says whether mails are sent only over TLS. The value is false for a mail server on this
	 * machine, and if the URL contains `?requireTLS=false` or `?ignoreTLS=true`.
	 */
	readonly requiresTls: boolean;
}

const MIN_SECRET = 32;
const MAX_RETENTION_MONTHS = 1200;

interface Setting {
	/** Text about what the setting does, which `assay --help` shows. */
	help: string;
	/** The value that is used if the setting is absent. */
	default?: string;
	/** Text about what happens if the setting is absent and has no default. */
	without?: string;
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
	ASSAY_DATA_DIR: {
		help: "folder of the embedded database and the secret",
		default: "./data",
	},
	DATABASE_URL: {
		help: "PostgreSQL to use, version 15 or newer",
		without: "the embedded one",
	},
	ASSAY_SECRET: {
		help: "key that signs sessions",
		without: "made and kept in the data folder",
	},
	ASSAY_SMTP_URL: {
		help: "mail server, such as smtps://user:password@mail.example.com",
		without: "no mail is sent",
	},
	ASSAY_MAIL_FROM: {
		help: "sender of mails, such as Assay <assay@example.com>",
		without: "required with ASSAY_SMTP_URL",
	},
	ASSAY_OUTGOING_ALLOW: {
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
	ASSAY_BACKUP_KEY_FILE: {
		help: "file with the key that seals backups",
		without: "backups have no keyed seal",
	},
	ASSAY_TOKEN: {
		help: "API token for assay call",
		without: "--token gives one",
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
	},
} as const satisfies Record<string, Setting>;

type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/**
 * Reads the configuration from `env`. An empty value counts as absent. Throws a bad_request
 * AppError that names the variable if a value is wrong or an `ASSAY_` name is unknown. A misspelled
 * setting therefore stops the start and is not silently ignored.
 */
export function readConfig(
	env: Readonly<Record<string, string | undefined>>,
): Config {
	const known: readonly string[] = SETTING_NAMES;
	for (const name of Object.keys(env)) {
		if (name.startsWith("ASSAY_") && !known.includes(name)) {
			throw new AppError(
				"bad_request",
				`${name} is not a setting of this version; the settings are ${known.join(", ")}`,
			);
		}
	}
	const settingOf = (name: SettingName): string | undefined => {
		const setting: Setting = SETTINGS[name];
		return env[name] || setting.default;
	};
	const port = readPort("ASSAY_PORT", settingOf("ASSAY_PORT")) ?? 0;
	return Object.freeze({
		host: settingOf("ASSAY_HOST") ?? "",
		port,
		baseUrl: readOrigin(settingOf("ASSAY_BASE_URL"), port),
		trustedProxies: readRanges(
			"ASSAY_TRUSTED_PROXIES",
			settingOf("ASSAY_TRUSTED_PROXIES"),
		),
		outgoingAllow: readRanges(
			"ASSAY_OUTGOING_ALLOW",
			settingOf("ASSAY_OUTGOING_ALLOW"),
		),
		allowedOrigins: readAllowedOrigins(settingOf("ASSAY_ALLOWED_ORIGINS")),
		dataDir: resolve(settingOf("ASSAY_DATA_DIR") ?? ""),
		databaseUrl: readDatabaseUrl(settingOf("DATABASE_URL")),
		logLevel: readLogLevel(settingOf("ASSAY_LOG_LEVEL")),
		metricsPort: readPort(
			"ASSAY_METRICS_PORT",
			settingOf("ASSAY_METRICS_PORT"),
		),
		metricsHost: settingOf("ASSAY_METRICS_HOST") ?? "",
		secret: readSecretText(settingOf("ASSAY_SECRET")),
		mail: readMail(settingOf("ASSAY_SMTP_URL"), settingOf("ASSAY_MAIL_FROM")),
		organizationCreation: readOrganizationCreation(
			settingOf("ASSAY_ORGANIZATION_CREATION"),
		),
		reportRetentionMonths: readMonths(
			settingOf("ASSAY_REPORT_RETENTION_MONTHS"),
		),
		backupKeyFile: settingOf("ASSAY_BACKUP_KEY_FILE"),
	});
}

function readPort(name: string, text: string | undefined): number | undefined {
	if (!text) return undefined;
	const port = Number(text);
	if (!/^\d+$/.test(text) || port > 65535) {
		throw new AppError(
			"bad_request",
			`${name} must be a whole number from 0 to 65535, not "${text}"`,
		);
	}
	return port;
}

function readOrigin(text: string | undefined, port: number): string {
	if (!text) return `http://localhost:${port}`;
	const url = URL.parse(text);
	if (
		!url ||
		!/^https?:$/.test(url.protocol) ||
		url.href !== `${url.origin}/`
	) {
		throw new AppError(
			"bad_request",
			"ASSAY_BASE_URL must be the root of an http or https address such as https://assay.example.com, without path, user or password",
		);
	}
	return url.origin;
}

function readAllowedOrigins(text: string | undefined): readonly string[] {
	const origins = readList(text);
	for (const origin of origins) {
		const url = URL.parse(origin);
		if (!url || !/^https?:$/.test(url.protocol) || url.origin !== origin) {
			throw new AppError(
				"bad_request",
				`ASSAY_ALLOWED_ORIGINS must be a comma-separated list of origins, such as https://inspector.example.com, http://localhost:6274; "${origin}" is not an origin`,
			);
		}
	}
	return Object.freeze(origins);
}

function readList(text: string | undefined): string[] {
	return (text ?? "")
		.split(",")
		.map((item) => item.trim())
		.filter((item) => item !== "");
}

function readRanges(name: string, text: string | undefined): readonly string[] {
	const ranges = readList(text);
	for (const range of ranges) {
		const [address = "", bits, ...rest] = range.split("/");
		const length = isIP(address) === 6 ? 128 : 32;
		const isRange =
			bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= length);
		if (isIP(address) === 0 || !isRange || rest.length > 0) {
			throw new AppError(
				"bad_request",
				`${name} must be a comma-separated list of addresses and ranges, such as 127.0.0.1, 10.0.0.0/8; "${range}" is neither`,
			);
		}
	}
	return Object.freeze(ranges);
}

function readDatabaseUrl(text: string | undefined): string | undefined {
	if (!text) return undefined;
	const url = /^postgres(ql)?:\/\//.test(text) ? URL.parse(text) : null;
	const hosts = [url?.hostname, url?.searchParams.get("host")].join("");
	// The message never repeats the value, because the value may contain a password. libpq accepts
	// several hosts, but our driver does not.
	if (!url || hosts.includes(",")) {
		throw new AppError(
			"bad_request",
			"DATABASE_URL must look like postgres://user:password@host:5432/database, with one host; for a PostgreSQL that fails over, name a proxy that leads to the primary",
		);
	}
	return text;
}

function readSecretText(text: string | undefined): string | undefined {
	if (!text) return undefined;
	if (text.length < MIN_SECRET) {
		throw new AppError(
			"bad_request",
			`ASSAY_SECRET must have at least ${MIN_SECRET} characters; \`openssl rand -base64 32\` makes one`,
		);
	}
	return text;
}

function readMail(
	smtpUrl: string | undefined,
	from: string | undefined,
): MailConfig | undefined {
	if (!smtpUrl) return undefined;
	// The message never repeats the value, because the value may contain a password.
	if (!/^smtps?:\/\//.test(smtpUrl) || !URL.parse(smtpUrl)?.hostname) {
		throw new AppError(
			"bad_request",
			"ASSAY_SMTP_URL must look like smtps://user:password@mail.example.com:465 or smtp://mail.example.com:587; percent-encode special characters in the password",
		);
	}
	if (!from || /\p{Cc}/u.test(from) || !/@./.test(from)) {
		throw new AppError(
			"bad_request",
			"ASSAY_MAIL_FROM must be the sender of mails, such as Assay <assay@example.com>, when ASSAY_SMTP_URL is set",
		);
	}
	return Object.freeze({ smtpUrl, from, requiresTls: requiresTls(smtpUrl) });
}

function requiresTls(smtpUrl: string): boolean {
	const { hostname, searchParams } = new URL(smtpUrl);
	const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
	return (
		!isLoopback &&
		searchParams.get("requireTLS") !== "false" &&
		searchParams.get("ignoreTLS") !== "true"
	);
}

function readOrganizationCreation(
	text: string | undefined,
): OrganizationCreation {
	const known = ORGANIZATION_CREATION.find((one) => one === text);
	if (known) return known;
	throw new AppError(
		"bad_request",
		`ASSAY_ORGANIZATION_CREATION must be one of ${ORGANIZATION_CREATION.join(", ")}, not "${text}"`,
	);
}

function readMonths(text: string | undefined): number {
	const months = Number(text);
	if (!/^\d+$/.test(text ?? "") || months > MAX_RETENTION_MONTHS) {
		throw new AppError(
			"bad_request",
			`ASSAY_REPORT_RETENTION_MONTHS must be a whole number of months from 1 to ${MAX_RETENTION_MONTHS}, or 0 to keep raw reports forever, not "${text}"`,
		);
	}
	return months;
}

function readLogLevel(text: string | undefined): LogLevel {
	const level = LOG_LEVELS.find((known) => known === text);
	if (!level) {
		throw new AppError(
			"bad_request",
			`ASSAY_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}, not "${text}"`,
		);
	}
	return level;
}

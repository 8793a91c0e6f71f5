import { isIP } from "node:net";
import { resolve } from "node:path";
import { AppError } from "./errors.ts";
import { LOG_LEVELS, type LogLevel } from "./log.ts";

export interface Config {
	readonly host: string;
	/** 0 lets the system choose a free port. */
	readonly port: number;
	/** The address agents and people use: an origin without a path or trailing slash. */
	readonly baseUrl: string;
	readonly dataDir: string;
	/** Undefined: the embedded PostgreSQL in `dataDir`. */
	readonly databaseUrl: string | undefined;
	/** Proxies that are believed when they say whom a request is from: addresses and ranges. */
	readonly trustedProxies: readonly string[];
	readonly logLevel: LogLevel;
	/** Where the metrics are; undefined: nowhere. */
	readonly metricsPort: number | undefined;
	/** Undefined: kept in `dataDir`. */
	readonly secret: string | undefined;
	/** Undefined: no mail is sent, and links are passed on by hand. */
	readonly mail: MailConfig | undefined;
	/** Raw posture reports older than this many months are dropped; 0: never. */
	readonly reportRetentionMonths: number;
}

export interface MailConfig {
	/** May hold a password: never shown. */
	readonly smtpUrl: string;
	/** "Assay <assay@example.com>" */
	readonly from: string;
}

const MIN_SECRET = 32;
const DEFAULT_RETENTION_MONTHS = 13;
const MAX_RETENTION_MONTHS = 1200;

/** Every setting of ours; `assay --help` explains each. */
export const SETTINGS = [
	"ASSAY_HOST",
	"ASSAY_PORT",
	"ASSAY_BASE_URL",
	"ASSAY_TRUSTED_PROXIES",
	"ASSAY_DATA_DIR",
	"ASSAY_LOG_LEVEL",
	"ASSAY_METRICS_PORT",
	"ASSAY_SECRET",
	"ASSAY_SMTP_URL",
	"ASSAY_MAIL_FROM",
	"ASSAY_REPORT_RETENTION_MONTHS",
	// For `assay call` alone; a shell that has it may start the service too.
	"ASSAY_TOKEN",
] as const;

/**
 * The configuration in `env`. Throws a bad_request AppError naming the variable
 * when a value is wrong or an `ASSAY_` name is not known, so that a misspelt
 * setting stops the boot instead of being ignored. An empty value counts as absent.
 */
export function readConfig(
	env: Readonly<Record<string, string | undefined>>,
): Config {
	for (const name of Object.keys(env)) {
		const known: readonly string[] = SETTINGS;
		if (name.startsWith("ASSAY_") && !known.includes(name)) {
			throw new AppError(
				"bad_request",
				`${name} is not a setting of this version; known are ${SETTINGS.join(", ")} and DATABASE_URL`,
			);
		}
	}
	const host = env.ASSAY_HOST || "127.0.0.1";
	const port = readPort("ASSAY_PORT", env.ASSAY_PORT) ?? 8080;
	return Object.freeze({
		host,
		port,
		baseUrl: readOrigin(env.ASSAY_BASE_URL, port),
		trustedProxies: readProxies(env.ASSAY_TRUSTED_PROXIES),
		dataDir: resolve(env.ASSAY_DATA_DIR || "data"),
		databaseUrl: readDatabaseUrl(env.DATABASE_URL),
		logLevel: readLogLevel(env.ASSAY_LOG_LEVEL),
		metricsPort: readPort("ASSAY_METRICS_PORT", env.ASSAY_METRICS_PORT),
		secret: readSecretText(env.ASSAY_SECRET),
		mail: readMail(env.ASSAY_SMTP_URL, env.ASSAY_MAIL_FROM),
		reportRetentionMonths: readMonths(env.ASSAY_REPORT_RETENTION_MONTHS),
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

function readProxies(text: string | undefined): readonly string[] {
	const ranges = (text ?? "")
		.split(",")
		.map((range) => range.trim())
		.filter((range) => range !== "");
	for (const range of ranges) {
		const [address = "", bits, ...rest] = range.split("/");
		const length = isIP(address) === 6 ? 128 : 32;
		const isRange =
			bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= length);
		if (isIP(address) === 0 || !isRange || rest.length > 0) {
			throw new AppError(
				"bad_request",
				`ASSAY_TRUSTED_PROXIES must be addresses and ranges with commas between, such as 127.0.0.1, 10.0.0.0/8; "${range}" is none`,
			);
		}
	}
	return Object.freeze(ranges);
}

function readDatabaseUrl(text: string | undefined): string | undefined {
	if (!text) return undefined;
	const url = /^postgres(ql)?:\/\//.test(text) ? URL.parse(text) : null;
	const hosts = [url?.hostname, url?.searchParams.get("host")].join("");
	// The value is never repeated: it may hold a password. Several hosts, as libpq takes them, the driver does not know.
	if (!url || hosts.includes(",")) {
		throw new AppError(
			"bad_request",
			"DATABASE_URL must look like postgres://user:password@host:5432/database, with one host; where PostgreSQL fails over that is a proxy which knows the primary",
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
	// The value is never repeated: it may hold a password.
	if (!/^smtps?:\/\//.test(smtpUrl) || !URL.parse(smtpUrl)?.hostname) {
		throw new AppError(
			"bad_request",
			"ASSAY_SMTP_URL must look like smtps://user:password@mail.example.com:465 or smtp://mail.example.com:587, with special characters of the password percent-encoded",
		);
	}
	if (!from || !/^[^\p{Cc}]*@[^\p{Cc}]+$/u.test(from)) {
		throw new AppError(
			"bad_request",
			"ASSAY_MAIL_FROM must be who mails come from, such as Assay <assay@example.com>; ASSAY_SMTP_URL needs it",
		);
	}
	return Object.freeze({ smtpUrl, from });
}

function readMonths(text: string | undefined): number {
	if (!text) return DEFAULT_RETENTION_MONTHS;
	const months = Number(text);
	if (!/^\d+$/.test(text) || months > MAX_RETENTION_MONTHS) {
		throw new AppError(
			"bad_request",
			`ASSAY_REPORT_RETENTION_MONTHS must be a whole number of months from 1 to ${MAX_RETENTION_MONTHS}, or 0 to keep raw reports for ever, not "${text}"`,
		);
	}
	return months;
}

function readLogLevel(text: string | undefined): LogLevel {
	const level = LOG_LEVELS.find((known) => known === (text || "info"));
	if (!level) {
		throw new AppError(
			"bad_request",
			`ASSAY_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}, not "${text}"`,
		);
	}
	return level;
}

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { tlsModeOf } from "../db/postgres-tls.ts";
import { AppError } from "../errors.ts";
import { LOG_LEVELS, type LogLevel } from "../log.ts";
import type { MailConfig } from "./config.ts";
import {
	ORGANIZATION_CREATION,
	type OrganizationCreation,
	type SettingName,
} from "./settings.ts";

const MIN_SECRET = 32;
const MAX_FILE_BYTES = 64 * 1024;
const MAX_RETENTION_MONTHS = 1200;

/**
 * Returns the value of a setting that may stand in a file, without the line break at its end. The
 * messages name the file and never repeat its content.
 */
export function readValueOrFile(
	env: Readonly<Record<string, string | undefined>>,
	name: SettingName,
): string | undefined {
	const file = env[`${name}_FILE`];
	if (!file) return env[name];
	if (env[name]) {
		throw new AppError(
			"bad_request",
			`${name} and ${name}_FILE are both set; set only one of them`,
		);
	}
	let text: string;
	try {
		text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
	} catch (error) {
		const { code } = error as { code?: string };
		const advice =
			code === "EACCES"
				? "; let the service's user read it, for example with chgrp and chmod 640, and enter the folders above it"
				: "";
		throw new AppError(
			"bad_request",
			`${name}_FILE must name a file that this user can read, not "${file}" (${code})${advice}`,
		);
	}
	if (text === "" || text.length > MAX_FILE_BYTES) {
		throw new AppError(
			"bad_request",
			`${name}_FILE must name a file that contains only the value of ${name}; "${file}" ${text === "" ? "is empty" : "is too long"}`,
		);
	}
	return text;
}

export function readPort(
	name: string,
	text: string | undefined,
): number | undefined {
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

/** Reads the port of the metrics, which must differ from the port of the service. */
export function readMetricsPort(
	text: string | undefined,
	servicePort: number,
): number | undefined {
	const port = readPort("ASSAY_METRICS_PORT", text);
	if (port && port === servicePort) {
		throw new AppError(
			"bad_request",
			`ASSAY_METRICS_PORT must differ from ASSAY_PORT; both are ${port}`,
		);
	}
	return port;
}

export function readOrigin(text: string | undefined, port: number): string {
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

export function readAllowedOrigins(
	text: string | undefined,
): readonly string[] {
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

export function readList(text: string | undefined): string[] {
	return (text ?? "")
		.split(",")
		.map((item) => item.trim())
		.filter((item) => item !== "");
}

export function readRanges(
	name: string,
	text: string | undefined,
): readonly string[] {
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

/**
 * Returns the public keys of age. Only their form is checked here; a command that encrypts checks
 * the rest.
 */
export function readRecipients(text: string | undefined): readonly string[] {
	const recipients = readList(text);
	for (const recipient of recipients) {
		if (/^age1[0-9a-z]+$/.test(recipient)) continue;
		throw new AppError(
			"bad_request",
			"ASSAY_BACKUP_RECIPIENTS must be a comma-separated list of public keys of age, such as age1…; an identity (AGE-SECRET-KEY-1…) must not be there",
		);
	}
	return Object.freeze(recipients);
}

/** `leadsTo` says where a proxy in front of several servers must lead. */
export function readDatabaseUrl(
	name: SettingName,
	text: string | undefined,
	leadsTo: string,
): string | undefined {
	if (!text) return undefined;
	const url = /^postgres(ql)?:\/\//.test(text) ? URL.parse(text) : null;
	const hosts = [url?.hostname, url?.searchParams.get("host")].join("");
	// The message never repeats the value, because the value may contain a password. libpq accepts
	// several hosts, but our driver does not.
	if (!url || hosts.includes(",")) {
		throw new AppError(
			"bad_request",
			`${name} must look like postgres://user:password@host:5432/database, with one host; percent-encode special characters in the user and the password, such as %2F for a slash; for a PostgreSQL that fails over, name a proxy that leads to ${leadsTo}`,
		);
	}
	tlsModeOf(text, name);
	return text;
}

/** Reads the address of a replica. Only a PostgreSQL of the operator's own can have one. */
export function readReplicaUrl(
	text: string | undefined,
	databaseUrl: string | undefined,
): string | undefined {
	const url = readDatabaseUrl("DATABASE_REPLICA_URL", text, "a standby");
	if (!url || databaseUrl) return url;
	throw new AppError(
		"bad_request",
		"DATABASE_REPLICA_URL must name a replica of the PostgreSQL in DATABASE_URL, which is not set; the embedded PostgreSQL has no replicas",
	);
}

export function readSecretText(
	name: string,
	text: string | undefined,
): string | undefined {
	if (!text) return undefined;
	if (text.length < MIN_SECRET) {
		throw new AppError(
			"bad_request",
			`${name} must have at least ${MIN_SECRET} characters; \`openssl rand -base64 32\` makes one`,
		);
	}
	return text;
}

export function readMail(
	smtpUrl: string | undefined,
	from: string | undefined,
): MailConfig | undefined {
	if (!smtpUrl) return undefined;
	// The message never repeats the value, because the value may contain a password. A path is the rest
	// of a password with a slash that was not percent-encoded.
	const url = /^smtps?:\/\//.test(smtpUrl) ? URL.parse(smtpUrl) : null;
	if (!url?.hostname || !["", "/"].includes(url.pathname) || url.hash) {
		throw new AppError(
			"bad_request",
			"ASSAY_SMTP_URL must look like smtps://user:password@mail.example.com:465 or smtp://mail.example.com:587; percent-encode special characters in the user and the password, such as %2F for a slash",
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

export function requiresTls(smtpUrl: string): boolean {
	const { protocol, hostname, searchParams } = new URL(smtpUrl);
	if (protocol === "smtps:") return true;
	const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
	return (
		!isLoopback &&
		searchParams.get("requireTLS") !== "false" &&
		searchParams.get("ignoreTLS") !== "true"
	);
}

export function readOrganizationCreation(
	text: string | undefined,
): OrganizationCreation {
	const known = ORGANIZATION_CREATION.find((one) => one === text);
	if (known) return known;
	throw new AppError(
		"bad_request",
		`ASSAY_ORGANIZATION_CREATION must be one of ${ORGANIZATION_CREATION.join(", ")}, not "${text}"`,
	);
}

export function readMonths(text: string | undefined): number {
	const months = Number(text);
	if (!/^\d+$/.test(text ?? "") || months > MAX_RETENTION_MONTHS) {
		throw new AppError(
			"bad_request",
			`ASSAY_REPORT_RETENTION_MONTHS must be a whole number of months from 1 to ${MAX_RETENTION_MONTHS}, or 0 to keep raw reports forever, not "${text}"`,
		);
	}
	return months;
}

/** `file` is the file that contains the level, if there is one. */
export function readLogLevel(
	text: string | undefined,
	file: string | undefined,
): LogLevel {
	const level = LOG_LEVELS.find((known) => known === text);
	if (!level) {
		const levels = LOG_LEVELS.join(", ");
		throw new AppError(
			"bad_request",
			file
				? `ASSAY_LOG_LEVEL_FILE names "${file}", which must contain only one of ${levels}`
				: `ASSAY_LOG_LEVEL must be one of ${levels}, not "${text}"`,
		);
	}
	return level;
}

export function readSwitch(name: string, text: string | undefined): boolean {
	if (text === "on" || text === "off") return text === "on";
	throw new AppError("bad_request", `${name} must be on or off, not "${text}"`);
}

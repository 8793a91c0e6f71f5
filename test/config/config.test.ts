import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { SETTING_NAMES } from "../../src/config/settings.ts";
import { rejection } from "./rejection.ts";

test("the table in README.md lists exactly the settings that exist", () => {
	const readme = readFileSync(
		join(import.meta.dirname, "../../README.md"),
		"utf8",
	);
	const named = readme
		.split("\n")
		.filter((line) => line.startsWith("| `"))
		.flatMap((line) => line.split("|")[1]?.match(/`[A-Z0-9_]+`/g) ?? [])
		.map((name) => name.replaceAll("`", ""));
	expect(named.toSorted()).toEqual(SETTING_NAMES.toSorted());
});

describe("without settings", () => {
	const defaults = {
		host: "127.0.0.1",
		port: 8080,
		baseUrl: "http://localhost:8080",
		dataDir: resolve("data"),
		databaseUrl: undefined,
		trustedProxies: [],
		allowedOrigins: [],
		outgoingAllow: [],
		backupRecipients: [],
		backupKeepDays: 30,
		logLevel: "info",
		accessLog: false,
		metricsHost: "127.0.0.1",
		organizationCreation: "signed-in",
		fileLimits: { maxFileBytes: 26_214_400, maxTotalBytes: 5_368_709_120 },
		reportRetentionMonths: 13,
		oauth: false,
		oauthRegistration: false,
		passwordSignIn: "everybody",
	};

	test("the defaults apply", () => {
		expect(readConfig({})).toEqual(defaults);
	});

	test("an empty or undefined value counts as absent", () => {
		const names = ["HOST", "PORT", "BASE_URL", "DATA_DIR", "LOG_LEVEL"];
		for (const value of ["", undefined]) {
			const env = Object.fromEntries(
				names.map((name) => [`ASSAY_${name}`, value]),
			);
			expect(readConfig({ ...env, DATABASE_URL: value })).toEqual(defaults);
		}
	});

	test("variables of other programs are ignored", () => {
		const env = {
			PATH: "/bin",
			PORT: "1",
			ASSAYER: "x",
			assay_port: "1",
			MY_ASSAY_X: "",
		};
		expect(readConfig(env)).toEqual(defaults);
	});
});

test("every setting is read", () => {
	expect(
		readConfig({
			ASSAY_HOST: "::",
			ASSAY_PORT: "0",
			ASSAY_BASE_URL: "https://assay.example.com",
			ASSAY_TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8,fd00::/8,",
			ASSAY_ALLOWED_ORIGINS: "https://a.example.com, http://localhost:6274",
			ASSAY_DATA_DIR: "/var/lib/assay",
			ASSAY_LOG_LEVEL: "trace",
			ASSAY_ACCESS_LOG: "on",
			ASSAY_METRICS_PORT: "9090",
			ASSAY_METRICS_HOST: "10.0.0.5",
			ASSAY_SECRET_PREVIOUS: "p".repeat(32),
			ASSAY_TOKEN: "asy_pat_x",
			ASSAY_SMTP_URL: "smtps://u:p@mail.example.com",
			ASSAY_MAIL_FROM: "Assay <assay@example.com>",
			ASSAY_ORGANIZATION_CREATION: "command-line",
			ASSAY_REPORT_RETENTION_MONTHS: "0",
			ASSAY_MAX_FILE_MB: "1",
			ASSAY_MAX_FILES_GB: "2",
			ASSAY_CLAMD: "[::1]:3310",
			ASSAY_BACKUP_KEY_FILE: "/etc/assay/backup.key",
			ASSAY_BACKUP_KEEP_DAYS: "90",
			ASSAY_BACKUP_RECIPIENTS: "age1a, age1b",
			ASSAY_BACKUP_IDENTITY_FILE: "/etc/assay/identity",
			ASSAY_BACKUP_S3_URL: "https://s3.example.com/bucket/a/b/?region=eu-1",
			ASSAY_BACKUP_S3_KEY: "id:se:cret",
			ASSAY_BACKUP_S3_KEEP_DAYS: "90",
			ASSAY_ARCHIVE_URL: "file:///srv/archive",
			ASSAY_OUTGOING_NETWORKS: "10.0.0.0/8, ::1",
			ASSAY_OAUTH: "on",
			ASSAY_OAUTH_REGISTRATION: "on",
			DATABASE_URL: "postgresql://u:p@h/d",
			DATABASE_REPLICA_URL: "postgresql://u:p@standby/d?sslmode=require",
		}),
	).toEqual({
		host: "::",
		port: 0,
		baseUrl: "https://assay.example.com",
		trustedProxies: ["127.0.0.1", "10.0.0.0/8", "fd00::/8"],
		allowedOrigins: ["https://a.example.com", "http://localhost:6274"],
		dataDir: "/var/lib/assay",
		databaseUrl: "postgresql://u:p@h/d",
		replicaUrl: "postgresql://u:p@standby/d?sslmode=require",
		logLevel: "trace",
		metricsPort: 9090,
		accessLog: true,
		previousSecret: "p".repeat(32),
		token: "asy_pat_x",
		metricsHost: "10.0.0.5",
		mail: {
			smtpUrl: "smtps://u:p@mail.example.com",
			from: "Assay <assay@example.com>",
			requiresTls: true,
		},
		organizationCreation: "command-line",
		reportRetentionMonths: 0,
		fileLimits: {
			maxFileBytes: 1_048_576,
			maxTotalBytes: 2_147_483_648,
			scanner: { host: "::1", port: 3310 },
		},
		backupKeyFile: "/etc/assay/backup.key",
		backupRecipients: ["age1a", "age1b"],
		backupKeepDays: 90,
		backupIdentityFile: "/etc/assay/identity",
		backupStore: {
			folder: {
				origin: "https://s3.example.com",
				bucket: "bucket",
				prefix: "a/b/",
				region: "eu-1",
				credentials: { id: "id", secret: "se:cret" },
				settings: { url: "ASSAY_BACKUP_S3_URL", key: "ASSAY_BACKUP_S3_KEY" },
			},
			keepDays: 90,
		},
		archivePlace: { folder: "/srv/archive" },
		outgoingAllow: ["10.0.0.0/8", "::1"],
		oauth: true,
		oauthRegistration: true,
		passwordSignIn: "everybody",
	});
});

test("an archive is a folder or a bucket with its key, and an error says which setting is wrong", () => {
	const url = "https://s3.example.com/bucket/old";
	const bucket = { ASSAY_ARCHIVE_URL: url, ASSAY_ARCHIVE_S3_KEY: "id:hunter2" };
	expect(readConfig(bucket).archivePlace).toMatchObject({
		s3: { bucket: "bucket", prefix: "old/" },
	});
	for (const [env, name] of [
		[{ ASSAY_ARCHIVE_URL: "archive" }, "ASSAY_ARCHIVE_URL"],
		[{ ASSAY_ARCHIVE_URL: "s3://bucket" }, "ASSAY_ARCHIVE_URL"],
		[{ ASSAY_ARCHIVE_URL: "file://host/x" }, "ASSAY_ARCHIVE_URL"],
		[{ ASSAY_ARCHIVE_URL: url }, "ASSAY_ARCHIVE_S3_KEY"],
		[{ ASSAY_ARCHIVE_S3_KEY: "id:hunter2" }, "ASSAY_ARCHIVE_URL"],
		[{ ...bucket, ASSAY_ARCHIVE_URL: "/srv" }, "ASSAY_ARCHIVE_S3_KEY"],
	] as const) {
		const message = rejection(env);
		expect(message).toContain(name);
		expect(message).not.toContain("hunter2");
	}
});

test("a mail server requires a sender", () => {
	const ASSAY_SMTP_URL = "smtp://mail.example.com";
	for (const from of ["", "Assay", "a@example.com\nBcc: b@example.com"]) {
		expect(rejection({ ASSAY_SMTP_URL, ASSAY_MAIL_FROM: from })).toContain(
			"ASSAY_MAIL_FROM",
		);
	}
});

test("a store for backups needs an address, a key and a number of days that make sense", () => {
	const store = {
		ASSAY_BACKUP_S3_URL: "http://127.0.0.1:9000/bucket",
		ASSAY_BACKUP_S3_KEY: "id:hunter2",
	};
	expect(readConfig(store).backupStore).toMatchObject({
		folder: { prefix: "", region: "us-east-1" },
		keepDays: undefined,
	});
	for (const [name, value] of [
		["ASSAY_BACKUP_S3_URL", ""],
		["ASSAY_BACKUP_S3_URL", "s3://bucket"],
		["ASSAY_BACKUP_S3_URL", "https://s3.example.com"],
		["ASSAY_BACKUP_S3_URL", "https://id:hunter2@s3.example.com/bucket"],
		["ASSAY_BACKUP_S3_URL", "https://s3.example.com/bucket?reigon=eu"],
		["ASSAY_BACKUP_S3_URL", "https://s3.example.com/%ff"],
		["ASSAY_BACKUP_S3_KEY", ""],
		["ASSAY_BACKUP_S3_KEY", "hunter2"],
		["ASSAY_BACKUP_KEEP_DAYS", "3651"],
		["ASSAY_BACKUP_KEEP_DAYS", "30d"],
		["ASSAY_BACKUP_S3_KEEP_DAYS", "0"],
		["ASSAY_BACKUP_S3_KEEP_DAYS", "3651"],
		["ASSAY_BACKUP_S3_KEEP_DAYS", "30d"],
	] as const) {
		const message = rejection({ ...store, [name]: value });
		expect(message, value).toContain(name);
		expect(message, value).not.toContain("hunter2");
	}
});

test("the metrics cannot have the port of the service, but both may take any free port", () => {
	const ports = (port: string) => ({
		ASSAY_PORT: port,
		ASSAY_METRICS_PORT: port,
	});
	expect(rejection(ports("9090"))).toBe(
		"ASSAY_METRICS_PORT must differ from ASSAY_PORT; both are 9090",
	);
	expect(readConfig(ports("0")).metricsPort).toBe(0);
});

test.each([
	"ASSAY_HOTS",
	"ASSAY_",
	"ASSAY_port",
	"ASSAY_PORT_",
	"ASSAY_DATABASE_URL",
])("the message for the unknown name %s repeats the name but not its value", (name) => {
	for (const value of ["hunter2", ""]) {
		const message = rejection({ [name]: value });
		expect(message).toContain(name);
		expect(message).not.toContain("hunter2");
	}
});

test.each([
	["ASSAY_HOTS", "; did you mean ASSAY_HOST?"],
	["ASSAY_port", "; did you mean ASSAY_PORT?"],
	["ASSAY_BASEURL", "; did you mean ASSAY_BASE_URL?"],
	["ASSAY_DATABASE_URL", "; did you mean DATABASE_URL?"],
	["ASSAY_DATABASE_URL_FILE", "; did you mean DATABASE_URL_FILE?"],
	["ASSAY_SMTP_HOST", "; did you mean ASSAY_SMTP_URL?"],
	["ASSAY_SECERT_FILE", "; did you mean ASSAY_SECRET_FILE?"],
	[
		"ASSAY_METRICS_POST",
		"; did you mean ASSAY_METRICS_PORT or ASSAY_METRICS_HOST?",
	],
])("for the unknown name %s the message suggests the nearest settings, and says where all are listed", (name, suggestion) => {
	const message = rejection({ [name]: "x" });
	expect(message).toContain(`${name} is not a setting of this version`);
	expect(message).toContain(suggestion);
	expect(message).toContain("--help` and README.md list the settings");
	expect(message.length).toBeLessThan(200);
});

test("a name that resembles no setting gets no suggestion", () => {
	for (const name of ["ASSAY_", "ASSAY_X", "ASSAY_COLOUR_OF_THE_SKY"]) {
		expect(rejection({ [name]: "x" })).not.toContain("did you mean");
	}
});

describe("a wrong value stops the start, and the message names the setting:", () => {
	const wrong = {
		ASSAY_ALLOWED_ORIGINS: [
			"*",
			"null",
			"inspector.example.com",
			"https://inspector.example.com/",
			"https://inspector.example.com/path",
			"HTTPS://inspector.example.com",
			"ws://inspector.example.com",
		],
		ASSAY_PORT: [
			"-1",
			"65536",
			"8080x",
			"1.5",
			"0x50",
			"1e3",
			" 80",
			"http",
			"８０",
		],
		ASSAY_BASE_URL: [
			"assay.example.com",
			"localhost:8080",
			"ftp://example.com",
			"https://example.com/assay",
			"https://example.com/?a=b",
			"https://example.com/#a",
			"https://user:pass@example.com",
			"https://",
			"nonsense",
		],
		ASSAY_SECRET: ["hunter2", "x".repeat(31)],
		ASSAY_SECRET_PREVIOUS: ["hunter2"],
		ASSAY_SMTP_URL: [
			"mail.example.com",
			"https://mail.example.com",
			"smtp://",
			// The password is p@ss/word.
			"smtps://user:p@ss/word@mail.example.com",
		],
		ASSAY_REPORT_RETENTION_MONTHS: ["-1", "1201", "13m", "1.5", "never"],
		ASSAY_MAX_FILE_MB: ["0", "1025", "25MB", "-1"],
		ASSAY_MAX_FILES_GB: ["0", "10001", "5.5"],
		ASSAY_CLAMD: ["clamd", "clamd:0", "clamd:65536", "tcp://clamd:3310"],
		ASSAY_ACCESS_LOG: ["1", "true", "ON"],
		ASSAY_LOG_LEVEL: ["verbose", "INFO", "0", "toString"],
		DATABASE_REPLICA_URL: [
			"mysql://h/d",
			"postgres://u:p@one,two/d",
			"postgres://u:p@one/d?sslmode=prefer",
			"postgres://u:p@without-a-primary/d",
		],
		DATABASE_URL: [
			"mysql://h/d",
			"h/d",
			"postgres:/h",
			"nonsense",
			"postgres://u:p@one:5432,two:5432/d",
			"postgres://u:p@one,two/d",
			"postgres:///d?host=one,two",
		],
	};
	test.each(
		Object.entries(wrong).flatMap(([name, values]) =>
			values.map((value) => [name, value] as const),
		),
	)("%s=%j", (name, value) => {
		expect(rejection({ [name]: value })).toContain(name);
	});
});

test.each([
	["https://assay.example.com/", "https://assay.example.com"],
	["HTTPS://Assay.Example.com:443", "https://assay.example.com"],
	["http://[::1]:8080", "http://[::1]:8080"],
])("ASSAY_BASE_URL %j is the origin %j", (text, origin) => {
	expect(readConfig({ ASSAY_BASE_URL: text }).baseUrl).toBe(origin);
});

test("a message never contains a password", () => {
	for (const env of [
		{ DATABASE_URL: "mysql://user:hunter2@host/db" },
		{ DATABASE_URL: "postgres://user:hunter2@host:port/db" },
		{ DATABASE_URL: "postgres://user:hunter2/x@host/db" },
		{ DATABASE_URL: "postgres://user:hunter2#@host/db" },
		{ DATABASE_URL: " postgres://user:hunter2@host/db" },
		{ DATABASE_REPLICA_URL: "mysql://user:hunter2@host/db" },
		{ DATABASE_REPLICA_URL: "postgres://user:hunter2@host/db" },
		{ ASSAY_BASE_URL: "https://user:hunter2@example.com" },
		{ ASSAY_SMTP_URL: "smtp://user:hunter2@host:port" },
		{ ASSAY_SMTP_URL: "smtp://user:p@ss/hunter2@host" },
		{ ASSAY_SMTP_URL: "smtp://user:hunter2@host" },
	]) {
		expect(rejection(env), Object.values(env)[0]).not.toContain("hunter2");
	}
});

test("a configuration cannot be changed", () => {
	const config = readConfig({}) as { port: number };
	expect(() => {
		config.port = 1;
	}).toThrow(TypeError);
});

import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { AppError } from "../src/errors.ts";

/** The message with which `env` is refused. */
function refusal(env: Record<string, string>): string {
	try {
		readConfig(env);
	} catch (error) {
		expect(error).toBeInstanceOf(AppError);
		expect((error as AppError).code).toBe("bad_request");
		return (error as AppError).message;
	}
	throw new Error(`not refused: ${JSON.stringify(env)}`);
}

describe("without settings", () => {
	const defaults = {
		host: "127.0.0.1",
		port: 8080,
		baseUrl: "http://localhost:8080",
		dataDir: resolve("data"),
		databaseUrl: undefined,
		trustedProxies: [],
		logLevel: "info",
		reportRetentionMonths: 13,
	};

	test("the defaults hold", () => {
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

	test("what is not ours is left alone", () => {
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
			ASSAY_DATA_DIR: "/var/lib/assay",
			ASSAY_LOG_LEVEL: "trace",
			ASSAY_METRICS_PORT: "9090",
			ASSAY_SMTP_URL: "smtps://u:p@mail.example.com",
			ASSAY_MAIL_FROM: "Assay <assay@example.com>",
			ASSAY_REPORT_RETENTION_MONTHS: "0",
			DATABASE_URL: "postgresql://u:p@h/d",
		}),
	).toEqual({
		host: "::",
		port: 0,
		baseUrl: "https://assay.example.com",
		trustedProxies: ["127.0.0.1", "10.0.0.0/8", "fd00::/8"],
		dataDir: "/var/lib/assay",
		databaseUrl: "postgresql://u:p@h/d",
		logLevel: "trace",
		metricsPort: 9090,
		mail: {
			smtpUrl: "smtps://u:p@mail.example.com",
			from: "Assay <assay@example.com>",
		},
		reportRetentionMonths: 0,
	});
});

test("a mail server needs somebody whom mails come from", () => {
	const ASSAY_SMTP_URL = "smtp://mail.example.com";
	for (const from of ["", "Assay", "a@example.com\nBcc: b@example.com"]) {
		expect(refusal({ ASSAY_SMTP_URL, ASSAY_MAIL_FROM: from })).toContain(
			"ASSAY_MAIL_FROM",
		);
	}
});

test.each([
	"ASSAY_HOTS",
	"ASSAY_",
	"ASSAY_port",
	"ASSAY_PORT_",
	"ASSAY_DATABASE_URL",
])("the unknown name %s stops the start and is named, its value is not", (name) => {
	for (const value of ["hunter2", ""]) {
		const message = refusal({ [name]: value });
		expect(message).toContain(name);
		expect(message).not.toContain("hunter2");
	}
});

describe("a wrong value stops the start and its name is told:", () => {
	const wrong = {
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
		ASSAY_SMTP_URL: ["mail.example.com", "https://mail.example.com", "smtp://"],
		ASSAY_REPORT_RETENTION_MONTHS: ["-1", "1201", "13m", "1.5", "never"],
		ASSAY_LOG_LEVEL: ["verbose", "INFO", "0", "toString"],
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
		expect(refusal({ [name]: value })).toContain(name);
	});
});

test.each([
	["https://assay.example.com/", "https://assay.example.com"],
	["HTTPS://Assay.Example.com:443", "https://assay.example.com"],
	["http://[::1]:8080", "http://[::1]:8080"],
])("ASSAY_BASE_URL %j is the origin %j", (text, origin) => {
	expect(readConfig({ ASSAY_BASE_URL: text }).baseUrl).toBe(origin);
});

test("a password never stands in a message", () => {
	for (const env of [
		{ DATABASE_URL: "mysql://user:hunter2@host/db" },
		{ DATABASE_URL: "postgres://user:hunter2@host:port/db" },
		{ DATABASE_URL: "postgres://user:hunter2/x@host/db" },
		{ DATABASE_URL: "postgres://user:hunter2#@host/db" },
		{ DATABASE_URL: " postgres://user:hunter2@host/db" },
		{ ASSAY_BASE_URL: "https://user:hunter2@example.com" },
		{ ASSAY_SMTP_URL: "smtp://user:hunter2@host:port" },
		{ ASSAY_SMTP_URL: "smtp://user:hunter2@host" },
	]) {
		expect(refusal(env), Object.values(env)[0]).not.toContain("hunter2");
	}
});

test("a configuration cannot be changed", () => {
	const config = readConfig({}) as { port: number };
	expect(() => {
		config.port = 1;
	}).toThrow(TypeError);
});

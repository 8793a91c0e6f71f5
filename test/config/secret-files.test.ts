import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { FILE_SETTING_NAMES } from "../../src/config/settings.ts";
import { rejection } from "./rejection.ts";

const NOBODY = 65_534;

describe("a secret and the log level can stand in a file, which the setting with _FILE names:", () => {
	const folder = mkdtempSync(join(tmpdir(), "secrets-"));
	afterAll(() => rmSync(folder, { recursive: true }));
	const write = (name: string, content: string) => {
		const file = join(folder, name);
		writeFileSync(file, content);
		return file;
	};

	test.each([
		["DATABASE_URL", "postgres://u:hunter2@h/d", "databaseUrl"],
		["ASSAY_SECRET", "s".repeat(32), "secret"],
		["ASSAY_SECRET_PREVIOUS", "p".repeat(32), "previousSecret"],
		["ASSAY_TOKEN", "asy_pat_x", "token"],
		["ASSAY_LOG_LEVEL", "warn", "logLevel"],
	] as const)("%s_FILE", (name, value, key) => {
		for (const end of ["", "\n", "\r\n"]) {
			const file = write(name, `${value}${end}`);
			expect(readConfig({ [`${name}_FILE`]: file })[key]).toBe(value);
		}
	});

	test("DATABASE_REPLICA_URL_FILE", () => {
		const { replicaUrl } = readConfig({
			DATABASE_URL: "postgres://u:p@one/d",
			DATABASE_REPLICA_URL_FILE: write("replica", "postgres://u:p@two/d\n"),
		});
		expect(replicaUrl).toBe("postgres://u:p@two/d");
	});

	test("ASSAY_SMTP_URL_FILE", () => {
		const file = write("smtp", "smtps://u:p@mail.example.com\n");
		const { mail } = readConfig({
			ASSAY_SMTP_URL_FILE: file,
			ASSAY_MAIL_FROM: "assay@example.com",
		});
		expect(mail?.smtpUrl).toBe("smtps://u:p@mail.example.com");
	});

	test.each(
		FILE_SETTING_NAMES,
	)("%s_FILE that is missing, empty, too long or set beside the value is rejected", (name) => {
		const setting = `${name}_FILE`;
		const missing = join(folder, "missing");
		expect(rejection({ [setting]: missing })).toMatch(
			new RegExp(`^${setting} .*missing.*ENOENT`),
		);
		for (const [content, reason] of [
			["", "is empty"],
			["\n", "is empty"],
			["hunter2".repeat(10_000), "is too long"],
		] as const) {
			const message = rejection({ [setting]: write("bad", content) });
			expect(message).toContain(setting);
			expect(message).toContain(reason);
			expect(message).not.toContain("hunter2");
		}
		const both = { [setting]: missing, [name]: "hunter2".repeat(5) };
		expect(rejection(both)).toBe(
			`${name} and ${setting} are both set; set only one of them`,
		);
	});

	test("a file that this user cannot read leads to its mode", () => {
		const file = write("closed", "s".repeat(32));
		chmodSync(file, 0o000);
		// Root can read every file.
		const { geteuid, seteuid } = process;
		const isRoot = geteuid?.() === 0;
		if (isRoot) {
			chmodSync(folder, 0o711);
			seteuid?.(NOBODY);
		}
		try {
			expect(rejection({ ASSAY_SECRET_FILE: file })).toMatch(
				/EACCES.*chgrp and chmod 640/,
			);
		} finally {
			if (isRoot) seteuid?.(0);
		}
	});

	test("a wrong log level in a file is reported with the name of the file, without its content", () => {
		const file = write("level", "loud\n");
		const message = rejection({ ASSAY_LOG_LEVEL_FILE: file });
		expect(message).toContain(file);
		expect(message).not.toContain("loud");
	});

	test("another setting has no _FILE", () => {
		expect(rejection({ ASSAY_PORT_FILE: "/etc/port" })).toContain(
			"ASSAY_PORT_FILE is not a setting",
		);
	});
});

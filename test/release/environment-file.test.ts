import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { parseEnvironmentFile } from "../../src/config/environment-file.ts";
import { ENVIRONMENT_SAMPLES } from "./environment-samples.ts";

test.each(
	ENVIRONMENT_SAMPLES,
)("a file of settings %j gives the value that systemd gives", (text, value) => {
	expect(parseEnvironmentFile(text).A).toBe(value);
});

test("comments and lines without a name and a value are skipped", () => {
	const text = "# A=1 \\\nA=2\n; A=3\nnothing\n2B=c\n=d\n\nB=e";
	expect(parseEnvironmentFile(text)).toEqual({ B: "e" });
});

test("the example of a settings file is one that the service starts with", () => {
	const path = join(import.meta.dirname, "../../deploy/assay.env");
	const settings = parseEnvironmentFile(readFileSync(path, "utf8"));
	expect(readConfig(settings)).toMatchObject({
		baseUrl: "https://assay.example.com",
	});
	expect(settings.ASSAY_TRUSTED_PROXIES).toBe("127.0.0.1, ::1");
});

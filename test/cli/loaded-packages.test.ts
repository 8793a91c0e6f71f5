import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { startAssay } from "../support/program.ts";
import { openReceiver } from "../support/traces.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

/** A Node option that prints on standard error which packages are loaded. */
const SAYS_WHAT_IT_LOADS = `--import=data:text/javascript,${encodeURIComponent(
	`import { registerHooks } from "node:module";
	registerHooks({ resolve(name, context, next) {
		process.stderr.write("loads " + name + "\\n");
		return next(name, context);
	} });`,
)}`;

test("a start loads no package that few services need, and when tracing is off, nothing is sent and its code is not loaded", async () => {
	const receiver = await openReceiver();
	onTestFinished(receiver.close);
	const program = await startAssay({
		DATABASE_URL: database.url,
		NODE_OPTIONS: SAYS_WHAT_IT_LOADS,
		OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
		OTEL_SDK_DISABLED: "true",
	});
	await fetch(`${program.url}/api/agent/v1/unenroll`, { method: "POST" });
	await program.stop("SIGTERM");
	expect(receiver.posts).toEqual([]);
	const loaded = program.stderr();
	expect(loaded).toContain("loads fastify");
	for (const name of [
		"age-encryption",
		"@noble/",
		"@fastify/ajv-compiler",
		"@fastify/fast-json-stringify-compiler",
		"@opentelemetry/exporter",
		"@opentelemetry/sdk-trace",
		"better-auth",
		"hyparquet",
		"nodemailer",
		"xml-crypto",
	]) {
		expect(loaded).not.toContain(`loads ${name}`);
	}
});

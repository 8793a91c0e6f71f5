import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { startAssay } from "../support/program.ts";

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

test("a start loads no package that few services need", async () => {
	const program = await startAssay({
		DATABASE_URL: database.url,
		NODE_OPTIONS: SAYS_WHAT_IT_LOADS,
	});
	await program.stop("SIGTERM");
	const loaded = program.stderr();
	expect(loaded).toContain("loads fastify");
	for (const name of [
		"age-encryption",
		"@noble/",
		"@fastify/ajv-compiler",
		"@fastify/fast-json-stringify-compiler",
		"better-auth",
		"hyparquet",
		"nodemailer",
		"xml-crypto",
	]) {
		expect(loaded).not.toContain(`loads ${name}`);
	}
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { withoutAddresses } from "../src/log.ts";

const LOG = join(import.meta.dirname, "../src/log.ts");

/** Logs an error with these fields in a process of its own. Returns the line that it wrote. */
async function logged(fields: object): Promise<Record<string, unknown>> {
	const { stderr } = await promisify(execFile)(process.execPath, [
		...["--input-type=module", "--eval"],
		`import { makeLogger } from ${JSON.stringify(LOG)};
		const err = Object.assign(new Error("duplicate key"), ${JSON.stringify(fields)});
		makeLogger("info").error({ err }, "failed");`,
	]);
	return JSON.parse(stderr).err;
}

test("an error of the database is logged without the row and the input", async () => {
	const line = await logged({
		code: "23505",
		detail: "Key (email)=(ada@example.com) already exists.",
		where:
			'JSON data, line 1: {"email":"ada@example.com"\nPL/pgSQL function join_organization(text) line 3 at RAISE',
	});
	expect(line).toMatchObject({
		message: "duplicate key",
		code: "23505",
		where: "PL/pgSQL function join_organization(text) line 3 at RAISE",
	});
	expect(line.stack).toContain("duplicate key");
	expect(JSON.stringify(line)).not.toContain("example.com");
});

test("a text of another server is logged without e-mail addresses", () => {
	expect(
		withoutAddresses("550 <ada@example.com>: unknown user\n'bob@example.com'"),
	).toBe("550 [address] unknown user [address]");
});

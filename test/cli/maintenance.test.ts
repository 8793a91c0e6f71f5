import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
	database = await createDatabase();
	settings = { DATABASE_URL: database.url };
});
afterAll(() => database.drop());

async function run(...args: string[]) {
	const { code, stdout, stderr } = await runCommand(
		["maintenance", ...args, "--json"],
		settings,
	);
	return { code, stderr, ...(code === 0 && JSON.parse(stdout)) };
}

async function doctorSays(): Promise<unknown> {
	const { stdout } = await runCommand(["doctor", "--json"], settings);
	const { findings } = JSON.parse(stdout);
	return findings.find(
		({ check }: { check: string }) => check === "maintenance",
	).status;
}

test("maintenance begins with a message, which can be changed, and ends", async () => {
	expect((await run("show")).maintenance).toBeNull();
	expect(await doctorSays()).toBe("ok");
	const { maintenance: begun } = await run("begin", " We move until 14:00. ");
	expect(begun.message).toBe("We move until 14:00.");
	expect(await doctorSays()).toBe("warning");
	const { maintenance: changed } = await run("begin", "We move until 16:00.");
	expect(changed).toEqual({ ...begun, message: "We move until 16:00." });
	expect((await run("show")).maintenance).toEqual(changed);
	expect((await run("end")).maintenance).toBeNull();
	expect((await run("end")).code).toBe(0);
	expect(await doctorSays()).toBe("ok");
});

test.for([
	[" "],
	["two\nlines"],
	["x".repeat(501)],
])("the message %j is refused, and nothing begins", async ([message]) => {
	const { code, stderr } = await run("begin", message as string);
	expect(code).toBe(2);
	expect(stderr).toContain("one line with 1 to 500 characters");
	expect((await run("show")).maintenance).toBeNull();
});

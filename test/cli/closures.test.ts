import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { zoneOfAnotherDay } from "../support/zone-of-another-day.ts";

let database: TestDatabase;
let id: string;
beforeAll(async () => {
	database = await createDatabase();
	id = await createOrganization(database.pool, "Acme");
});
afterAll(() => database.drop());

const org = (...args: string[]) =>
	runCommand(["org", ...args], { DATABASE_URL: database.url });
const stateOf = async () => {
	const { stdout } = await org("list");
	return stdout.split("\n").find((line) => line.startsWith(id));
};

test("an organization is suspended with a reason and resumed", async () => {
	const suspended = await org("suspend", id, "--reason", " No contract. ");
	expect(suspended.stdout).toContain(`org resume ${id}`);
	expect(await stateOf()).toMatch(/suspended +Acme/);
	const wrong = await org("restore", id);
	expect(wrong.code).not.toBe(0);
	expect(wrong.stderr).toContain("Acme is suspended: No contract.");
	expect((await org("resume", id)).stdout).toContain("Acme works again.");
	expect(await stateOf()).toMatch(/open +Acme/);
	expect((await org("resume", id)).stderr).toContain("is not suspended");
});

test("a deletion needs the right name and a reason, and can be taken back until it is due", async () => {
	const remove = (name: string) =>
		org("delete", id, "--name", name, "--reason", "Gone.", "--json");
	expect((await remove("acme")).stderr).toContain('which is "Acme"');
	expect(await stateOf()).toMatch(/open +Acme/);
	expect((await org("delete", id, "--name", "Acme")).stderr).toContain(
		"--reason",
	);
	const { closure } = JSON.parse((await remove("Acme")).stdout);
	expect(Date.parse(closure.delete_after)).toBeGreaterThan(
		Date.now() + 13 * 86_400_000,
	);
	const { zone, day } = zoneOfAnotherDay(closure.delete_after);
	await database.owner.query("update organizations set time_zone = $1", [zone]);
	expect(await stateOf()).toContain(`deleted after ${day}`);
	await org("suspend", id, "--reason", "No contract.");
	await remove("Acme");
	const restored = await org("restore", id);
	expect(restored.code).toBe(0);
	expect(restored.stdout).toContain("org suspend suspends it again");
	expect(await stateOf()).toMatch(/open +Acme/);
	await remove("Acme");
	await database.owner.query(
		"update organization_closures set delete_after = now()",
	);
	expect((await org("restore", id)).stderr).toContain(
		"its deletion may have begun",
	);
});

test("a deletion names the files of the archive that go with it", async () => {
	const archived = await createOrganization(database.pool, "Archived");
	await database.owner.query(
		`insert into archive_files
		select $1, '2024-01-01', n, 'file ' || n, repeat('d', 32), repeat('d', 32), 9, 999, sha256('x'), now(), n = 1
		from generate_series(1, 2) n`,
		[archived],
	);
	const { stdout } = await org(
		...["delete", archived, "--name", "Archived", "--reason", "Gone."],
	);
	expect(stdout).toContain(
		"The deletion includes 2 files of the archive. The reports in 1 of them are nowhere else.",
	);
	expect(stdout).toContain(`the folder organization_id=${archived}`);
	await org("restore", archived);
});

test("the operator verifies a domain, lists it, and removes it", async () => {
	const verified = await org("verify-domain", id, "Example.com");
	expect(verified.stdout).toContain("example.com is verified.");
	expect((await org("domains", id)).stdout).toMatch(
		/example\.com +verified +operator/,
	);
	expect((await org("verify-domain", id, "localhost")).stderr).toContain(
		"full name of a domain",
	);
	expect((await org("remove-domain", id, "example.com")).code).toBe(0);
	expect((await org("remove-domain", id, "example.com")).stderr).toContain(
		"has no domain example.com",
	);
	expect((await org("domains", id)).stdout).toContain("No domains yet");
});

test("the operator lets people in again whose organization accepts only its identity provider", async () => {
	expect((await org("allow-passwords", id)).stderr).toContain(
		"accepts every way to sign in already",
	);
	await database.owner.query(
		"insert into sign_in_rules (organization_id) values ($1)",
		[id],
	);
	expect((await org("allow-passwords", id)).stdout).toContain(
		"accepts every way to sign in again",
	);
	expect((await org("allow-passwords", id, "--json")).code).toBe(1);
});

test("an unknown organization and a bad reason are refused", async () => {
	const unknown = `${id.slice(0, -2)}AA`;
	const { stderr } = await org("suspend", unknown, "--reason", "x");
	expect(stderr).toContain("there is no organization");
	for (const reason of ["", "two\nlines", "x".repeat(501)]) {
		const refused = await org("suspend", id, "--reason", reason);
		expect(refused.stderr).toContain("one line with 1 to 500 characters");
	}
});

test("the list of deleted organizations shows a change", async () => {
	expect((await org("deleted")).stdout).toContain(
		"No organization was deleted",
	);
	await database.owner.query(
		`insert into deleted_organizations
		values (1, $1, 'Other', 'x', now(), now(), 3, sha256('a'), sha256('b'), sha256('c'))`,
		[`${id.slice(0, -2)}AA`],
	);
	const { code, stdout, stderr } = await org("deleted");
	expect(stdout).toContain("Other");
	expect(stderr).toContain("number 1 is not what was written");
	expect(code).toBe(1);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeIdentityId } from "../../src/sign-in/users.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import {
	type IdentityProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import { makeUser } from "../support/people.ts";

let database: TestDatabase;
let provider: IdentityProvider;
beforeAll(async () => {
	[database, provider] = await Promise.all([
		createDatabase(),
		startIdentityProvider(),
	]);
});
afterAll(async () => {
	await database.drop();
	await provider.close();
});

const run = (...args: string[]) =>
	runCommand(args, { DATABASE_URL: database.url });

test("unlink-provider removes the link and the sessions, keeps the password, and says if there is no link", async () => {
	const organizationId = await createOrganization(database.pool, "Acme");
	const { id, email } = await makeUser(
		database,
		{ organizationId, role: "member" },
		{ passwordHash: await hashPassword("correct horse battery") },
	);
	const unlink = () => run("user", "unlink-provider", "--email", email);
	expect((await unlink()).stderr).toContain("is not linked");
	await database.owner.query(
		"insert into accounts (id, user_id, provider_id, account_id) values ($3, $1, $2, 'sub')",
		[id, provider.issuer, makeIdentityId("account")],
	);
	await database.owner.query(
		"insert into sessions (id, user_id, token, expires_at, provider) values ($3, $1, 't', now() + interval '1 day', $2)",
		[id, provider.issuer, makeIdentityId("session")],
	);
	expect((await unlink()).stdout).toContain(`${email} is unlinked.`);
	const { rows } = await database.owner.query(
		`select (select count(*) from sessions) as sessions,
			(select string_agg(provider_id, ',') from accounts where user_id = $1) as accounts,
			(select count(*) from audit_entries where operation = 'unlinkProvider' and record_id = $1) as entries`,
		[id],
	);
	expect(rows).toEqual([
		{ sessions: "0", accounts: "credential", entries: "1" },
	]);
});

test.for<[(issuer: string) => string, string, string]>([
	[(issuer) => issuer, "ok", "answers; new people need an account"],
	[(issuer) => `${issuer}/other`, "problem", "/other does not answer"],
	[() => "http://localhost:9", "problem", "does not answer"],
])("doctor asks the provider for its metadata (%#)", async ([
	issuerOf,
	status,
	words,
]) => {
	const { stdout } = await runCommand(["doctor", "--json"], {
		DATABASE_URL: database.url,
		...provider.settings("example.com"),
		ASSAY_OIDC_ISSUER: issuerOf(provider.issuer),
	});
	const { findings } = JSON.parse(stdout);
	const finding = findings.find(
		(one: { check: string }) => one.check === "identity provider",
	);
	expect(finding).toMatchObject({ status });
	expect(finding.found).toContain(words);
	expect(stdout).not.toContain(
		provider.settings("").ASSAY_OIDC_CLIENT_SECRET as string,
	);
});

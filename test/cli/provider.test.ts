import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeId } from "../../src/id.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { serve } from "../../src/serve.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { sealText } from "../../src/sign-in/sealed-text.ts";
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

test("doctor asks the providers of organizations, and counts client secrets that a former secret encrypts", async () => {
	const [former, current] = ["the former secret", "the current secret"].map(
		(text) => text.padEnd(40, "!"),
	) as [string, string];
	const organizationId = await createOrganization(database.pool, "Acme");
	const add = async (issuer: string, isEnabled: boolean) => {
		const id = makeId(organizationId, "identity_provider");
		await database.owner.query(
			`insert into identity_providers (
				organization_id, id, kind, name, issuer, client_id, client_secret, is_enabled, tested_at
			) values ($1, $2, 'OIDC', 'Example', $3, 'assay', $4, $5, now())`,
			[
				organizationId,
				id,
				issuer,
				sealText("words of the provider", "client secret", id, {
					secret: former,
				}),
				isEnabled,
			],
		);
		return id;
	};
	const settings = (secret: string, previous = "") => ({
		DATABASE_URL: database.url,
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		ASSAY_SECRET: secret,
		ASSAY_SECRET_PREVIOUS: previous,
	});
	const doctor = async (secret: string, previous?: string) => {
		const { stdout } = await runCommand(
			["doctor", "--json"],
			settings(secret, previous),
		);
		expect(stdout).not.toContain("words of the provider");
		const { findings } = JSON.parse(stdout) as {
			findings: { check: string; status: string; found: string }[];
		};
		const of = (check: string) => findings.find((one) => one.check === check);
		return {
			answers: of("identity providers of organizations"),
			secrets: of("client secrets of identity providers"),
		};
	};
	const id = await add(provider.issuer, true);
	await add("http://localhost:9", false);
	const first = await doctor(current, former);
	expect(first.answers).toMatchObject({ status: "ok" });
	expect(first.secrets).toMatchObject({
		status: "ok",
		found: expect.stringContaining("2 of 2 client secrets are still"),
	});
	expect((await doctor(current)).secrets).toMatchObject({ status: "problem" });

	// A sign-in encrypts the secret of its provider again.
	const service = await serve(
		readConfig({ ...settings(current, former), ASSAY_PORT: "0" }),
		makeLogger("silent"),
	);
	const answer = await fetch(
		`${service.url}/api/sign-in-with-provider?provider=${id}`,
		{ redirect: "manual" },
	);
	await service.close();
	expect(answer.headers.get("location")).toContain(provider.issuer);
	expect((await doctor(current, former)).secrets?.found).toContain(
		"1 of 2 client secrets are still",
	);

	await add(`${provider.issuer}/other`, true);
	expect((await doctor(current, former)).answers).toMatchObject({
		status: "warning",
		found: expect.stringContaining(
			`${provider.issuer}/other of organization ${organizationId}`,
		),
	});
});

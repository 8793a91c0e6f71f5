import { beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeLogger } from "../../src/log.ts";
import { getMember } from "../../src/organizations/get-member.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { addPersonOf } from "../../src/organizations/person-of-member.ts";
import { noteAccountEvent } from "../../src/sign-in/account-events.ts";
import { shareDatabase, type TestDatabase } from "../support/database.ts";
import {
	callAs,
	joinOrganization,
	makeApiToken,
	makeUser,
	type TestUser,
} from "../support/people.ts";

let database: TestDatabase;
let id: string;
let elsewhere: string;
let admin: TestUser;
let user: TestUser;
beforeAll(async () => {
	database = await shareDatabase();
	id = await createOrganization(database.pool, "Acme");
	elsewhere = await createOrganization(database.pool, "Elsewhere");
	admin = await makeUser(database, { organizationId: id, role: "admin" });
	user = await makeUser(database, { organizationId: elsewhere, role: "admin" });
});

const read = (reader = admin, of = user) =>
	callAs(database, reader, getMember, { organization_id: id, user_id: of.id });

const signsIn = (fields = {}) =>
	noteAccountEvent(
		{
			pool: database.owner,
			appPool: database.pool,
			log: makeLogger("silent"),
			passwordSignIn: "everybody",
		},
		{ id: user.id },
		{ operation: "signIn", outcome: "DONE", fields },
		{},
	);

test("an administrator reads what this organization knows of a member, and nothing of other ones", async () => {
	// The user signs in before the membership, so only the other organization knows of it.
	await signsIn();
	await expect(read()).rejects.toMatchObject({ code: "not_found" });
	await joinOrganization(database, user, id, "viewer");
	await makeApiToken(database, user);
	await makeApiToken(database, user, {
		scopes: { organization_ids: [elsewhere] },
	});
	await makeApiToken(database, user, { expiresAt: new Date(0) });
	expect(await read()).toMatchObject({
		member: { user_id: user.id, role: "viewer", two_factor_enabled: false },
		last_sign_in_at: null,
		sign_in_ways: [],
		api_tokens: 1,
		person: null,
	});
	await withTenant(database.pool, id, (client) =>
		addPersonOf(client, id, user),
	);
	await signsIn({ way: { after: "PASSKEY" } });
	await signsIn({ provider: { after: "https://id.example.com" } });
	expect(await read()).toMatchObject({
		last_sign_in_at: expect.stringMatching(/^\d{4}-/),
		sign_in_ways: ["PASSKEY", "PROVIDER"],
		person: { name: user.name },
	});
});

test("the ways of a user's own page do not count tokens of other organizations", async () => {
	await makeApiToken(database, admin, { scopes: { organization_ids: [id] } });
	expect(await read(admin, admin)).toMatchObject({ api_tokens: 1 });
});

test("only an administrator reads the page of a member", async () => {
	const member = await makeUser(database, {
		organizationId: id,
		role: "member",
	});
	await expect(read(member)).rejects.toMatchObject({ code: "forbidden" });
});

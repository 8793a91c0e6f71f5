import { afterAll, beforeAll, expect, test } from "vitest";

import {
	acceptInvitation,
	inviteMember,
	listInvitations,
	revokeInvitation,
} from "../../src/organizations/invitation-operations.ts";

import { createOrganization as createOrganizationOperation } from "../../src/organizations/organization-operations.ts";

import { createOrganization } from "../../src/organizations/organization-store.ts";

import { makeSecret } from "../../src/tokens/secret.ts";

import { createDatabase, type TestDatabase } from "../support/database.ts";

import {
	auditEntries,
	callAs,
	joinOrganization,
	makeUser,
	signedIn,
	type TestUser,
} from "../support/people.ts";

let database: TestDatabase;

beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

/** Creates an organization with one admin. */
async function makeOrganization(): Promise<{ id: string; admin: TestUser }> {
	const id = await createOrganization(database.pool, "Acme");
	const admin = await makeUser(database, { organizationId: id, role: "admin" });
	return { id, admin };
}

const tokenOf = (invitation: { invitation_url: string }) =>
	new URL(invitation.invitation_url).hash.slice(1);

test("an invitation makes the invited user a member once", async () => {
	const { id, admin } = await makeOrganization();
	const user = await makeUser(database);
	const made = await callAs(database, admin, inviteMember, {
		organization_id: id,
		email: user.email.toUpperCase(),
		role: "member",
	});
	expect(made.invitation).toMatchObject({
		email: user.email,
		role: "member",
		invited_by: admin.name,
		is_expired: false,
	});
	const token = tokenOf(made);
	const other = await makeUser(database);
	await expect(
		callAs(database, other, acceptInvitation, { token }),
	).rejects.toMatchObject({ code: "bad_request" });
	expect(await callAs(database, user, acceptInvitation, { token })).toEqual({
		organization: { id, name: "Acme" },
		role: "member",
	});
	await expect(
		callAs(database, user, acceptInvitation, { token }),
	).rejects.toMatchObject({ code: "bad_request" });
	expect((await signedIn(database, user)).memberships).toEqual([
		{ organizationId: id, role: "member" },
	]);
	const entries = await auditEntries(database, id);
	expect(entries.at(-1)).toMatchObject({
		operation: "acceptInvitation",
		actor_id: user.id,
	});
	expect(JSON.stringify(entries)).not.toContain("asy_");
});

test("nobody joins a closed organization, and the invitation still works afterwards", async () => {
	const { id, admin } = await makeOrganization();
	const user = await makeUser(database);
	const token = tokenOf(
		await callAs(database, admin, inviteMember, {
			organization_id: id,
			email: user.email,
			role: "member",
		}),
	);
	await database.owner.query(
		"insert into organization_closures (organization_id, kind, reason) values ($1, 'SUSPENDED', 'No contract.')",
		[id],
	);
	await expect(
		callAs(database, user, acceptInvitation, { token }),
	).rejects.toMatchObject({
		code: "forbidden",
		message: "Acme is suspended: No contract.",
	});
	await database.owner.query("delete from organization_closures");
	await callAs(database, user, acceptInvitation, { token });
	expect((await signedIn(database, user)).memberships).toEqual([
		{ organizationId: id, role: "member" },
	]);
});

test("a revoked, replaced, expired or invented invitation is rejected", async () => {
	const { id, admin } = await makeOrganization();
	const user = await makeUser(database);
	const invite = () =>
		callAs(database, admin, inviteMember, {
			organization_id: id,
			email: user.email,
			role: "viewer",
		});
	const replaced = await invite();
	const revoked = await invite();
	const list = () =>
		callAs(database, admin, listInvitations, { organization_id: id });
	expect((await list()).invitations).toEqual([revoked.invitation]);
	await callAs(database, admin, revokeInvitation, {
		organization_id: id,
		id: revoked.invitation.id,
	});
	expect((await list()).invitations).toEqual([]);
	const expired = await invite();
	await database.owner.query(
		"update invitations set expires_at = now() where id = $1",
		[expired.invitation.id],
	);
	expect((await list()).invitations).toMatchObject([{ is_expired: true }]);
	for (const token of [
		tokenOf(replaced),
		tokenOf(revoked),
		tokenOf(expired),
		makeSecret("inv"),
		"asy_inv_x",
	]) {
		await expect(
			callAs(database, user, acceptInvitation, { token }),
		).rejects.toMatchObject({ code: "bad_request" });
	}
	expect((await signedIn(database, user)).memberships).toEqual([]);
});

test("a member cannot be invited again, and an old invitation changes no role", async () => {
	const { id, admin } = await makeOrganization();
	const user = await makeUser(database);
	const input = { organization_id: id, email: user.email, role: "viewer" };
	const made = await callAs(database, admin, inviteMember, input);
	await joinOrganization(database, user, id, "admin");
	await expect(
		callAs(database, admin, inviteMember, input),
	).rejects.toMatchObject({ code: "bad_request" });
	const accepted = await callAs(database, user, acceptInvitation, {
		token: tokenOf(made),
	});
	expect(accepted.role).toBe("admin");
});

test("an organization can invite an address five times a day, and another organization still can", async () => {
	const { id, admin } = await makeOrganization();
	const invite = (email: string) =>
		callAs(database, admin, inviteMember, {
			organization_id: id,
			email,
			role: "viewer",
		});
	for (let time = 0; time < 5; time++) await invite("often@example.com");
	await expect(invite("Often@example.com")).rejects.toMatchObject({
		code: "bad_request",
		fields: [{ field: "email" }],
	});
	await invite("once@example.com");
	const { invitations } = await callAs(database, admin, listInvitations, {
		organization_id: id,
	});
	expect(invitations.map(({ email }) => email).sort()).toEqual([
		"often@example.com",
		"once@example.com",
	]);
});

test("a user can invite an address five times a day across all organizations, and other users still can", async () => {
	const first = await makeOrganization();
	const organizations = [first.id];
	for (let number = 0; number < 3; number++) {
		const { organization } = await callAs(
			database,
			first.admin,
			createOrganizationOperation,
			{ name: `Mine ${number}` },
		);
		organizations.push(organization.id);
	}
	const admin = {
		...first.admin,
		memberships: organizations.map((organizationId) => ({
			organizationId,
			role: "admin" as const,
		})),
	};
	const invite = (by: typeof admin, organization_id: string) =>
		callAs(database, by, inviteMember, {
			organization_id,
			email: "stranger@example.com",
			role: "viewer",
		});
	for (let time = 0; time < 5; time++) {
		await invite(admin, organizations[time % 4] as string);
	}
	for (const organization of organizations) {
		await expect(invite(admin, organization)).rejects.toMatchObject({
			code: "bad_request",
			fields: [{ field: "email" }],
		});
	}
	const other = await makeOrganization();
	await invite(other.admin as typeof admin, other.id);
});

test("an organization has at most 2,000 open invitations, and all of them are listed", async () => {
	const { id, admin } = await makeOrganization();
	await database.owner.query(
		`insert into invitations (organization_id, id, email, role, token_hash, invited_by, expires_at)
		select $1::text, lpad(n::text, 32, 'i'), n || '@example.com', 'viewer', sha256(($1::text || n)::bytea), 'Ada', now()
		from generate_series(1, 2000) n`,
		[id],
	);
	await expect(
		callAs(database, admin, inviteMember, {
			organization_id: id,
			email: "new@example.com",
			role: "viewer",
		}),
	).rejects.toMatchObject({
		code: "bad_request",
		message: expect.stringContaining("revoke one that is no longer needed"),
	});
});

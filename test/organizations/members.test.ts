import { beforeAll, expect, test } from "vitest";

import { transaction, withTenant } from "../../src/db/pool.ts";

import {
	inviteMember,
	listInvitations,
} from "../../src/organizations/invitation-operations.ts";

import {
	listMembers,
	removeMember,
	updateMember,
} from "../../src/organizations/member-operations.ts";

import {
	createOrganization as createOrganizationOperation,
	MAX_ORGANIZATIONS,
} from "../../src/organizations/organization-operations.ts";

import { createOrganization } from "../../src/organizations/organization-store.ts";

import { shareDatabase, type TestDatabase } from "../support/database.ts";

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
	database = await shareDatabase();
});

/** Creates an organization with one admin. */
async function makeOrganization(): Promise<{ id: string; admin: TestUser }> {
	const id = await createOrganization(database.pool, "Acme");
	const admin = await makeUser(database, { organizationId: id, role: "admin" });
	return { id, admin };
}

test("the list shows the members of one organization with address and role, and a search finds them by text", async () => {
	const { id, admin } = await makeOrganization();
	const viewer = await makeUser(database, {
		organizationId: id,
		role: "viewer",
	});
	await makeOrganization();
	const list = (input: object) =>
		callAs(database, viewer, listMembers, { organization_id: id, ...input });
	const { members, next_cursor } = await list({
		order_by: { field: "created_at", direction: "ASC" },
	});
	expect(members).toMatchObject([
		{ user_id: admin.id, email: admin.email, role: "admin" },
		{ user_id: viewer.id, name: viewer.name, role: "viewer" },
	]);
	expect(next_cursor).toBeNull();
	const first = await list({ size: 1 });
	expect(first.next_cursor).not.toBeNull();
	const second = await list({ size: 1, cursor: first.next_cursor });
	expect([...first.members, ...second.members]).toHaveLength(2);
	const found = await list({ filter: { query: viewer.email, role: "viewer" } });
	expect(found.members).toHaveLength(1);
});

test("only an admin changes roles, removes members and invites", async () => {
	const { id, admin } = await makeOrganization();
	const member = await makeUser(database, {
		organizationId: id,
		role: "member",
	});
	for (const [operation, input] of [
		[updateMember, { user_id: admin.id, role: "viewer" }],
		[removeMember, { user_id: admin.id }],
		[inviteMember, { email: "new@example.com", role: "admin" }],
		[listInvitations, {}],
	] as const) {
		await expect(
			callAs(database, member, operation as typeof updateMember, {
				organization_id: id,
				...input,
			}),
		).rejects.toMatchObject({ code: "forbidden" });
	}
});

test("changing a role and removing a member take effect immediately and are in the audit log", async () => {
	const { id, admin } = await makeOrganization();
	const user = await makeUser(database, { organizationId: id, role: "viewer" });
	const input = { organization_id: id, user_id: user.id };
	const { member } = await callAs(database, admin, updateMember, {
		...input,
		role: "member",
	});
	expect(member).toMatchObject({ user_id: user.id, role: "member" });
	expect((await signedIn(database, user)).memberships).toEqual([
		{ organizationId: id, role: "member" },
	]);
	await callAs(database, admin, removeMember, input);
	expect((await signedIn(database, user)).memberships).toEqual([]);
	await expect(
		callAs(database, admin, removeMember, input),
	).rejects.toMatchObject({
		code: "not_found",
		message: expect.stringContaining("is not a member of this organization"),
	});
	expect((await auditEntries(database, id)).slice(-2)).toMatchObject([
		{
			operation: "updateMember",
			record_id: user.id,
			changes: { role: { before: "viewer", after: "member" } },
		},
		{
			operation: "removeMember",
			record_name: user.name,
			changes: {
				role: { before: "member" },
				email: { before: user.email },
			},
		},
	]);
});

test("the last admin can be neither demoted nor removed, and the error says why", async () => {
	const { id, admin } = await makeOrganization();
	const input = { organization_id: id, user_id: admin.id };
	for (const attempt of [
		() => callAs(database, admin, updateMember, { ...input, role: "viewer" }),
		() => callAs(database, admin, removeMember, input),
	]) {
		await expect(attempt()).rejects.toMatchObject({
			code: "bad_request",
			message: expect.stringContaining("last admin") as string,
		});
	}
	await expect(
		withTenant(database.pool, id, (client) =>
			client.query("delete from memberships"),
		),
	).rejects.toMatchObject({ constraint: "last_administrator" });
});

test("when the last two admins leave at the same time, one of them stays", async () => {
	for (let round = 0; round < 10; round++) {
		const { id, admin } = await makeOrganization();
		const other = await makeUser(database, {
			organizationId: id,
			role: "admin",
		});
		// Both transactions begin before either admin leaves.
		let ready = 0;
		const leave = (user: TestUser) =>
			withTenant(database.pool, id, async (client) => {
				await client.query("select 1");
				ready++;
				while (ready < 2) await new Promise(setImmediate);
				await client.query(
					round % 2
						? "delete from memberships where user_id = $1"
						: "update memberships set role = 'viewer' where user_id = $1",
					[user.id],
				);
			});
		const outcomes = await Promise.allSettled([leave(admin), leave(other)]);
		expect(outcomes.map(({ status }) => status).sort()).toEqual([
			"fulfilled",
			"rejected",
		]);
		const { rows } = await database.owner.query(
			"select from memberships where organization_id = $1 and role = 'admin'",
			[id],
		);
		expect(rows).toHaveLength(1);
	}
});

test("the user who creates an organization is its admin", async () => {
	const user = await makeUser(database);
	const { organization } = await callAs(
		database,
		user,
		createOrganizationOperation,
		{ name: "Initech" },
	);
	expect((await signedIn(database, user)).memberships).toEqual([
		{ organizationId: organization.id, role: "admin" },
	]);
	expect(await auditEntries(database, organization.id)).toMatchObject([
		{ operation: "createOrganization", record_kind: "organization" },
		{ operation: "createOrganization", record_kind: "member" },
		{ operation: "createOrganization", record_kind: "people" },
	]);
});

test("a user's transaction sees all organizations of the user, and an organization's transaction sees only that one", async () => {
	const [first, second] = [await makeOrganization(), await makeOrganization()];
	await joinOrganization(database, first.admin, second.id, "viewer");
	const seen = (organizationId: string | undefined) =>
		transaction(
			database.pool,
			{ organizationId, userId: first.admin.id },
			async (client) => ({
				organizations: (
					await client.query("select id from organizations")
				).rows.map((row) => row.id),
				memberships: (
					await client.query("select organization_id as id from memberships")
				).rows.map((row) => row.id),
				users: (await client.query("select id from users")).rows.length,
			}),
		);
	const both = [first.id, second.id].sort();
	const all = await seen(undefined);
	expect(all.organizations.sort()).toEqual(both);
	expect(all.memberships.sort()).toEqual(both);
	expect(all.users).toBe(1);
	expect(await seen(first.id)).toEqual({
		organizations: [first.id],
		memberships: [first.id],
		users: 1,
	});
});

test("a user can create at most a hundred organizations, even with simultaneous calls", async () => {
	const { id, admin } = await makeOrganization();
	await database.owner.query(
		`with made as (
			insert into organizations (id, name) select 'm' || lpad(n::text, 31, '0'), 'made' from generate_series(1, $2::int) n returning id
		)
		insert into memberships (organization_id, user_id, role) select id, $1, 'admin' from made`,
		[admin.id, MAX_ORGANIZATIONS - 2],
	);
	const make = () =>
		callAs(database, admin, createOrganizationOperation, { name: "One more" });
	const answers = await Promise.allSettled([make(), make(), make()]);
	const refused = answers.filter(({ status }) => status === "rejected");
	expect(refused).toMatchObject([
		{
			reason: {
				code: "bad_request",
				message: expect.stringContaining("assay org create"),
			},
		},
		expect.anything(),
	]);
	// Organizations that other users created do not count.
	const member = await makeUser(database, {
		organizationId: id,
		role: "viewer",
	});
	await callAs(database, member, createOrganizationOperation, { name: "Mine" });
});

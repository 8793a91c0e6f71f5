import { afterAll, beforeAll, expect, test } from "vitest";
import { GROUP, type ScimStand, startScim } from "./stand.ts";

let stand: ScimStand;
beforeAll(async () => {
	stand = await startScim();
});
afterAll(() => stand.close());

let made = 0;
const freshName = () => `person-${++made}@example.com`;

/** Sets the role of a group, as an administrator with a fresh proof does in the console. */
async function map(groupId: string, role: string | null) {
	await stand.database.owner.query(
		"update scim_groups set role = $2 where id = $1",
		[groupId, role],
	);
}

test("a group is made, read, renamed and deleted with its members", async () => {
	const user = await stand.provision(freshName());
	const made = await stand.scim("POST", "Groups", {
		schemas: [GROUP],
		displayName: "Tour Guides",
		externalId: "8aa1a0c0",
		members: [{ value: user.id, $ref: null }],
	});
	expect(made.status).toBe(201);
	expect(made.body).toMatchObject({
		displayName: "Tour Guides",
		externalId: "8aa1a0c0",
		members: [{ value: user.id, type: "User" }],
		meta: { resourceType: "Group" },
	});
	const path = `Groups/${made.body.id}`;
	// Okta renames a group with its id in the value.
	const renamed = await stand.patch(path, {
		op: "replace",
		value: { id: made.body.id, displayName: "Guides" },
	});
	expect(renamed.body).toMatchObject({
		displayName: "Guides",
		members: [{ value: user.id }],
	});
	const seen = await stand.scim("GET", `Users/${user.id}`);
	expect(seen.body.groups).toMatchObject([
		{ value: made.body.id, display: "Guides", type: "direct" },
	]);
	const put = await stand.scim("PUT", path, {
		schemas: [GROUP],
		displayName: "Guides",
		members: [],
	});
	expect(put.body.members).toEqual([]);
	expect((await stand.scim("DELETE", path)).status).toBe(204);
	expect((await stand.scim("GET", path)).status).toBe(404);
});

test("Entra ID looks groups up without their members, and adds and removes members its own way", async () => {
	const [a, b] = [
		await stand.provision(freshName()),
		await stand.provision(freshName()),
	];
	const group = await stand.makeGroup("Entra", [a.id]);
	const filter = encodeURIComponent('displayName eq "entra"');
	const found = await stand.scim(
		"GET",
		`Groups?excludedAttributes=members&filter=${filter}`,
	);
	expect(found.body.totalResults).toBe(1);
	expect(found.body.Resources[0].members).toBeUndefined();
	const members = async (...operations: object[]) => {
		const answer = await stand.patch(`Groups/${group.id}`, ...operations);
		expect(answer.status, JSON.stringify(answer.body)).toBe(200);
		return answer.body.members.map(({ value }: { value: string }) => value);
	};
	expect(
		await members({
			op: "Add",
			path: "members",
			value: [{ $ref: null, value: b.id }],
		}),
	).toEqual([a.id, b.id].toSorted());
	expect(
		await members({
			op: "Remove",
			path: "members",
			value: [{ $ref: null, value: a.id }],
		}),
	).toEqual([b.id]);
	const isMember = encodeURIComponent(
		`id eq "${group.id}" and members eq "${b.id}"`,
	);
	expect(
		(await stand.scim("GET", `Groups?filter=${isMember}`)).body,
	).toMatchObject({ totalResults: 1 });
});

test("Okta replaces all members, and removes one by a filter in the path", async () => {
	const ids = [];
	for (let i = 0; i < 3; i++) ids.push((await stand.provision(freshName())).id);
	const group = await stand.makeGroup("Okta");
	const path = `Groups/${group.id}`;
	const all = await stand.patch(path, {
		op: "replace",
		path: "members",
		value: ids.map((value) => ({ value, display: "x" })),
	});
	expect(all.body.members).toHaveLength(3);
	const less = await stand.patch(
		path,
		{ op: "remove", path: `members[value eq "${ids[0]}"]` },
		{ op: "remove", path: `members[value eq "${ids[1]}"]` },
	);
	expect(less.body.members).toMatchObject([{ value: ids[2] }]);
	const none = await stand.patch(path, { op: "remove", path: "members" });
	expect(none.body.members).toEqual([]);
	// Okta renames a group without a path, and sends its id too.
	const renamed = await stand.patch(path, {
		op: "replace",
		value: { id: group.id, displayName: "Okta renamed" },
	});
	expect(renamed).toMatchObject({
		status: 200,
		body: { displayName: "Okta renamed", members: [] },
	});
});

test("members are removed by any filter of a path (RFC 7644 section 3.5.2.2)", async () => {
	const ids: string[] = [];
	for (let i = 0; i < 3; i++) ids.push((await stand.provision(freshName())).id);
	const group = await stand.makeGroup("Filtered", ids);
	const path = `members[value eq "${ids[0]}" or value eq "${ids[1]}"]`;
	const less = await stand.patch(`Groups/${group.id}`, { op: "remove", path });
	expect(less.body.members).toMatchObject([{ value: ids[2] }]);
	const added = await stand.patch(`Groups/${group.id}`, { op: "add", path });
	expect(added.body.scimType).toBe("invalidPath");
});

test("a search for all resources of one type finds them (RFC 7644 section 3.4.2.2)", async () => {
	const group = await stand.makeGroup("Searched");
	const search = async (filter: string) =>
		(await stand.scim("POST", ".search", { filter, count: 100 })).body
			.Resources;
	const groups = await search('meta.resourceType eq "Group"');
	expect(groups.map(({ id }: { id: string }) => id)).toContain(group.id);
	const types = (await search('meta.resourceType eq "User"')).map(
		({ meta }: { meta: { resourceType: string } }) => meta.resourceType,
	);
	expect(new Set(types)).toEqual(new Set(["User"]));
});

test("a role by group ends the limits that it does not have, and the audit log names them", async () => {
	const user = await stand.provision(freshName());
	const group = await stand.makeGroup("Board");
	await map(group.id, "admin");
	await stand.database.owner.query(
		`update memberships set role = 'member', ends_on = '2199-12-31', writable_registers = '{risks}',
			reads_audit_log = true where user_id = $1`,
		[user.id],
	);
	await stand.patch(`Groups/${group.id}`, {
		op: "add",
		path: "members",
		value: [{ value: user.id }],
	});
	const change = (await stand.audited()).find(
		({ record_kind, record_id }) =>
			record_kind === "member" && record_id === user.id,
	);
	expect(change?.changes).toEqual({
		role: { before: "member", after: "admin" },
		ends_on: { before: "2199-12-31", after: null },
		writable_registers: { before: ["risks"], after: null },
		reads_audit_log: { before: true, after: false },
	});
});

test("limits that an administrator set survive other roles and a deactivation, and end with the user", async () => {
	const user = await stand.provision(freshName());
	const staff = await stand.makeGroup("Narrow staff", [user.id]);
	await map(staff.id, "member");
	const board = await stand.makeGroup("Narrow board");
	await map(board.id, "admin");
	const limits = {
		ends_on: "2199-12-31",
		writable_registers: ["risks"],
		reads_audit_log: true,
	};
	await stand.use("updateMember", {
		organization_id: stand.organizationId,
		user_id: user.id,
		role: "member",
		...limits,
	});
	const member = async () => {
		const { rows } = await stand.database.owner.query(
			`select role, ends_on::text as ends_on, writable_registers, reads_audit_log
			from memberships where user_id = $1`,
			[user.id],
		);
		return rows[0];
	};
	const setMembers = (group: { id: string }, ...ids: string[]) =>
		stand.patch(`Groups/${group.id}`, {
			op: "replace",
			path: "members",
			value: ids.map((value) => ({ value })),
		});
	await setMembers(staff);
	expect(await member()).toEqual({
		...limits,
		role: "viewer",
		writable_registers: null,
	});
	await setMembers(staff, user.id);
	expect(await member()).toEqual({ ...limits, role: "member" });
	await setMembers(board, user.id);
	expect(await member()).toMatchObject({ role: "admin", ends_on: null });
	await setMembers(board);
	expect(await member()).toEqual({ ...limits, role: "member" });

	const setActive = (value: boolean) =>
		stand.patch(`Users/${user.id}`, { op: "replace", path: "active", value });
	await setActive(false);
	expect(await member()).toBeUndefined();
	const { body } = await setActive(true);
	expect(body).not.toHaveProperty("keptLimits");
	expect(await member()).toEqual({ ...limits, role: "member" });

	await stand.scim("DELETE", `Users/${user.id}`);
	await stand.provision(user.userName);
	expect(await member()).toEqual({
		role: "viewer",
		ends_on: null,
		writable_registers: null,
		reads_audit_log: false,
	});
});

test("the highest role of a user's groups counts, at once", async () => {
	const user = await stand.provision(freshName());
	const staff = await stand.makeGroup("Staff");
	const security = await stand.makeGroup("Security");
	await map(staff.id, "member");
	await map(security.id, "admin");
	const change = (op: string, group: { id: string }) =>
		stand.patch(`Groups/${group.id}`, {
			op,
			path: op === "add" ? "members" : `members[value eq "${user.id}"]`,
			...(op === "add" && { value: [{ value: user.id }] }),
		});
	await change("add", staff);
	expect(await stand.roleOf(user.id)).toBe("member");
	await change("add", security);
	expect(await stand.roleOf(user.id)).toBe("admin");
	await change("remove", security);
	expect(await stand.roleOf(user.id)).toBe("member");
	await stand.scim("DELETE", `Groups/${staff.id}`);
	expect(await stand.roleOf(user.id)).toBe("viewer");
	const changes = (await stand.audited()).filter(
		({ record_id, record_kind }) =>
			record_kind === "member" && record_id === user.id,
	);
	expect(
		changes.map(({ actor_name, changes: { role } }) => [actor_name, role]),
	).toEqual([
		["SCIM: Entra ID", { before: "member", after: "viewer" }],
		["SCIM: Entra ID", { before: "admin", after: "member" }],
		["SCIM: Entra ID", { before: "member", after: "admin" }],
		["SCIM: Entra ID", { before: "viewer", after: "member" }],
		["SCIM: Entra ID", { after: "viewer" }],
	]);
});

test("a person who comes back has the role of the groups", async () => {
	const user = await stand.provision(freshName());
	const group = await stand.makeGroup("Returning", [user.id]);
	await map(group.id, "member");
	const set = (active: boolean) =>
		stand.patch(`Users/${user.id}`, {
			op: "replace",
			path: "active",
			value: active,
		});
	await set(false);
	await set(true);
	expect(await stand.roleOf(user.id)).toBe("member");
});

test("members must be users that the client has provisioned, and not groups", async () => {
	const group = await stand.makeGroup("Strict");
	for (const value of [
		[{ value: stand.admin.id }],
		[{ value: stand.stranger.id }],
		[{ value: "x" }],
		[{ value: group.id, type: "Group" }],
		["x"],
	]) {
		const { status, body } = await stand.patch(`Groups/${group.id}`, {
			op: "add",
			path: "members",
			value,
		});
		expect({ status, scimType: body.scimType }).toEqual({
			status: 400,
			scimType: "invalidValue",
		});
	}
});

test("a name of a group is given once", async () => {
	await stand.makeGroup("Once");
	const { status, body } = await stand.scim("POST", "Groups", {
		schemas: [GROUP],
		displayName: "ONCE",
	});
	expect({ status, scimType: body.scimType }).toEqual({
		status: 409,
		scimType: "uniqueness",
	});
});

test("a group with 2,000 members is made and changed", async () => {
	const { owner } = stand.database;
	await owner.query(
		`insert into users (id, name, email)
		select 'many' || lpad(n::text, 28, '0'), 'M', 'many-' || n || '@example.com'
		from generate_series(1, 2000) n`,
	);
	await owner.query(
		`insert into scim_users (organization_id, user_id, user_name, is_active)
		select $1, u.id, u.email, true from users u where u.id like 'many%'`,
		[stand.organizationId],
	);
	const ids = Array.from(
		{ length: 2000 },
		(_, index) => `many${String(index + 1).padStart(28, "0")}`,
	);
	const group = await stand.makeGroup("Everybody", ids);
	expect(group.members).toHaveLength(2000);
	const { body } = await stand.patch(
		`Groups/${group.id}`,
		...ids
			.slice(0, 100)
			.map((id) => ({ op: "remove", path: `members[value eq "${id}"]` })),
	);
	expect(body.members).toHaveLength(1900);
});

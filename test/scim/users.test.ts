import { afterAll, beforeAll, expect, test } from "vitest";
import { type ScimStand, startScim, USER } from "./stand.ts";

let stand: ScimStand;
beforeAll(async () => {
	stand = await startScim();
});
afterAll(() => stand.close());

let made = 0;
const freshName = () => `person-${++made}@example.com`;

test("POST makes an account without a password, a membership and a person (RFC 7644 section 3.3)", async () => {
	const { status, body, headers } = await stand.scim("POST", "Users", {
		schemas: [USER],
		userName: "bjensen",
		externalId: "bjensen-17",
		name: {
			formatted: "Ms. Barbara J Jensen III",
			familyName: "Jensen",
			givenName: "Barbara",
		},
		emails: [{ value: "Barbara@Example.com", type: "work", primary: true }],
	});
	expect(status).toBe(201);
	expect(headers.get("content-type")).toContain("application/scim+json");
	expect(headers.get("location")).toBe(body.meta.location);
	expect(body).toMatchObject({
		schemas: [USER],
		userName: "bjensen",
		externalId: "bjensen-17",
		active: true,
		name: { familyName: "Jensen", givenName: "Barbara" },
		emails: [{ value: "Barbara@Example.com", type: "work", primary: true }],
		meta: {
			resourceType: "User",
			created: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
			location: expect.stringMatching(/\/scim\/v2\/Users\/[\w-]{32}$/),
		},
	});
	expect(await stand.roleOf(body.id)).toBe("viewer");
	const { rows } = await stand.database.owner.query(
		`select u.name, u.email, u.address_proof, (
			select count(*)::integer from accounts a where a.user_id = u.id
		) as passwords from users u where u.id = $1`,
		[body.id],
	);
	expect(rows).toEqual([
		{
			name: "Ms. Barbara J Jensen III",
			email: "barbara@example.com",
			address_proof: "LINK",
			passwords: 0,
		},
	]);
	const { people } = await stand.use("listPeople", {
		organization_id: stand.organizationId,
		filter: { query: "barbara@example.com" },
	});
	expect(people).toHaveLength(1);
	expect((await stand.audited()).map(({ operation }) => operation)).toContain(
		"provisionUser",
	);
	expect((await stand.audited())[0]).toMatchObject({
		actor_name: "SCIM: Entra ID",
	});
});

test("a user without e-mail addresses is known by a userName that is one", async () => {
	const user = await stand.provision("Carla@example.com");
	expect(await stand.roleOf(user.id)).toBe("viewer");
	expect(user.emails).toBeUndefined();
});

test("only addresses of verified domains are provisioned", async () => {
	for (const address of [
		"eve@gmail.com",
		"eve@sub.example.com",
		"eve@other.example",
		"eve@example.com.evil.example",
	]) {
		const { status, body } = await stand.scim("POST", "Users", {
			schemas: [USER],
			userName: address,
		});
		expect(status).toBe(400);
		expect(body).toMatchObject({
			schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
			status: "400",
			scimType: "invalidValue",
			detail: expect.stringContaining("not a verified domain"),
		});
	}
	const { rowCount } = await stand.database.owner.query(
		"select from users where email like 'eve@%'",
	);
	expect(rowCount).toBe(0);
});

test("the database refuses an account in a domain that is not verified, whatever the service asks for", async () => {
	const { pool } = stand.database;
	await pool.query("begin");
	await expect(
		pool.query(
			"select * from provision_user(repeat('x', 32), 'a@b.example', 'A')",
		),
	).rejects.toMatchObject({ constraint: "verified_domain" });
	await pool.query("rollback");
});

test("an existing member with this address is linked, and keeps the role", async () => {
	const { rows } = await stand.database.owner.query<{ email: string }>(
		"select email from users where id = $1",
		[stand.member.id],
	);
	const user = await stand.provision("the member", {
		emails: [{ value: rows[0]?.email }],
	});
	expect(user.id).toBe(stand.member.id);
	expect(await stand.roleOf(user.id)).toBe("member");
});

test("an account that nobody has proved loses the password of whoever made it", async () => {
	const { owner } = stand.database;
	const id = stand.viewer.id;
	const { rows } = await owner.query(
		"update users set address_proof = null where id = $1 returning email",
		[id],
	);
	await owner.query(
		"insert into accounts (id, user_id, provider_id, account_id, password) values (repeat('p', 32), $1, 'credential', $2, 'x')",
		[id, id],
	);
	await stand.provision(rows[0].email);
	const left = await owner.query("select from accounts where user_id = $1", [
		id,
	]);
	expect(left.rowCount).toBe(0);
	const calls = await stand.call("listRisks", {}, stand.viewer.token);
	expect(calls.status).toBe(401);
});

test("userName and externalId are unique in the organization, and only there", async () => {
	const name = freshName();
	await stand.provision(name, { externalId: "unique-1" });
	for (const other of [
		{ userName: name.toUpperCase() },
		{ userName: freshName(), externalId: "unique-1" },
		// Another userName for the same address.
		{ userName: "someone", emails: [{ value: name }] },
	]) {
		const { status, body } = await stand.scim("POST", "Users", {
			schemas: [USER],
			...other,
		});
		expect(status).toBe(409);
		expect(body.scimType).toBe("uniqueness");
	}
	const elsewhere = await stand.otherScim("POST", "Users", {
		schemas: [USER],
		userName: name,
		externalId: "unique-1",
		emails: [{ value: "x@other.example" }],
	});
	expect(elsewhere.status).toBe(201);
});

test("Entra ID's test of the connection, its look-up and its creation of a user", async () => {
	const probe = await stand.scim(
		"GET",
		`Users?filter=${encodeURIComponent('userName eq "5a0c8f5e-no-such-user"')}`,
	);
	expect(probe).toMatchObject({
		status: 200,
		body: { totalResults: 0, itemsPerPage: 0, startIndex: 1, Resources: [] },
	});
	const { status, body } = await stand.scim("POST", "Users", {
		schemas: [
			USER,
			"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
		],
		externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
		userName: "Test_User_ab6490ee@example.com",
		active: "True",
		emails: [{ primary: true, type: "work", value: "ab6490ee@example.com" }],
		meta: { resourceType: "User" },
		name: {
			formatted: "given family",
			familyName: "family",
			givenName: "given",
		},
		roles: [],
		"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {
			department: "bob",
			manager: "x",
		},
	});
	expect(status).toBe(201);
	expect(body).toMatchObject({ active: true });
	for (const filter of [
		'userName eq "TEST_user_AB6490ee@example.com"',
		'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
		'emails[type eq "work" and value eq "ab6490ee@example.com"]',
		`id eq "${body.id}" and active eq "True"`,
		'name.familyName co "amil" and meta.created gt "2020-01-01T00:00:00Z"',
	]) {
		const found = await stand.scim(
			"GET",
			`Users?filter=${encodeURIComponent(filter)}`,
		);
		expect(found.body.totalResults, filter).toBe(1);
		expect(found.body.Resources[0].id).toBe(body.id);
	}
	const wrongCase = await stand.scim(
		"GET",
		`Users?filter=${encodeURIComponent('externalId eq "0A21F0F2-8D2A-4F8E-BF98-7363C4AED4EF"')}`,
	);
	expect(wrongCase.body.totalResults).toBe(0);
});

test("Entra ID's changes of a user: operations with capitals, filters in paths, names with dots, booleans as text", async () => {
	const user = await stand.provision(freshName(), {
		emails: [{ type: "work", value: freshName(), primary: true }],
		name: { givenName: "Old" },
	});
	const address = `updated-${++made}@example.com`;
	const { status, body } = await stand.patch(
		`Users/${user.id}`,
		{ op: "Replace", path: 'emails[type eq "work"].value', value: address },
		{ op: "Replace", path: "name.familyName", value: "updatedFamilyName" },
		{ op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "1" },
		{
			op: "Add",
			path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
			value: "Legal",
		},
		{
			op: "Add",
			value: { displayName: "New Name", "name.givenName": "New", title: "CTO" },
		},
		{ op: "Remove", path: "externalId" },
	);
	expect(status).toBe(200);
	expect(body).toMatchObject({
		displayName: "New Name",
		title: "CTO",
		name: { givenName: "New", familyName: "updatedFamilyName" },
		emails: [{ type: "work", value: address, primary: true }],
	});
	const off = await stand.patch(`Users/${user.id}`, {
		op: "Replace",
		path: "active",
		value: "False",
	});
	expect(off).toMatchObject({ status: 200, body: { active: false } });
	expect(await stand.roleOf(user.id)).toBeUndefined();
	const found = await stand.scim(
		"GET",
		`Users?filter=${encodeURIComponent(`userName eq "${user.userName}"`)}`,
	);
	expect(found.body.Resources[0].active).toBe(false);
	const on = await stand.patch(`Users/${user.id}`, {
		op: "Replace",
		path: "active",
		value: "True",
	});
	expect(on.body.active).toBe(true);
	expect(await stand.roleOf(user.id)).toBe("viewer");
});

test("Entra ID replaces an address that is not there yet, and finds the primary one by a text", async () => {
	const user = await stand.provision(freshName());
	const first = freshName();
	const replace = (path: string, value: string) =>
		stand.patch(`Users/${user.id}`, { op: "Replace", path, value });
	const added = await replace('emails[type eq "work"].value', first);
	expect(added.body.emails).toEqual([{ type: "work", value: first }]);
	const again = await replace('emails[type eq "work"].primary', "True");
	expect(again.body.emails).toMatchObject([{ value: first, primary: true }]);
	const second = freshName();
	const changed = await replace('emails[primary eq "True"].value', second);
	expect(changed.body.emails).toMatchObject([{ type: "work", value: second }]);
});

test("Okta's test of the connection, its update with PUT and its deactivation", async () => {
	const first = await stand.scim("GET", "Users?startIndex=1&count=2");
	expect(first.body).toMatchObject({ startIndex: 1, itemsPerPage: 2 });
	const user = await stand.provision(freshName(), {
		externalId: "00ujl29u0le5T6Aj10h7",
	});
	const put = await stand.scim("PUT", `Users/${user.id}`, {
		...user,
		externalId: "00ujl29u0le5T6Aj10h7",
		name: { givenName: "Another", middleName: "Excited", familyName: "User" },
		password: "1mz050nq",
		groups: [],
	});
	expect(put).toMatchObject({
		status: 200,
		body: { id: user.id, active: true, name: { givenName: "Another" } },
	});
	expect(JSON.stringify(put.body)).not.toContain("1mz050nq");
	const off = await stand.patch(`Users/${user.id}`, {
		op: "replace",
		value: { active: false },
	});
	expect(off.body.active).toBe(false);
	expect(await stand.roleOf(user.id)).toBeUndefined();
	// Without `active`, PUT does not bring anybody back.
	const { active: _, ...rest } = put.body;
	await stand.scim("PUT", `Users/${user.id}`, rest);
	expect(await stand.roleOf(user.id)).toBeUndefined();
});

test("PUT replaces a user: what is left out is gone (section 3.5.1)", async () => {
	const user = await stand.provision(freshName(), {
		displayName: "Shown",
		title: "CTO",
	});
	const { body } = await stand.scim("PUT", `Users/${user.id}`, {
		schemas: [USER],
		id: "ignored",
		userName: user.userName,
		displayName: "Other",
	});
	expect(body).toMatchObject({ id: user.id, displayName: "Other" });
	expect(body.title).toBeUndefined();
});

test("DELETE ends the membership and forgets the user, who can be provisioned again", async () => {
	const user = await stand.provision(freshName(), { externalId: "gone-1" });
	expect((await stand.scim("DELETE", `Users/${user.id}`)).status).toBe(204);
	expect(await stand.roleOf(user.id)).toBeUndefined();
	for (const method of ["GET", "DELETE"]) {
		const { status, body } = await stand.scim(method, `Users/${user.id}`);
		expect(status).toBe(404);
		expect(body.status).toBe("404");
	}
	const again = await stand.provision(user.userName, { externalId: "gone-1" });
	expect(again.id).toBe(user.id);
	expect(await stand.roleOf(user.id)).toBe("viewer");
});

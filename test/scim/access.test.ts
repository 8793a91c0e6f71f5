import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import { until } from "../support/until.ts";
import {
	makeCredential,
	type ScimStand,
	sender,
	startScim,
	USER,
	verify,
} from "./stand.ts";

let stand: ScimStand;
beforeAll(async () => {
	stand = await startScim();
});
afterAll(() => stand.close());

let made = 0;
const freshName = () => `person-${++made}@example.com`;

const deactivate = { op: "replace", value: { active: false } };

test("without a credential that works, every request is 401, and its body is not read", async () => {
	const { owner } = stand.database;
	const revoked = await makeCredential(stand.database, stand.organizationId);
	const expired = await makeCredential(
		stand.database,
		stand.organizationId,
		"-1 minute",
	);
	const before = await owner.query(
		"update scim_credentials set revoked_at = now() where secret_hash = sha256($1)",
		[revoked],
	);
	expect(before.rowCount).toBe(1);
	for (const secret of [
		"",
		"x",
		makeSecret("scim"),
		revoked,
		expired,
		stand.admin.token,
	]) {
		for (const [method, path] of [
			["GET", "Users"],
			["POST", "Users"],
			["GET", "ServiceProviderConfig"],
			["GET", "nothing-here"],
		] as const) {
			const { status, body, headers } = await sender(stand.url, secret)(
				method,
				path,
				method === "POST" ? "{broken" : undefined,
			);
			expect(status).toBe(401);
			expect(headers.get("www-authenticate")).toBe("Bearer");
			expect(body).toMatchObject({
				schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
				status: "401",
			});
		}
	}
	// A SCIM credential opens nothing else.
	expect((await stand.call("listRisks", {}, stand.secret)).status).toBe(401);
});

test("another organization's client sees nothing and changes nothing", async () => {
	const user = await stand.provision(freshName(), { externalId: "mine" });
	const group = await stand.makeGroup("Mine", [user.id]);
	const theirs = await stand.otherScim("GET", "Users?count=100");
	expect(theirs.body.totalResults).toBe(0);
	expect((await stand.otherScim("GET", "Groups")).body.totalResults).toBe(0);
	const body = {
		schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp", USER],
		userName: "taken",
		displayName: "Taken",
		Operations: [deactivate],
	};
	for (const path of [`Users/${user.id}`, `Groups/${group.id}`]) {
		for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
			const { status } = await stand.otherScim(
				method,
				path,
				/^P/.test(method) ? body : undefined,
			);
			expect(status, `${method} ${path}`).toBe(404);
		}
	}
	const added = await stand.otherScim("POST", "Groups", {
		displayName: "Theirs",
		members: [{ value: user.id }],
	});
	expect(added.status).toBe(400);
	expect((await stand.scim("GET", `Users/${user.id}`)).body).toMatchObject({
		active: true,
		externalId: "mine",
	});
});

test("active false and DELETE end sessions, API tokens and apps that reach no other organization", async () => {
	const { owner } = stand.database;
	for (const end of ["patch", "delete"] as const) {
		const one = await stand.makeUser({ [stand.organizationId]: "member" });
		const both = await stand.makeUser({
			[stand.organizationId]: "member",
			[stand.otherOrganizationId]: "member",
		});
		for (const user of [one, both]) {
			const { rows } = await owner.query(
				"update users set address_proof = 'LINK' where id = $1 returning email",
				[user.id],
			);
			await stand.provision(rows[0].email);
			await owner.query(
				`insert into sessions (id, user_id, token, expires_at)
				values (substr($1, 9) || 'sessions', $1, $1, now() + interval '1 day')`,
				[user.id],
			);
		}
		// A second token of the user with two organizations, which reaches only ours.
		const narrow = `N${both.tokenId.slice(1)}`;
		await owner.query(
			`insert into api_tokens (id, user_id, name, token_hash, organization_ids)
			values ($1, $2, 'narrow', sha256($4::text::bytea), array[$3]::typed_id[])`,
			[narrow, both.id, stand.organizationId, end],
		);
		for (const { id } of [one, both]) {
			const { status } =
				end === "patch"
					? await stand.patch(`Users/${id}`, deactivate)
					: await stand.scim("DELETE", `Users/${id}`);
			expect(status).toBe(end === "patch" ? 200 : 204);
		}
		expect((await stand.call("listOrganizations", {}, one.token)).status).toBe(
			401,
		);
		const left = await stand.use("listOrganizations", {}, both.token);
		expect(left.organizations.map(({ id }: { id: string }) => id)).toEqual([
			stand.otherOrganizationId,
		]);
		const { rows } = await owner.query(
			"select user_id from sessions where user_id = any ($1)",
			[[one.id, both.id]],
		);
		expect(rows).toEqual([{ user_id: both.id }]);
		const tokens = await owner.query(
			"select id from api_tokens where user_id = any ($1) and revoked_at is null",
			[[one.id, both.id]],
		);
		expect(tokens.rows).toEqual([{ id: both.tokenId }]);
		expect(
			(await stand.audited())
				.filter(({ operation }) => operation === "deprovisionUser")
				.map(({ record_kind }) => record_kind),
		).toContain("api_token");
	}
});

test("open invitations to the organization end with the membership", async () => {
	const name = freshName();
	const user = await stand.provision(name);
	await stand.database.owner.query(
		`insert into invitations (organization_id, id, email, role, token_hash, invited_by, expires_at)
		values ($1, $3, $2, 'member', sha256('i'), 'Grace', now() + interval '1 day')`,
		[stand.organizationId, name, `${"i".repeat(32)}`],
	);
	await stand.patch(`Users/${user.id}`, deactivate);
	const { rows } = await stand.database.owner.query(
		"select from invitations where email = $1 and revoked_at is null",
		[name],
	);
	expect(rows).toEqual([]);
});

test("a user's other API tokens do not reach an organization that provisions the user", async () => {
	const user = await stand.makeUser({ [stand.otherOrganizationId]: "member" });
	const { rows } = await stand.database.owner.query(
		"update users set address_proof = 'LINK' where id = $1 returning email",
		[user.id],
	);
	await stand.provision(rows[0].email);
	expect(await stand.roleOf(user.id)).toBe("viewer");
	const { organizations } = await stand.use(
		"listOrganizations",
		{},
		user.token,
	);
	expect(organizations.map(({ id }: { id: string }) => id)).toEqual([
		stand.otherOrganizationId,
	]);
});

test("the last administrator is neither removed, deactivated nor demoted, and the attempt is in both logs", async () => {
	const { rows } = await stand.database.owner.query(
		"update users set address_proof = 'LINK' where id = $1 returning email",
		[stand.admin.id],
	);
	const user = await stand.provision(rows[0].email);
	expect(user.id).toBe(stand.admin.id);
	const group = await stand.makeGroup("Demoted");
	await stand.database.owner.query(
		"update scim_groups set role = 'viewer' where id = $1",
		[group.id],
	);
	stand.log.take();
	const credential = await stand.database.owner.query(
		"select id from scim_credentials where organization_id = $1",
		[stand.organizationId],
	);
	for (const attempt of [
		() => stand.patch(`Users/${user.id}`, deactivate),
		() => stand.scim("DELETE", `Users/${user.id}`),
		() => stand.scim("PUT", `Users/${user.id}`, { ...user, active: false }),
		() =>
			stand.patch(`Groups/${group.id}`, {
				op: "add",
				path: "members",
				value: [{ value: user.id }],
			}),
	]) {
		const { status, body } = await attempt();
		expect(status).toBe(403);
		expect(body.detail).toContain("last administrator");
		expect(stand.log.take("scim_refused")).toEqual([
			{
				level: 40,
				event: "scim_refused",
				reason: "LAST_ADMINISTRATOR",
				organization: stand.organizationId,
				credential: credential.rows[0].id,
				path: expect.stringMatching(/^(Users|Groups)\/ID$/),
				address: "127.0.0.1",
				requestId: expect.any(String),
			},
		]);
		expect(await stand.roleOf(user.id)).toBe("admin");
	}
	expect((await stand.scim("GET", `Users/${user.id}`)).body.active).toBe(true);
	expect((await stand.scim("GET", `Groups/${group.id}`)).body.members).toEqual(
		[],
	);
	const refused = (await stand.audited()).filter(
		({ outcome }) => outcome === "REFUSED",
	);
	expect(refused).toHaveLength(4);
	expect(refused[0]).toMatchObject({
		actor_name: "SCIM: Entra ID",
		record_id: user.id,
	});
});

test("whoever is provisioned cannot come back into a domain that is no longer verified", async () => {
	await verify(stand.database, stand.organizationId, "later.example");
	const user = await stand.provision("x@later.example");
	await stand.patch(`Users/${user.id}`, deactivate);
	await stand.database.owner.query(
		"delete from organization_domains where domain = 'later.example'",
	);
	const { status } = await stand.patch(`Users/${user.id}`, {
		op: "replace",
		path: "active",
		value: true,
	});
	expect(status).toBe(400);
	expect(await stand.roleOf(user.id)).toBeUndefined();
});

test("discovery says what is supported, and what is not is refused (section 4)", async () => {
	const config = await stand.scim("GET", "ServiceProviderConfig");
	expect(config.body).toMatchObject({
		patch: { supported: true },
		bulk: { supported: false },
		filter: { supported: true, maxResults: 100 },
		sort: { supported: false },
		etag: { supported: false },
	});
	const types = await stand.scim("GET", "ResourceTypes");
	expect(types.body.Resources.map(({ id }: { id: string }) => id)).toEqual([
		"User",
		"Group",
	]);
	for (const { id, meta } of types.body.Resources) {
		const one = await stand.scim("GET", `ResourceTypes/${id}`);
		expect(one.body.meta.location).toBe(meta.location);
	}
	const schemas = await stand.scim("GET", "Schemas");
	expect(schemas.body.totalResults).toBe(2);
	expect((await stand.scim("GET", `Schemas/${USER}`)).body.name).toBe("User");
	expect((await stand.scim("GET", "Schemas?filter=id%20pr")).status).toBe(403);
	expect((await stand.scim("POST", "Bulk", {})).status).toBe(501);
	expect((await stand.scim("GET", "Me")).status).toBe(501);
	expect((await stand.scim("GET", "Devices")).status).toBe(404);
	const wrong = await stand.scim("PUT", "Users", {});
	expect(wrong.status).toBe(405);
	expect(wrong.headers.get("allow")).toBe("GET, POST");
});

test("a wrong body is refused with its reason, and never gives 5xx", async () => {
	for (const [body, status, headers] of [
		["{broken", 400, {}],
		["[]", 400, {}],
		["null", 400, {}],
		["{}", 400, {}],
		[`{"userName":"${"x".repeat(400)}@example.com"}`, 400, {}],
		['{"userName":"a\\u0000@example.com"}', 400, {}],
		[`${'{"a":'.repeat(30)}1${"}".repeat(30)}`, 400, {}],
		[`{"userName":"${"x".repeat(1024 * 1024)}"}`, 413, {}],
		['{"userName":"x@example.com"}', 415, { "content-type": "text/plain" }],
	] as const) {
		const answer = await stand.scim("POST", "Users", body, headers);
		expect(answer.status, body.slice(0, 50)).toBe(status);
		expect(answer.body.status).toBe(String(status));
	}
	for (const path of [
		"Users/%00",
		"Users/%ff",
		"Users/..%2f..",
		"Users/a/b",
		"Users//",
		"Users?filter=%00",
		`Users?filter=${"x".repeat(2000)}`,
		`Users?filter=${"x".repeat(9000)}`,
		'Users?filter=userName%20eq%20"%00"',
		"Groups/'",
	]) {
		const { status } = await stand.scim("GET", path);
		expect([400, 404, 414], path).toContain(status);
	}
});

test("administrators see the last changes and rejected requests without names and addresses", async () => {
	const name = freshName();
	await stand.provision(name);
	await stand.scim("POST", "Users", { userName: "eve@gmail.com" });
	await until("the refusal", async () => {
		const { rows } = await stand.database.owner.query(
			"select * from scim_requests where organization_id = $1 order by at desc limit 1",
			[stand.organizationId],
		);
		return rows[0]?.status === 400;
	});
	const { rows } = await stand.database.owner.query(
		"select method, path, status, detail from scim_requests where organization_id = $1 order by at desc",
		[stand.organizationId],
	);
	expect(rows[0]).toMatchObject({
		method: "POST",
		path: "Users",
		detail: expect.stringContaining("gmail.com is not a verified domain"),
	});
	expect(rows.length).toBeLessThanOrEqual(100);
	expect(JSON.stringify(rows)).not.toMatch(/@example\.com|eve@/);
});

test("a closed organization's client gets 403 with the reason, and so does everybody in maintenance", async () => {
	const { owner } = stand.database;
	await owner.query(
		"insert into organization_closures (organization_id, kind, reason) values ($1, 'SUSPENDED', 'No contract.')",
		[stand.otherOrganizationId],
	);
	stand.service.wake();
	await until(
		"the closure",
		async () => (await stand.otherScim("GET", "Users")).status === 403,
	);
	const refused = await stand.otherScim("GET", "Users");
	expect(refused.body).toMatchObject({
		status: "403",
		detail: expect.stringContaining("No contract."),
	});
	expect((await stand.scim("GET", "Users?count=0")).status).toBe(200);
	await owner.query("insert into maintenance (message) values ('Back soon.')");
	stand.service.wake();
	await until(
		"maintenance",
		async () => (await stand.scim("GET", "Users")).status === 403,
	);
	const away = await stand.scim("GET", "Users");
	expect(away.body.detail).toContain("Back soon.");
	expect(away.headers.get("retry-after")).not.toBeNull();
	await owner.query("delete from maintenance");
});

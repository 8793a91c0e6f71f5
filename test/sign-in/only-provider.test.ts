import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { endSignInRule } from "../../src/sign-in/only-provider/sign-in-rule.ts";
import { sendTo } from "../support/console-client.ts";
import { auditEntries, joinOrganization, makeUser } from "../support/people.ts";
import {
	DOMAIN,
	personAt,
	START,
	startOnlyProvider,
} from "./only-provider-stand.ts";

const {
	close,
	base,
	call,
	callTool,
	connectApp,
	makeCompany,
	makeToken,
	member,
	query,
	read,
	served,
	signInAt,
	verify,
} = await startOnlyProvider();
afterAll(close);

describe("switching it on", () => {
	test("takes a session of the provider, and an administrator who gets in without it", async () => {
		const { id, keeper, update } = await makeCompany();
		const named = { emergency_user_ids: [keeper.id] };
		const withPassword = await update(
			{ only_provider: true, ...named },
			keeper.cookie,
		);
		expect(withPassword.body.fields[0].field).toBe("only_provider");
		const alone = await update({ only_provider: true });
		expect(alone.body.fields[0].field).toBe("emergency_user_ids");
		const { body } = await update({ only_provider: true, ...named });
		expect(body.rule).toMatchObject({
			only_provider: true,
			accepts_older_tokens: true,
			is_own_session_accepted: true,
		});
		const [entry] = (await auditEntries(served.database, id)).slice(-1);
		expect(entry).toMatchObject({
			operation: "updateSignInRule",
			changes: {
				only_provider: { before: false, after: true },
				emergency_accounts: { before: [], after: [keeper.email] },
			},
		});
	});

	test("an emergency account is an administrator with a safe way to sign in", async () => {
		const { id, update } = await makeCompany();
		const weak = await member(id, "admin");
		const plain = await member(id, "member");
		for (const user of [weak, plain]) {
			const { body } = await update({ emergency_user_ids: [user.id] });
			expect(body.fields[0].field).toBe("emergency_user_ids[0]");
		}
		await query("update users set two_factor_enabled = true where id = $1", [
			weak.id,
		]);
		const { status } = await update({ emergency_user_ids: [weak.id] });
		expect(status).toBe(200);
	});

	test("it takes a fresh proof, and an administrator", async () => {
		const { id, boss, update } = await makeCompany();
		const viewer = await member(id, "viewer");
		expect((await update({ only_provider: false }, viewer.cookie)).status).toBe(
			403,
		);
		const { body: me } = await call("getProfile", {}, boss);
		await query(
			"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
			[me.profile.user_id],
		);
		const { body } = await update({ only_provider: true });
		expect(body.fields[0].field).toBe("proof");
	});
});

describe("a session without the provider", () => {
	test("reaches the organization at no door of the console, and is told how to sign in", async () => {
		const { id, path, switchOn } = await makeCompany();
		const locked = await member(id, "admin");
		const risk = await call(
			"addRisk",
			{
				organization_id: id,
				name: "R",
				category: "C",
				treatment: "ACCEPTED",
				inherent_likelihood: 1,
				inherent_impact: 1,
			},
			locked.cookie,
		);
		expect(risk.status).toBe(200);
		await switchOn();
		const { status, body } = await read(id, locked.cookie);
		expect(status).toBe(403);
		expect(body.message).toBe(
			"Acme accepts only its identity provider; sign in with it to continue there",
		);
		for (const [operation, input] of [
			["getRisk", { id: risk.body.risk.id }],
			["updateRisk", { id: risk.body.risk.id, note: "x" }],
			["listMembers", { organization_id: id }],
			["updateSignInRule", { organization_id: id, only_provider: false }],
			["leaveOrganization", { organization_id: id }],
		] as const) {
			const answer = await call(operation, input, locked.cookie);
			expect(answer.status, operation).toBe(403);
		}
		const csv = await sendTo(
			base,
			`/api/console/export/listRisks.csv?organization_id=${id}`,
			undefined,
			{ cookie: locked.cookie },
		);
		expect(csv.status).toBe(403);
		const listed = await call("listOrganizations", {}, locked.cookie);
		expect(listed.body.organizations).toEqual([]);
		expect(listed.body.closed).toEqual([
			{
				id,
				message: expect.stringContaining("Acme"),
				why: "PROVIDER",
				sign_in_ways: [{ name: "Example Inc.", path }],
			},
		]);
		// The session goes on for what is the user's own.
		expect((await call("getProfile", {}, locked.cookie)).status).toBe(200);
	});

	test("goes on in the other organizations of its user", async () => {
		const { id, switchOn } = await makeCompany();
		const user = await member(id, "member");
		const other = await createOrganization(served.database.pool, "Easy");
		await joinOrganization(served.database, user, other, "admin");
		await switchOn();
		expect((await read(id, user.cookie)).status).toBe(403);
		expect((await read(other, user.cookie)).status).toBe(200);
	});

	test("is also one of another organization's provider", async () => {
		const acme = await makeCompany();
		const other = await makeCompany();
		const domain = `${randomUUID()}.example`;
		await verify(other.id, domain);
		const person = personAt(domain);
		const user = await makeUser(
			served.database,
			{ organizationId: acme.id, role: "admin" },
			{ email: person.email ?? "" },
		);
		await joinOrganization(served.database, user, other.id, "viewer");
		const cookie = await signInAt(other.path, person);
		expect((await read(acme.id, cookie)).status).toBe(200);
		await acme.switchOn();
		expect((await read(acme.id, cookie)).status).toBe(403);
		expect((await read(other.id, cookie)).status).toBe(200);
	});

	test("the installation's provider counts if the domain of the address is verified for the organization", async () => {
		const { id, switchOn } = await makeCompany();
		const person = personAt(DOMAIN);
		await makeUser(
			served.database,
			{ organizationId: id, role: "viewer" },
			{ email: person.email ?? "" },
		);
		await switchOn();
		const cookie = await signInAt(START, person);
		expect((await read(id, cookie)).status).toBe(403);
		await verify(id, DOMAIN);
		expect((await read(id, cookie)).status).toBe(200);
		await query("delete from organization_domains where domain = $1", [DOMAIN]);
		expect((await read(id, cookie)).status).toBe(403);
	});
});

describe("API tokens and connected apps", () => {
	test("those that were made without the provider do not reach the organization", async () => {
		const { id, path, switchOn } = await makeCompany();
		const user = await member(id, "member");
		const other = await createOrganization(served.database.pool, "Easy");
		await joinOrganization(served.database, user, other, "admin");
		await switchOn();
		const token = await makeToken(user.cookie);
		const app = await connectApp(user.cookie);
		for (const secret of [token, app.token]) {
			const refused = await callTool(secret, id);
			expect(refused.statuses).toEqual([403, 403]);
			expect(refused.text).toContain("sign-in with its identity provider");
			expect((await callTool(secret, other)).statuses).toEqual([200, 200]);
		}
		const named = await call(
			"createApiToken",
			{ name: "x", organization_ids: [id] },
			user.cookie,
		);
		expect(named.status).toBe(400);
		expect(named.body.fields[0].message).toContain(
			"Acme accepts only its identity provider",
		);
		const boss = await signInAt(path, personAt());
		for (const secret of [
			await makeToken(boss),
			(await connectApp(boss)).token,
		]) {
			expect((await callTool(secret, id)).statuses).toEqual([200, 200]);
		}
	});

	test("a token that would reach nothing is not made", async () => {
		const { id, switchOn } = await makeCompany();
		const user = await member(id, "member");
		await switchOn();
		const { status, body } = await call(
			"createApiToken",
			{ name: "x" },
			user.cookie,
		);
		expect(status).toBe(403);
		expect(body.message).toContain("only its identity provider");
		expect((await connectApp(user.cookie)).status).toBe(403);
	});

	test("older ones go on, are marked, and can be shut out in one step", async () => {
		const { id, boss, keeper, update, switchOn } = await makeCompany();
		const user = await member(id, "member");
		const token = await makeToken(user.cookie);
		expect((await switchOn()).older_tokens).toBe(1);
		expect((await callTool(token, id)).statuses).toEqual([200, 200]);
		const tokens = async () =>
			(
				await call("listOrganizationApiTokens", { organization_id: id }, boss)
			).body.api_tokens.map((one: Record<string, unknown>) => [
				one.name,
				one.is_made_without_provider,
			]);
		await makeToken(boss, { name: "New" });
		expect(await tokens()).toEqual([
			["New", false],
			["Script", true],
		]);
		// A second token in the place of the old one is a new one.
		const { body: own } = await call("listApiTokens", {}, user.cookie);
		const rotated = await call(
			"rotateApiToken",
			{ id: own.api_tokens[0].id },
			user.cookie,
		);
		expect(rotated.status).toBe(403);
		const shut = await update({ accepts_older_tokens: false });
		expect(shut.body.rule.older_tokens).toBe(0);
		expect((await callTool(token, id)).statuses).toEqual([403, 403]);
		expect(await tokens()).toEqual([["New", false]]);
		const off = await update({ only_provider: false }, keeper.cookie);
		expect(off.status).toBe(200);
		expect((await callTool(token, id)).statuses).toEqual([200, 200]);
	});
});

test("the last provider stays on, and switching the rule off opens everything again", async () => {
	const { id, providerId, boss, keeper, update, switchOn } =
		await makeCompany();
	const user = await member(id, "member");
	await switchOn();
	const one = { organization_id: id, id: providerId };
	const off = { ...one, is_enabled: false };
	for (const cookie of [boss, keeper.cookie]) {
		expect((await call("updateIdentityProvider", off, cookie)).status).toBe(
			400,
		);
		expect((await call("deleteIdentityProvider", one, cookie)).status).toBe(
			400,
		);
	}
	expect((await read(id, user.cookie)).status).toBe(403);
	await withTenant(served.database.pool, id, (client) =>
		endSignInRule(client, systemPrincipal(), id),
	);
	expect((await read(id, user.cookie)).status).toBe(200);
	expect((await auditEntries(served.database, id)).at(-1)).toMatchObject({
		operation: "updateSignInRule",
		changes: { only_provider: { before: true, after: false } },
	});
	await expect(
		withTenant(served.database.pool, id, (client) =>
			endSignInRule(client, systemPrincipal(), id),
		),
	).rejects.toThrow("already");
	expect((await update({ only_provider: false })).status).toBe(200);
	expect(
		(await call("updateIdentityProvider", off, keeper.cookie)).status,
	).toBe(200);
});

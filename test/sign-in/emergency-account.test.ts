import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { auditEntries, joinOrganization } from "../support/people.ts";
import {
	DOMAIN,
	personAt,
	START,
	startOnlyProvider,
} from "./only-provider-stand.ts";

const {
	close,
	call,
	callTool,
	makeCompany,
	makeToken,
	member,
	nextMailTo,
	query,
	read,
	served,
	setSecondFactor,
	signInAt,
	signInWithPasskey,
} = await startOnlyProvider();
afterAll(close);

describe("an emergency account", () => {
	test("reaches the organization, which the audit log and a mail to the others say once", async () => {
		const { id, boss, keeper, switchOn } = await makeCompany();
		await switchOn();
		const cookie = await signInWithPasskey(keeper);
		const { body: me } = await call("getProfile", {}, boss);
		const both = await Promise.all([read(id, cookie), read(id, cookie)]);
		expect(both.map(({ status }) => status)).toEqual([200, 200]);
		await read(id, cookie);
		const uses = (await auditEntries(served.database, id)).filter(
			({ operation }) => operation === "useEmergencyAccount",
		);
		expect(uses).toMatchObject([{ actor_id: keeper.id, outcome: "DONE" }]);
		const mail = await nextMailTo(me.profile.email);
		expect(mail.text).toContain("Emergency account used in Acme");
		expect(mail.text).toContain(keeper.name);
		const mails = await query(
			"select user_id from mails where organization_id = $1 and kind = 'EMERGENCY_SIGN_IN'",
			[id],
		);
		expect(mails).toEqual([{ user_id: me.profile.user_id }]);
	});

	test("does not get in without two-factor authentication, whatever it signs in with", async () => {
		const { id, keeper, update, switchOn } = await makeCompany();
		await switchOn();
		const second = await member(id, "admin");
		await setSecondFactor(second.id, true);
		await update({ emergency_user_ids: [keeper.id, second.id] });
		for (const { id: user, cookie } of [keeper, second]) {
			expect((await read(id, cookie)).status).toBe(200);
			await setSecondFactor(user, false);
			const { status, body } = await read(id, cookie);
			expect(status).toBe(403);
			expect(body.message).toContain(
				"your emergency account and two-factor authentication",
			);
		}
	});

	test("cannot be an account with a passkey and no second factor, because the password alone would open it", async () => {
		const { keeper, update } = await makeCompany();
		await setSecondFactor(keeper.id, false);
		const { status, body } = await update({ emergency_user_ids: [keeper.id] });
		expect(status).toBe(400);
		expect(body.message).toContain("two-factor authentication on");
	});

	test("does not get in through a provider that is not the organization's, also if it has a second factor", async () => {
		const { id, keeper, update, switchOn } = await makeCompany();
		const second = await member(id, "admin", `${randomUUID()}@${DOMAIN}`);
		const person = { ...personAt(DOMAIN), email: second.email };
		// Otherwise, the first sign-in with the provider would remove the password.
		await query(
			"update users set address_proof = 'LINK', two_factor_enabled = true where id = $1",
			[second.id],
		);
		const cookie = await signInAt(START, person);
		expect((await read(id, cookie)).status).toBe(200);
		await switchOn();
		const named = { emergency_user_ids: [keeper.id, second.id] };
		expect((await update(named)).status).toBe(200);
		expect((await read(id, second.cookie)).status).toBe(200);
		expect((await read(id, cookie)).status).toBe(403);
	});

	test("makes no API token for the organization, and no other member gets in with it", async () => {
		const { id, keeper, switchOn } = await makeCompany();
		await switchOn();
		const cookie = await signInWithPasskey(keeper);
		const other = await createOrganization(served.database.pool, "Easy");
		expect((await call("createApiToken", { name: "x" }, cookie)).status).toBe(
			403,
		);
		await joinOrganization(served.database, keeper, other, "admin");
		const token = await makeToken(cookie);
		expect((await callTool(token, id)).statuses).toEqual([403, 403]);
		expect((await callTool(token, other)).statuses).toEqual([200, 200]);
	});

	test("the last one cannot be removed, demoted or leave, until another is named", async () => {
		const { id, boss, keeper, update, switchOn } = await makeCompany();
		await switchOn();
		const one = { organization_id: id, user_id: keeper.id };
		for (const [operation, input, cookie] of [
			["removeMember", one, boss],
			["updateMember", { ...one, role: "member" }, boss],
			["leaveOrganization", { organization_id: id }, keeper.cookie],
		] as const) {
			const { status, body } = await call(operation, input, cookie);
			expect([status, body.message], operation).toEqual([
				400,
				expect.stringContaining("last emergency account"),
			]);
		}
		const none = await update({ emergency_user_ids: [] });
		expect(none.body.fields[0].field).toBe("emergency_user_ids");
		const second = await member(id, "admin");
		await query("update users set two_factor_enabled = true where id = $1", [
			second.id,
		]);
		await update({ emergency_user_ids: [keeper.id, second.id] });
		const demoted = await call(
			"updateMember",
			{ ...one, role: "member" },
			boss,
		);
		expect(demoted.status).toBe(200);
		expect((await read(id, keeper.cookie)).status).toBe(403);
		await call("updateMember", { ...one, role: "admin" }, boss);
		expect((await read(id, keeper.cookie)).status).toBe(403);
	});
});

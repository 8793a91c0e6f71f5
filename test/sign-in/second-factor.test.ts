import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { runCommand } from "../support/command.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import {
	type DatabaseProxy,
	openDatabaseProxy,
} from "../support/database-proxy.ts";
import { auditEntries, makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { totp } from "../support/totp.ts";

let served: TestService;
let passwordHash: string;
beforeAll(async () => {
	served = await startService();
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => served.close());

const send = (path: string, body: object, cookie = "") =>
	sendTo(served.service.url, path, body, { cookie });

test("with a second factor, signing in needs the password and a code or a recovery code", async () => {
	const user = await makeUser(served.database, undefined, { passwordHash });
	const credentials = { email: user.email, password: PASSWORD };
	const signIn = () => send("/api/auth/sign-in/email", credentials);
	const { cookie } = await signIn();
	const enabled = await send(
		"/api/auth/two-factor/enable",
		{ password: PASSWORD },
		cookie,
	);
	expect(enabled.status).toBe(200);
	const { totpURI, backupCodes } = enabled.body;
	const verified = await send(
		"/api/auth/two-factor/verify-totp",
		{ code: totp(totpURI) },
		cookie,
	);
	expect(verified.status).toBe(200);
	for (const [path, code, status] of [
		["/api/auth/two-factor/verify-totp", "000000", 401],
		["/api/auth/two-factor/verify-totp", totp(totpURI, 1), 200],
		["/api/auth/two-factor/verify-backup-code", backupCodes[0], 200],
		["/api/auth/two-factor/verify-backup-code", backupCodes[0], 401],
	] as const) {
		const half = await signIn();
		expect(half.body).toMatchObject({ twoFactorRedirect: true });
		const refused = await send("/api/console/listApiTokens", {}, half.cookie);
		expect(refused.status).toBe(401);
		const whole = await send(path, { code }, half.cookie);
		expect(whole.status, path).toBe(status);
		if (status === 200) {
			expect(
				(await send("/api/console/listApiTokens", {}, whole.cookie)).status,
			).toBe(200);
		}
	}
});

test("an authenticator's code signs in only once, so a stolen copy is worthless, and only one of two simultaneous uses succeeds", async () => {
	const organizationId = await createOrganization(served.database.pool, "Acme");
	const user = await makeUser(
		served.database,
		{ organizationId, role: "viewer" },
		{ passwordHash },
	);
	const { uri } = await enrol(user);
	const halves = await Promise.all([1, 2, 3].map(() => signIn(user)));
	const code = totp(uri, 1);
	const verify = (given: string, half = halves[0]) =>
		send(
			"/api/auth/two-factor/verify-totp",
			{ code: given },
			half?.cookie ?? "",
		);
	// A wrong code does not use up the right one.
	expect((await verify("000000")).status).toBe(401);
	const answers = await Promise.all(halves.map((half) => verify(code, half)));
	expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
	const again = await verify(code, await signIn(user));
	expect(again).toMatchObject({ status: 401, body: { code: "INVALID_CODE" } });
	const entries = await auditEntries(served.database, organizationId);
	expect(entries.at(-1)).toMatchObject({
		operation: "signIn",
		outcome: "REFUSED",
		changes: { second_factor: { after: "TOTP" } },
	});
});

/** Signs in and turns on the second factor. */
async function enrol(user: TestUser) {
	const { cookie } = await signIn(user);
	const { body } = await send(
		"/api/auth/two-factor/enable",
		{ password: PASSWORD },
		cookie,
	);
	const verified = await send(
		"/api/auth/two-factor/verify-totp",
		{ code: totp(body.totpURI) },
		cookie,
	);
	return {
		cookie: verified.cookie || cookie,
		uri: body.totpURI as string,
		codes: body.backupCodes as string[],
	};
}

const signIn = (user: TestUser) =>
	send("/api/auth/sign-in/email", { email: user.email, password: PASSWORD });

test("a second factor is required from its first correct code on, and only the password shows it, renews it or turns it off", async () => {
	const organizationId = await createOrganization(served.database.pool, "Acme");
	const user = await makeUser(
		served.database,
		{ organizationId, role: "viewer" },
		{ passwordHash },
	);
	const started = await signIn(user);
	await send(
		"/api/auth/two-factor/enable",
		{ password: PASSWORD },
		started.cookie,
	);
	// The set-up of the second factor has begun and is not finished, so the password is enough.
	expect((await signIn(user)).body.twoFactorRedirect).toBeUndefined();
	const { cookie, uri, codes } = await enrol(user);
	expect(uri).toMatch(/^otpauth:\/\/totp\/Assay:.+secret=[A-Z2-7]+/);
	expect(codes).toHaveLength(10);
	const profile = await send("/api/console/getProfile", {}, cookie);
	expect(profile.body.profile.two_factor_enabled).toBe(true);
	for (const path of ["get-totp-uri", "generate-backup-codes", "disable"]) {
		const wrong = await send(
			`/api/auth/two-factor/${path}`,
			{ password: "wrong password!" },
			cookie,
		);
		expect(wrong.status, path).toBe(400);
	}
	const withPassword = (path: string) =>
		send(`/api/auth/two-factor/${path}`, { password: PASSWORD }, cookie);
	expect((await withPassword("get-totp-uri")).body.totpURI).toBe(uri);
	const renewed = await withPassword("generate-backup-codes");
	const useCode = async (code: string | undefined) => {
		const half = await signIn(user);
		return send(
			"/api/auth/two-factor/verify-backup-code",
			{ code },
			half.cookie,
		);
	};
	expect((await useCode(codes[0])).status).toBe(401);
	expect((await useCode(renewed.body.backupCodes[0])).status).toBe(200);
	expect((await withPassword("disable")).status).toBe(200);
	expect((await signIn(user)).body.twoFactorRedirect).toBeUndefined();
	const entries = await auditEntries(served.database, organizationId);
	expect(
		entries.map(({ operation, outcome }) => `${operation} ${outcome}`),
	).toEqual([
		"createOrganization DONE",
		"signIn DONE",
		"signIn DONE",
		"signIn DONE",
		"enableTwoFactor DONE",
		"renewRecoveryCodes REFUSED",
		"disableTwoFactor REFUSED",
		"renewRecoveryCodes DONE",
		"beginSignIn DONE",
		"signIn REFUSED",
		"beginSignIn DONE",
		"signIn DONE",
		"disableTwoFactor DONE",
		"signIn DONE",
	]);
	expect(entries.at(11)).toMatchObject({
		actor_name: user.name,
		changes: { second_factor: { after: "RECOVERY_CODE" } },
	});
	const text = JSON.stringify(entries);
	for (const secret of [...codes, ...renewed.body.backupCodes]) {
		expect(text).not.toContain(secret);
	}
});

test("only admins see who has a second factor and can reset a lost one, which signs out the member", async () => {
	const organizationId = await createOrganization(served.database.pool, "Acme");
	const make = (role: "admin" | "viewer") =>
		makeUser(served.database, { organizationId, role }, { passwordHash });
	const admin = await make("admin");
	const user = await make("viewer");
	const { cookie } = await enrol(user);
	const adminCookie = (await signIn(admin)).cookie;
	const seenBy = async (who: string) => {
		const { body } = await send(
			"/api/console/listMembers",
			{ organization_id: organizationId },
			who,
		);
		return Object.fromEntries(
			body.members.map((member: Record<string, unknown>) => [
				member.user_id,
				member.two_factor_enabled,
			]),
		);
	};
	expect(await seenBy(adminCookie)).toEqual({
		[admin.id]: false,
		[user.id]: true,
	});
	expect(await seenBy(cookie)).toEqual({ [admin.id]: null, [user.id]: null });
	const input = { organization_id: organizationId, user_id: user.id };
	const reset = (who: string, given: object = input) =>
		send("/api/console/resetTwoFactor", given, who);
	expect((await reset(cookie)).status).toBe(403);
	expect(
		(await reset(adminCookie, { ...input, user_id: admin.id })).status,
	).toBe(400);
	expect((await reset(adminCookie)).status).toBe(200);
	expect((await send("/api/console/getProfile", {}, cookie)).status).toBe(401);
	expect((await signIn(user)).body.twoFactorRedirect).toBeUndefined();
	const entries = await auditEntries(served.database, organizationId);
	expect(entries).toContainEqual(
		expect.objectContaining({
			operation: "resetTwoFactor",
			outcome: "DONE",
			actor_name: admin.name,
			record_id: user.id,
		}),
	);
});

test("the command resets a second factor that no admin can reset", async () => {
	const user = await makeUser(served.database, undefined, { passwordHash });
	await enrol(user);
	const ended = await runCommand(
		["user", "reset-two-factor", "--email", user.email],
		{ DATABASE_URL: served.database.url },
	);
	expect(ended.code).toBe(0);
	expect((await signIn(user)).body.twoFactorRedirect).toBeUndefined();
});

test("while the database cannot be reached, signing in and calls with a valid session get 503 and never 401", async () => {
	let proxy: DatabaseProxy | undefined;
	const apart = await startService(async (url) => {
		proxy = await openDatabaseProxy(url);
		return proxy.url;
	});
	onTestFinished(() => apart.close());
	const { email } = await makeUser(apart.database, undefined, { passwordHash });
	const send = (path: string, body: object, cookie = "") =>
		sendTo(apart.service.url, path, body, { cookie });
	const credentials = { email, password: PASSWORD };
	const { cookie } = await send("/api/auth/sign-in/email", credentials);
	const call = () => send("/api/console/listApiTokens", {}, cookie);
	expect((await call()).status).toBe(200);
	await proxy?.cut();
	for (const answer of [
		await call(),
		await send("/api/auth/sign-in/email", credentials),
		await send("/api/auth/sign-out", {}, cookie),
	]) {
		expect(answer.status).toBe(503);
		expect(answer.headers.get("retry-after")).not.toBeNull();
	}
	await proxy?.restore();
	expect((await call()).status).toBe(200);
});

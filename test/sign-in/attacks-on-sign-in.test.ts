import { afterAll, beforeAll, expect, test } from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeResetLink } from "../../src/sign-in/password-reset.ts";
import { type Answer, PASSWORD, sendTo } from "../support/console-client.ts";
import { auditEntries, makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { totp } from "../support/totp.ts";

let served: TestService;
let passwordHash: string;
beforeAll(async () => {
	served = await startService(undefined, {
		ASSAY_TRUSTED_PROXIES: "127.0.0.1, ::1",
	});
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => served.close());

const send = (
	path: string,
	body: object,
	cookie = "",
	address = "203.0.113.1",
): Promise<Answer> =>
	sendTo(served.service.url, path, body, {
		cookie,
		"x-forwarded-for": address,
	});

const makePerson = (role: "admin" | "viewer" = "viewer") =>
	makeUser(
		served.database,
		{ organizationId: served.organizationId, role },
		{ passwordHash },
	);

const signIn = (
	user: TestUser,
	password = PASSWORD,
	{ cookie = "", address = "203.0.113.1" } = {},
) =>
	send(
		"/api/auth/sign-in/email",
		{ email: user.email, password },
		cookie,
		address,
	);

/** Turns on a second factor. Returns its key and the recovery codes. */
async function enrol(user: TestUser) {
	const { cookie } = await signIn(user);
	const { body } = await send(
		"/api/auth/two-factor/enable",
		{ password: PASSWORD },
		cookie,
	);
	const code = totp(body.totpURI);
	const verified = await send(
		"/api/auth/two-factor/verify-totp",
		{ code },
		cookie,
	);
	expect(verified.status).toBe(200);
	return { uri: body.totpURI as string, codes: body.backupCodes as string[] };
}

const eventsOf = async (user: TestUser) =>
	(await auditEntries(served.database, served.organizationId))
		.filter(({ record_id }) => record_id === user.id)
		.map(({ operation, outcome }) => `${operation} ${outcome}`);

test("a false cookie before the real one cannot replay a code or hide a sign-in from the audit log", async () => {
	const user = await makePerson();
	const { uri } = await enrol(user);
	const code = totp(uri, 1);
	const verify = (cookie: string) =>
		send("/api/auth/two-factor/verify-totp", { code }, cookie);
	const first = await signIn(user);
	const second = await signIn(user);
	expect((await verify(`x-assay.two_factor=x.y; ${first.cookie}`)).status).toBe(
		200,
	);
	for (const cookie of [
		`x-assay.two_factor=x.y; ${second.cookie}`,
		second.cookie,
		// The cookie is sent twice, so it is ambiguous which one is ours.
		`${second.cookie}; ${second.cookie}`,
		// The service has not signed this cookie.
		second.cookie.replace(/two_factor=[^.;]+/, "two_factor=invented"),
	]) {
		expect((await verify(cookie)).status, cookie).toBe(401);
	}
	expect(await eventsOf(user)).toEqual([
		"signIn DONE",
		"enableTwoFactor DONE",
		"beginSignIn DONE",
		"beginSignIn DONE",
		"signIn DONE",
		"signIn REFUSED",
		"signIn REFUSED",
	]);
});

test("a right password without the code is in the audit log, with the address, and is no sign-in", async () => {
	const user = await makePerson();
	await enrol(user);
	const half = await signIn(user, PASSWORD, { address: "203.0.113.77" });
	expect(half.body.twoFactorRedirect).toBe(true);
	const { status } = await sendTo(
		served.service.url,
		"/api/console/listOrganizations",
		{},
		{ cookie: half.cookie },
	);
	expect(status).toBe(401);
	const entries = await auditEntries(served.database, served.organizationId);
	const last = entries.findLast(({ record_id }) => record_id === user.id);
	expect(last).toMatchObject({
		operation: "beginSignIn",
		outcome: "DONE",
		actor_name: user.name,
	});
	expect(JSON.stringify(last)).toContain("203.0.113.77");
});

test("only ten of many simultaneous guesses are checked, with TOTP and recovery codes counted together", async () => {
	const user = await makePerson();
	await enrol(user);
	const halves = await Promise.all(
		Array.from({ length: 6 }, () => signIn(user)),
	);
	const answers = await Promise.all(
		Array.from({ length: 30 }, (_, at) => {
			const cookie = halves[at % halves.length]?.cookie;
			return at % 2
				? send(
						"/api/auth/two-factor/verify-totp",
						{ code: `00000${at % 10}` },
						cookie,
					)
				: send(
						"/api/auth/two-factor/verify-backup-code",
						{ code: `aaaaa-aaa${at}` },
						cookie,
					);
		}),
	);
	const looked = answers.filter(({ status }) => status !== 429);
	expect(looked).toHaveLength(10);
	for (const { headers, status } of answers) {
		if (status === 429) expect(headers.get("retry-after")).toMatch(/^\d+$/);
	}
});

test("guesses of codes within a session are limited as well", async () => {
	const user = await makePerson();
	const { cookie } = await signIn(user);
	await send("/api/auth/two-factor/enable", { password: PASSWORD }, cookie);
	const statuses = await Promise.all(
		Array.from({ length: 12 }, async (_, at) => {
			const code = String(100_000 + at);
			const answer = await send(
				"/api/auth/two-factor/verify-totp",
				{ code },
				cookie,
			);
			return answer.status;
		}),
	);
	expect(statuses.filter((status) => status === 429)).toHaveLength(2);
});

test("trustDevice is rejected, and every sign-in asks for a code", async () => {
	const user = await makePerson();
	const { uri } = await enrol(user);
	const half = await signIn(user);
	const answer = await send(
		"/api/auth/two-factor/verify-totp",
		{ code: totp(uri, 1), trustDevice: true },
		half.cookie,
	);
	expect(answer).toMatchObject({
		status: 400,
		body: { code: "TRUST_DEVICE_NOT_SUPPORTED" },
	});
	expect(answer.cookie).not.toContain("trust_device");
});

test("wrong passwords from elsewhere do not lock out the owner of an address", async () => {
	const user = await makePerson();
	const known = await signIn(user);
	const elsewhere = { address: "198.51.100.9" };
	for (let at = 0; at < 11; at++) {
		await signIn(user, "wrong password!", elsewhere);
	}
	expect((await signIn(user, PASSWORD, elsewhere)).status).toBe(429);
	// Other networks are not affected. A browser that has signed in before is not affected even in
	// the same network.
	expect((await signIn(user)).status).toBe(200);
	expect(
		(await signIn(user, PASSWORD, { ...elsewhere, cookie: known.cookie }))
			.status,
	).toBe(200);
});

test("after a hundred wrong passwords in a day, only a known browser and a reset link still work", async () => {
	const user = await makePerson();
	const known = await signIn(user);
	await signIn(user, "wrong password!");
	// The other attempts of the day are stored directly. They came from as many networks.
	await served.database.owner.query(
		"update sign_in_failures set failures = 100 where failures = 1 and ends_at > now() + interval '1 hour'",
	);
	const stranger = { address: "192.0.2.77" };
	const locked = await signIn(user, PASSWORD, stranger);
	expect(locked.status).toBe(429);
	expect(locked.body.message).toContain("mailed link");
	expect(
		(await signIn(user, PASSWORD, { ...stranger, cookie: known.cookie }))
			.status,
	).toBe(200);
	const other = await makePerson();
	const notTheirs = await signIn(other);
	expect(
		(await signIn(user, PASSWORD, { ...stranger, cookie: notTheirs.cookie }))
			.status,
	).toBe(429);
	const link = await makeResetLink(
		served.database.owner,
		"https://x.test",
		user.id,
	);
	const reset = await send("/api/reset-password", {
		token: new URL(link).hash.slice(1),
		password: "another fine password",
	});
	expect(reset.cookie).toContain("known_browser=");
	await served.database.owner.query(
		"update sign_in_failures set failures = 100 where ends_at > now() + interval '1 hour'",
	);
	const back = await signIn(user, "another fine password", {
		...stranger,
		cookie: reset.cookie,
	});
	expect(back.status).toBe(200);
});

test("a right password does not reset the daily count of wrong ones that others have sent", async () => {
	const user = await makePerson();
	await signIn(user, "wrong password!", { address: "192.0.2.1" });
	await signIn(user, PASSWORD, { address: "192.0.2.2" });
	const { rows } = await served.database.owner.query(
		"select failures from sign_in_failures where ends_at > now() + interval '1 hour' order by since desc limit 1",
	);
	expect(rows[0]?.failures).toBe(1);
});

test("an action that gives lasting access needs a password or code of the last ten minutes, and accepts a new one", async () => {
	const admin = await makePerson("admin");
	const member = await makePerson();
	const { cookie } = await signIn(admin);
	const { organizationId } = served;
	const member_input = { organization_id: organizationId, user_id: member.id };
	const calls: [string, object][] = [
		["createApiToken", { name: "laptop" }],
		["createPasswordResetLink", member_input],
		["resetTwoFactor", member_input],
	];
	const age = () =>
		served.database.owner.query(
			"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
			[admin.id],
		);
	const callAll = () =>
		Promise.all(
			calls.map(async ([operation, input]) => {
				const { status, body } = await send(
					`/api/console/${operation}`,
					input,
					cookie,
				);
				return [status, body.fields?.[0]?.field];
			}),
		);
	await age();
	expect(await callAll()).toEqual(calls.map(() => [403, "proof"]));
	const prove = (password: string) =>
		send("/api/auth/verify-password", { password }, cookie);
	expect(await prove("wrong password!")).toMatchObject({
		status: 400,
		body: { code: "INVALID_PASSWORD" },
	});
	expect((await callAll())[0]).toEqual([403, "proof"]);
	expect((await prove(PASSWORD)).status).toBe(200);
	expect(await callAll()).toEqual(calls.map(() => [200, undefined]));
	expect(await eventsOf(admin)).toContain("verifyPassword REFUSED");
	// Without a session, nobody can confirm an identity.
	expect(
		(await send("/api/auth/verify-password", { password: PASSWORD })).status,
	).toBe(401);
});

test("a code of the second factor counts as a fresh proof too", async () => {
	const user = await makePerson();
	const { uri } = await enrol(user);
	const half = await signIn(user);
	const { cookie } = await send(
		"/api/auth/two-factor/verify-totp",
		{ code: totp(uri, 1) },
		half.cookie,
	);
	await served.database.owner.query(
		"update sessions set proved_at = now() - interval '1 hour' where user_id = $1",
		[user.id],
	);
	const create = () =>
		send("/api/console/createApiToken", { name: "laptop" }, cookie);
	expect((await create()).status).toBe(403);
	const { codes } = {
		codes: (
			await send(
				"/api/auth/two-factor/generate-backup-codes",
				{ password: PASSWORD },
				cookie,
			)
		).body.backupCodes as string[],
	};
	const proven = await send(
		"/api/auth/two-factor/verify-backup-code",
		{ code: codes[0] },
		cookie,
	);
	expect(proven.status).toBe(200);
	expect((await create()).status).toBe(200);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

let served: TestService;
let passwordHash: string;
beforeAll(async () => {
	served = await startService();
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => served.close());

const send = (path: string, body: object | undefined, cookie = "") =>
	sendTo(served.service.url, path, body, { cookie });
const makePerson = () => makeUser(served.database, undefined, { passwordHash });
const signIn = (email: string, cookie = "") =>
	send("/api/auth/sign-in/email", { email, password: PASSWORD }, cookie);
const profile = async (cookie: string) =>
	(await send("/api/console/getProfile", {}, cookie)).status;

/** Changes the user's sessions as if they had begun this long ago and had been used until now. */
const age = (userId: string, interval: string) =>
	served.database.owner.query(
		"update sessions set created_at = now() - $2::interval where user_id = $1",
		[userId, interval],
	);

test("a session that is used every day still ends after 30 days, no matter which route uses it", async () => {
	const { id, email } = await makePerson();
	const password = {
		currentPassword: PASSWORD,
		newPassword: "the new password",
	};
	for (const refused of [
		async (cookie: string) => (await profile(cookie)) === 401,
		async (cookie: string) =>
			(await send("/api/auth/get-session", undefined, cookie)).body === null,
		async (cookie: string) =>
			(await send("/api/auth/change-password", password, cookie)).status ===
			401,
	]) {
		const { cookie } = await signIn(email);
		await age(id, "29 days 23 hours");
		expect(await profile(cookie)).toBe(200);
		await age(id, "30 days 1 minute");
		expect(await refused(cookie)).toBe(true);
		const { rows } = await served.database.owner.query(
			"select from sessions where user_id = $1",
			[id],
		);
		expect(rows).toEqual([]);
	}
});

test("a week without a visit ends a session", async () => {
	const { id, email } = await makePerson();
	const { cookie } = await signIn(email);
	await served.database.owner.query(
		"update sessions set expires_at = expires_at - interval '7 days 1 minute' where user_id = $1",
		[id],
	);
	expect(await profile(cookie)).toBe(401);
});

test("signing in again ends the browser's previous session and leaves other sessions alone", async () => {
	const { email } = await makePerson();
	const first = await signIn(email);
	const elsewhere = await signIn(email);
	const second = await signIn(email, first.cookie);
	expect(second.cookie).not.toBe(first.cookie);
	expect(await profile(second.cookie)).toBe(200);
	expect(await profile(first.cookie)).toBe(401);
	expect(await profile(elsewhere.cookie)).toBe(200);
	const wrong = await send(
		"/api/auth/sign-in/email",
		{ email, password: "wrong password!" },
		second.cookie,
	);
	expect(wrong.status).toBe(401);
	expect(await profile(second.cookie)).toBe(200);
});

test("a session cookie that the service has not signed is invalid, so nobody can choose a session for another user", async () => {
	const { email } = await makePerson();
	const chosen = "assay.session_token=chosen.c2lnbmF0dXJl";
	const { cookie } = await signIn(email, chosen);
	expect(cookie).not.toContain("chosen");
	expect(await profile(chosen)).toBe(401);
	const [name, value = ""] = cookie.split("=", 2);
	const unsigned = decodeURIComponent(value).split(".")[0];
	// The id has 32 characters out of 62 letters and digits, which is 190 bits.
	expect(unsigned).toMatch(/^[A-Za-z0-9]{32}$/);
	expect(await profile(`${name}=${unsigned}`)).toBe(401);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { makeResetLink } from "../../src/sign-in/password-reset.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { totp } from "../support/totp.ts";

let served: TestConsole;
let session: Session;
beforeAll(async () => {
	served = await shareConsole();
	session = await served.signIn("member");
});
afterAll(() => served.close());

const auth = (path: string, body: object | undefined, cookie: string) =>
	sendTo(served.service.url, `/api/auth/${path}`, body, { cookie });

test("a password cannot be changed to the same one or to one that is easy to guess", async () => {
	const change = (newPassword: string) =>
		auth(
			"change-password",
			{ currentPassword: PASSWORD, newPassword },
			session.cookie,
		);
	for (const [wanted, code] of [
		[PASSWORD, "SAME_PASSWORD"],
		["password2026", "WEAK_PASSWORD"],
		["ｐａｓｓｗｏｒｄ１２３４", "WEAK_PASSWORD"],
		["vV8$kq2\u200B\u200B\u200B\u200B\u200B", "WEAK_PASSWORD"],
		[`${session.user.name} 2026!`, "WEAK_PASSWORD"],
	] as const) {
		expect(await change(wanted)).toMatchObject({ status: 400, body: { code } });
	}
	const { email } = session.user;
	const again = { email, password: PASSWORD };
	expect((await auth("sign-in/email", again, "")).status).toBe(200);
});

test("a reset link rejects the current password and a weak one, and stays usable", async () => {
	const { url } = served.service;
	const link = await makeResetLink(served.database.owner, url, session.user.id);
	const token = link.split("#")[1] ?? "";
	const reset = (password: string) =>
		sendTo(url, "/api/reset-password", { token, password });
	for (const [password, message] of [
		[PASSWORD, /is your current password/],
		["qwertyuiop123", /easy to guess/],
	] as const) {
		const { status, body } = await reset(password);
		expect(status).toBe(400);
		expect(body.fields[0]).toMatchObject({
			field: "password",
			message: expect.stringMatching(message),
		});
	}
	expect((await reset("a pond, a bench, a heron")).status).toBe(200);
});

test("a recovery code works once, in upper or lower case and without its dash, and the number of remaining ones is reported", async () => {
	const { user, cookie } = await served.signIn("viewer");
	const left = async () =>
		(await auth("two-factor/recovery-codes-left", undefined, cookie)).body;
	expect(await left()).toEqual({ left: 0 });
	const password = PASSWORD;
	const { body } = await auth("two-factor/enable", { password }, cookie);
	for (const code of body.backupCodes) {
		expect(code).toMatch(/^[a-hjkmnp-z2-9]{5}-[a-hjkmnp-z2-9]{5}$/);
	}
	const code = totp(body.totpURI);
	expect((await auth("two-factor/verify-totp", { code }, cookie)).status).toBe(
		200,
	);
	const enter = async (typed: string) => {
		const half = await auth(
			"sign-in/email",
			{ email: user.email, password },
			"",
		);
		return auth("two-factor/verify-backup-code", { code: typed }, half.cookie);
	};
	const [first, second] = body.backupCodes as string[];
	const asTyped = first?.toUpperCase().replace("-", " ") ?? "";
	expect((await enter(asTyped)).status).toBe(200);
	expect((await enter(first ?? "")).status).toBe(401);
	expect((await enter(second?.replace("-", "") ?? "")).status).toBe(200);
	const again = await enter(body.backupCodes[2]);
	expect(
		(await auth("two-factor/recovery-codes-left", undefined, again.cookie))
			.body,
	).toEqual({ left: 7 });
	expect(
		(await auth("two-factor/recovery-codes-left", undefined, "")).status,
	).toBe(401);
});

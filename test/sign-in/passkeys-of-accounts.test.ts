import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { runCommand } from "../support/command.ts";
import { sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import { auditEntries, makeUser, type TestUser } from "../support/people.ts";
import { startService } from "../support/service.ts";
import { openSmtpSink } from "../support/smtp-sink.ts";
import {
	addPasskey,
	authenticator,
	BASE,
	type PasskeyService,
	signIn,
	startPasskeyService,
	status,
	use,
} from "./passkey-browsers.ts";

let passkeys: PasskeyService;
beforeAll(async () => {
	passkeys = await startPasskeyService();
});
afterAll(() => passkeys.served.close());

const openBrowser = (url?: string) => passkeys.openBrowser(url);
const makePerson = () => passkeys.makePerson();

const makeStale = (user: TestUser) =>
	passkeys.served.database.owner.query(
		"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
		[user.id],
	);

test("adding and removing a passkey need a fresh proof, which a passkey can give", async () => {
	const { user, browser } = await makePerson();
	const { credential } = await addPasskey(browser);
	await makeStale(user);
	const { body: list } = await browser.call("listPasskeys");
	const { id } = list.passkeys[0];
	for (const refused of [
		await browser.auth("passkey/registration-options"),
		await browser.auth("passkey/register", {}),
		await browser.call("removePasskey", { id }),
	]) {
		expect(refused.status).toBe(403);
		expect(refused.body.fields).toMatchObject([{ field: "proof" }]);
	}
	const prove: [string, string] = ["proof-options", "prove"];
	expect(
		(await use(browser, credential, { isVerified: false }, prove)).status,
	).toBe(400);
	expect((await browser.call("removePasskey", { id })).status).toBe(403);
	expect((await use(browser, credential, {}, prove)).status).toBe(200);
	const renamed = await browser.call("renamePasskey", { id, name: "Key" });
	expect(renamed.status).toBe(200);
	const elsewhere = openBrowser();
	expect((await use(elsewhere, credential)).status).toBe(200);
	expect((await browser.call("removePasskey", { id })).status).toBe(200);
	// The removed passkey signs in nowhere, and what it began has ended.
	expect(await status(elsewhere)).toBe(401);
	expect((await use(openBrowser(), credential)).status).toBe(401);
	const entries = await auditEntries(
		passkeys.served.database,
		passkeys.organizationId,
	);
	expect(entries.at(-1)).toMatchObject({
		operation: "removePasskey",
		changes: { passkey: { before: "Key" } },
	});
});

test("nobody can see, rename, remove or add a passkey of somebody else", async () => {
	const one = await makePerson();
	const other = await makePerson();
	await addPasskey(one.browser);
	const { body } = await one.browser.call("listPasskeys");
	const { id } = body.passkeys[0];
	expect((await other.browser.call("listPasskeys")).body.passkeys).toEqual([]);
	for (const [name, input] of [
		["renamePasskey", { id, name: "Mine" }],
		["removePasskey", { id }],
	] as const) {
		expect((await other.browser.call(name, input)).status).toBe(404);
	}
	// A challenge of one session registers nothing in another.
	const options = await one.browser.auth("passkey/registration-options");
	const { response } = authenticator.make(options.body);
	other.browser.jar.set(
		"assay.passkey_browser",
		one.browser.jar.get("assay.passkey_browser") ?? "",
	);
	const refused = await other.browser.auth("passkey/register", {
		passkey: response,
	});
	expect(refused.status).toBe(400);
	expect(refused.body.code).toBe("INVALID_PASSKEY");
	// The same passkey cannot belong to two accounts or be added twice.
	const first = await one.browser.auth("passkey/register", {
		passkey: response,
	});
	expect(first.status).toBe(200);
	const again = await one.browser.auth("passkey/register", {
		passkey: response,
	});
	expect(again.status).toBe(400);
});

test("the operator, an administrator and a reset link remove passkeys, and a reset can keep them", async () => {
	const passkeysOf = async ({ id }: TestUser) =>
		(
			await passkeys.served.database.owner.query(
				"select from passkeys where user_id = $1",
				[id],
			)
		).rows.length;
	const lost = await makePerson();
	await addPasskey(lost.browser);
	const ended = await runCommand(
		["user", "reset-two-factor", "--email", lost.user.email],
		{ DATABASE_URL: passkeys.served.database.url },
	);
	expect(ended.code).toBe(0);
	expect(await passkeysOf(lost.user)).toBe(0);
	expect(await status(lost.browser)).toBe(401);

	const admin = await makePerson();
	const member = await makePerson();
	await addPasskey(member.browser);
	const reset = await admin.browser.call("resetTwoFactor", {
		organization_id: passkeys.organizationId,
		user_id: member.user.id,
	});
	expect(reset.status).toBe(200);
	expect(await passkeysOf(member.user)).toBe(0);

	for (const keep of [true, false]) {
		const forgetful = await makePerson();
		await addPasskey(forgetful.browser);
		const { body } = await admin.browser.call("createPasswordResetLink", {
			organization_id: passkeys.organizationId,
			user_id: forgetful.user.id,
		});
		const token = body.reset_url.split("#")[1];
		const link = await openBrowser().send("/api/link", { token });
		expect(link.body.passkeys).toBe(1);
		const done = await openBrowser().send("/api/reset-password", {
			token,
			password: "a different battery",
			...(keep && { keep_passkeys: true }),
		});
		expect(done.status).toBe(200);
		expect(await passkeysOf(forgetful.user)).toBe(keep ? 1 : 0);
	}
});

test("where only the identity provider signs in, a passkey is no way around it, except for the emergency account", async () => {
	const email = "emergency@example.com";
	const strict = await startService(undefined, {
		ASSAY_BASE_URL: BASE,
		ASSAY_OIDC_ISSUER: "https://login.example.com",
		ASSAY_OIDC_CLIENT_ID: "assay",
		ASSAY_OIDC_CLIENT_SECRET: "a secret of the client",
		ASSAY_OIDC_DOMAINS: "example.com",
		ASSAY_PASSWORD_SIGN_IN: email,
	});
	onTestFinished(() => strict.close());
	const { url } = strict.service;
	const emergency = await makeUser(strict.database, undefined, {
		email,
		passwordHash: passkeys.passwordHash,
	});
	const other = await makeUser(strict.database, undefined, {
		passwordHash: passkeys.passwordHash,
	});
	const browser = openBrowser(url);
	expect((await signIn(browser, emergency)).status).toBe(200);
	const { credential } = await addPasskey(browser);
	expect((await use(openBrowser(url), credential)).status).toBe(200);
	// The passkey of somebody who added it before the operator changed the settings.
	await strict.database.owner.query("update passkeys set user_id = $1", [
		other.id,
	]);
	credential.userHandle = Buffer.from(other.id).toString("base64url");
	const refused = openBrowser(url);
	const answer = await use(refused, credential);
	expect(answer.status).toBe(403);
	expect(answer.body.message).toContain("accepts no passkey for");
	expect(await status(refused)).toBe(401);
});

test("an account that signs in only with the identity provider gets no passkey", async () => {
	const { user, browser } = await makePerson();
	await passkeys.served.database.owner.query(
		"update accounts set password = null where user_id = $1",
		[user.id],
	);
	const refused = await browser.auth("passkey/registration-options");
	expect(refused.status).toBe(403);
	expect(refused.body.message).toContain("only accounts with a password");
});

test("a service that is reached at an IP address offers no passkeys and says why", async () => {
	const port = await findFreePort();
	const numbered = await startService(undefined, {
		ASSAY_PORT: String(port),
		ASSAY_BASE_URL: `http://127.0.0.1:${port}`,
	});
	onTestFinished(() => numbered.close());
	const { url } = numbered.service;
	const ways = await sendTo(url, "/api/sign-in-ways");
	expect(ways.body).toMatchObject({ has_passkeys: false });
	const refused = await sendTo(url, "/api/auth/passkey/sign-in-options", {});
	expect(refused.status).toBe(400);
	expect(refused.body.message).toContain("ASSAY_BASE_URL");
});

test("a mail tells the user that a passkey was added", async () => {
	const sink = await openSmtpSink();
	const mailing = await startService(undefined, {
		ASSAY_BASE_URL: BASE,
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	onTestFinished(async () => {
		await mailing.close();
		sink.close();
	});
	const user = await makeUser(mailing.database, undefined, {
		passwordHash: passkeys.passwordHash,
	});
	const browser = openBrowser(mailing.service.url);
	await signIn(browser, user);
	expect((await addPasskey(browser, {}, "Blue key")).answer.status).toBe(200);
	const mail = await sink.next();
	expect(mail.to).toContain(user.email);
	expect(mail.text).toContain("New passkey for your account");
	expect(mail.text).toContain("Blue key, on ");
});

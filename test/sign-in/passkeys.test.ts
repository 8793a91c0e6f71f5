import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import {
	Authenticator,
	type Credential,
	type Deviation,
} from "../support/authenticator.ts";
import { runCommand } from "../support/command.ts";
import { type Answer, PASSWORD, sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import { auditEntries, makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { openSmtpSink } from "../support/smtp-sink.ts";
import { totp } from "../support/totp.ts";

const BASE = "http://localhost:8080";

const logLines: string[] = [];
let served: TestService;
let passwordHash: string;
let organizationId: string;
const authenticator = new Authenticator(BASE);
beforeAll(async () => {
	served = await startService(
		undefined,
		{ ASSAY_BASE_URL: BASE },
		undefined,
		pino({ level: "warn" }, { write: (line) => logLines.push(line) }),
	);
	passwordHash = await hashPassword(PASSWORD);
	organizationId = await createOrganization(served.database.pool, "Acme");
});
afterAll(() => served.close());

/** A browser: it keeps its cookies, and sends requests from the pages of the service. */
function openBrowser(url = served.service.url) {
	const jar = new Map<string, string>();
	const send = async (path: string, body?: object): Promise<Answer> => {
		const cookie = [...jar].map(([name, value]) => `${name}=${value}`);
		const answer = await sendTo(url, path, body, {
			cookie: cookie.join("; "),
		});
		for (const pair of answer.cookie.split("; ").filter(Boolean)) {
			const at = pair.indexOf("=");
			const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
			if (value) jar.set(name, value);
			else jar.delete(name);
		}
		return answer;
	};
	return {
		jar,
		send,
		auth: (path: string, body: object = {}) => send(`/api/auth/${path}`, body),
		call: (name: string, input: object = {}) =>
			send(`/api/console/${name}`, input),
	};
}
type Browser = ReturnType<typeof openBrowser>;

async function makePerson(): Promise<{ user: TestUser; browser: Browser }> {
	const user = await makeUser(
		served.database,
		{ organizationId, role: "admin" },
		{ passwordHash },
	);
	const browser = openBrowser();
	await signIn(browser, user);
	return { user, browser };
}

const signIn = (browser: Browser, { email }: TestUser) =>
	browser.auth("sign-in/email", { email, password: PASSWORD });

async function addPasskey(
	browser: Browser,
	deviation: Deviation = {},
	name = "Phone",
): Promise<{ credential: Credential; answer: Answer }> {
	const options = await browser.auth("passkey/registration-options");
	expect(options.status).toBe(200);
	const { credential, response } = authenticator.make(options.body, deviation);
	const answer = await browser.auth("passkey/register", {
		name,
		passkey: response,
	});
	return { credential, answer };
}

/** Gets a challenge, signs it, and sends it. */
async function use(
	browser: Browser,
	credential: Credential,
	deviation: Deviation = {},
	[options, path] = ["sign-in-options", "sign-in"],
): Promise<Answer> {
	const challenge = await browser.auth(`passkey/${options}`);
	expect(challenge.status).toBe(200);
	return browser.auth(
		`passkey/${path}`,
		authenticator.use(challenge.body, credential, deviation),
	);
}

const status = async (browser: Browser) =>
	(await browser.call("getProfile")).status;
const makeStale = (user: TestUser) =>
	served.database.owner.query(
		"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
		[user.id],
	);

test("a passkey signs in without a password, also when the account has a second factor", async () => {
	const { user, browser } = await makePerson();
	const { credential, answer } = await addPasskey(browser);
	expect(answer.body).toMatchObject({ name: "Phone", can_sign_in: true });
	const { body } = await browser.auth("two-factor/enable", {
		password: PASSWORD,
	});
	await browser.auth("two-factor/verify-totp", { code: totp(body.totpURI) });
	const other = openBrowser();
	expect((await use(other, credential)).status).toBe(200);
	expect(await status(other)).toBe(200);
	const { body: listed } = await other.call("listPasskeys");
	expect(listed.passkeys).toMatchObject([
		{
			name: "Phone",
			can_sign_in: true,
			works_here: true,
			last_used_at: expect.any(String),
		},
	]);
	const { body: sessions } = await other.call("listSessions");
	expect(
		sessions.sessions.find((one: { is_current: boolean }) => one.is_current),
	).toMatchObject({ passkey: "Phone" });
	const entries = await auditEntries(served.database, organizationId);
	const own = entries.filter((entry) => entry.actor_id === user.id);
	expect(own.map(({ operation }) => operation)).toContain("addPasskey");
	expect(own.at(-1)).toMatchObject({
		operation: "signIn",
		outcome: "DONE",
		changes: { way: { after: "PASSKEY" } },
	});
});

test("what is forged, replayed or not verified does not sign in, and the log has it", async () => {
	const { user, browser } = await makePerson();
	const { credential } = await addPasskey(browser);
	const stranger = await makePerson();
	const theirs = await addPasskey(stranger.browser);
	const lines = logLines.length;
	const refusals: [string, Deviation][] = [
		["another origin", { origin: "https://evil.example" }],
		["another port", { origin: "http://localhost:9999" }],
		["another relying party", { rpId: "evil.example" }],
		["no user verification", { isVerified: false }],
		["another key", { key: theirs.credential.key }],
		["another user's handle", { userHandle: theirs.credential.userHandle }],
		["a registration instead", { type: "webauthn.create" }],
		["a challenge of nobody", { challenge: "A".repeat(72) }],
	];
	for (const [name, deviation] of refusals) {
		const refused = openBrowser();
		const answer = await use(refused, credential, deviation);
		expect(answer.status, name).toBe(401);
		expect(answer.body.code, name).toBe("INVALID_PASSKEY");
		expect(answer.cookie, name).not.toContain("session_token");
		expect(await status(refused), name).toBe(401);
	}
	const failed = logLines
		.slice(lines)
		.filter((line) => line.includes("sign_in_failed"));
	expect(failed).toHaveLength(refusals.length);
	expect(failed[0]).toContain('"way":"PASSKEY"');
	expect(failed.join("")).not.toContain(user.email);
	const refusedEntries = (
		await auditEntries(served.database, organizationId)
	).filter(
		({ actor_id, outcome }) => actor_id === user.id && outcome === "REFUSED",
	);
	expect(refusedEntries).toHaveLength(refusals.length);
});

test("a challenge works once, in the browser that asked for it, for its purpose, and not for long", async () => {
	const { browser } = await makePerson();
	const { credential } = await addPasskey(browser);
	const first = openBrowser();
	const { body: options } = await first.auth("passkey/sign-in-options");
	const signed = authenticator.use(options, credential);
	const elsewhere = openBrowser();
	await elsewhere.auth("passkey/sign-in-options");
	expect((await elsewhere.auth("passkey/sign-in", signed)).status).toBe(401);
	expect((await openBrowser().auth("passkey/sign-in", signed)).status).toBe(
		401,
	);
	const both = await Promise.all([
		first.auth("passkey/sign-in", signed),
		first.auth("passkey/sign-in", signed),
	]);
	expect(both.map((answer) => answer.status).sort()).toEqual([200, 401]);
	expect((await first.auth("passkey/sign-in", signed)).status).toBe(401);
	// A challenge for a proof does not sign in.
	const { body: proof } = await browser.auth("passkey/proof-options");
	const proving = authenticator.use(proof, credential);
	expect((await browser.auth("passkey/sign-in", proving)).status).toBe(401);
	// Two tabs of a browser can each have a challenge.
	const tabs = openBrowser();
	const { body: old } = await tabs.auth("passkey/sign-in-options");
	await tabs.auth("passkey/sign-in-options");
	expect(
		(await tabs.auth("passkey/sign-in", authenticator.use(old, credential)))
			.status,
	).toBe(200);
	// The end of a challenge is signed.
	const { body: late } = await tabs.auth("passkey/sign-in-options");
	const bytes = Buffer.from(late.challenge, "base64url");
	bytes.writeUIntBE(Date.now() + 3_600_000, 0, 6);
	const longer = authenticator.use(late, credential, {
		challenge: bytes.toString("base64url"),
	});
	expect((await tabs.auth("passkey/sign-in", longer)).status).toBe(401);
});

test("strangers who ask for challenges or send junk store nothing except one count", async () => {
	const count = async () =>
		Number(
			(
				await served.database.owner.query(
					"select (select count(*) from verifications) + (select count(*) from sign_in_failures) as count",
				)
			).rows[0].count,
		);
	await openBrowser().auth("passkey/sign-in", { id: "AAAA" });
	const before = await count();
	for (let n = 0; n < 5; n++) {
		const stranger = openBrowser();
		await stranger.auth("passkey/sign-in-options");
		for (const junk of [
			{},
			{ id: "AAAA" },
			{ id: 7, rawId: null, type: [], response: "x" },
			{ id: "a".repeat(2_000) },
			{ id: "AAAA", rawId: "AAAA", type: "public-key", response: {} },
		]) {
			expect((await stranger.auth("passkey/sign-in", junk)).status).toBe(401);
		}
	}
	expect(await count()).toBe(before);
});

test("refused passkeys are throttled for each account and network", async () => {
	const { user, browser } = await makePerson();
	const { credential } = await addPasskey(browser);
	const attacker = openBrowser();
	for (let n = 0; n < 10; n++) {
		const { status } = await use(attacker, credential, { isVerified: false });
		expect(status).toBe(401);
	}
	const throttled = await use(attacker, credential);
	expect(throttled.status).toBe(429);
	expect(throttled.headers.get("retry-after")).toMatch(/^\d+$/);
	expect((await signIn(openBrowser(), user)).status).toBe(200);
});

test("a passkey whose count of signatures goes back is refused and logged, because somebody may have copied it", async () => {
	const { browser } = await makePerson();
	const { credential } = await addPasskey(browser);
	expect((await use(openBrowser(), credential, { counter: 10 })).status).toBe(
		200,
	);
	for (const counter of [10, 9, 0]) {
		expect((await use(openBrowser(), credential, { counter })).status).toBe(
			401,
		);
	}
	expect(
		logLines.filter((line) => line.includes("passkey_counter_regressed")),
	).toHaveLength(3);
	expect((await use(openBrowser(), credential, { counter: 11 })).status).toBe(
		200,
	);
});

test("after the password a passkey is the second factor, even one that does not verify its user, and recovery codes stay", async () => {
	const { user, browser } = await makePerson();
	const { credential, answer } = await addPasskey(browser, {
		isVerified: false,
	});
	expect(answer.body).toMatchObject({ can_sign_in: false });
	const enabled = await browser.auth("two-factor/enable", {
		password: PASSWORD,
	});
	const confirmed = await use(browser, credential, { isVerified: false }, [
		"second-factor-options",
		"enable-two-factor",
	]);
	expect(confirmed.status).toBe(200);
	const half = openBrowser();
	expect((await signIn(half, user)).body).toMatchObject({
		twoFactorRedirect: true,
	});
	expect(await status(half)).toBe(401);
	expect((await half.send("/api/auth/two-factor/factors")).body).toEqual({
		app: false,
		passkeys: 1,
	});
	const second = ["second-factor-options", "second-factor"] as const;
	const other = await makePerson();
	const theirs = await addPasskey(other.browser);
	expect((await use(half, theirs.credential, {}, [...second])).status).toBe(
		401,
	);
	// The secret of an app that nobody has set up does not count.
	const code = totp(enabled.body.totpURI);
	expect((await half.auth("two-factor/verify-totp", { code })).status).toBe(
		400,
	);
	const whole = await use(half, credential, { isVerified: false }, [...second]);
	expect(whole.status).toBe(200);
	expect(await status(half)).toBe(200);
	// Without a password before it, such a passkey does not sign in.
	expect(
		(await use(openBrowser(), credential, { isVerified: false })).status,
	).toBe(401);
	const recovering = openBrowser();
	await signIn(recovering, user);
	const recovered = await recovering.auth("two-factor/verify-backup-code", {
		code: enabled.body.backupCodes[0],
	});
	expect(recovered.status).toBe(200);
	const { body: list } = await browser.call("listPasskeys");
	const removal = await browser.call("removePasskey", {
		id: list.passkeys[0].id,
	});
	expect(removal.status).toBe(409);
	expect(removal.body.message).toContain("your only second factor");
});

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
	const entries = await auditEntries(served.database, organizationId);
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
			await served.database.owner.query(
				"select from passkeys where user_id = $1",
				[id],
			)
		).rows.length;
	const lost = await makePerson();
	await addPasskey(lost.browser);
	const ended = await runCommand(
		["user", "reset-two-factor", "--email", lost.user.email],
		{ DATABASE_URL: served.database.url },
	);
	expect(ended.code).toBe(0);
	expect(await passkeysOf(lost.user)).toBe(0);
	expect(await status(lost.browser)).toBe(401);

	const admin = await makePerson();
	const member = await makePerson();
	await addPasskey(member.browser);
	const reset = await admin.browser.call("resetTwoFactor", {
		organization_id: organizationId,
		user_id: member.user.id,
	});
	expect(reset.status).toBe(200);
	expect(await passkeysOf(member.user)).toBe(0);

	for (const keep of [true, false]) {
		const forgetful = await makePerson();
		await addPasskey(forgetful.browser);
		const { body } = await admin.browser.call("createPasswordResetLink", {
			organization_id: organizationId,
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
		passwordHash,
	});
	const other = await makeUser(strict.database, undefined, { passwordHash });
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
	await served.database.owner.query(
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
	const user = await makeUser(mailing.database, undefined, { passwordHash });
	const browser = openBrowser(mailing.service.url);
	await signIn(browser, user);
	expect((await addPasskey(browser, {}, "Blue key")).answer.status).toBe(200);
	const mail = await sink.next();
	expect(mail.to).toContain(user.email);
	expect(mail.text).toContain("New passkey for your account");
	expect(mail.text).toContain("Blue key, on ");
});

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Deviation } from "../support/authenticator.ts";
import { PASSWORD } from "../support/console-client.ts";
import { auditEntries } from "../support/people.ts";
import { totp } from "../support/totp.ts";
import {
	addPasskey,
	authenticator,
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
	const entries = await auditEntries(
		passkeys.served.database,
		passkeys.organizationId,
	);
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
	const lines = passkeys.logLines.length;
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
	const failed = passkeys.logLines
		.slice(lines)
		.filter((line) => line.includes("sign_in_failed"));
	expect(failed).toHaveLength(refusals.length);
	expect(failed[0]).toContain('"way":"PASSKEY"');
	expect(failed.join("")).not.toContain(user.email);
	const refusedEntries = (
		await auditEntries(passkeys.served.database, passkeys.organizationId)
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
				await passkeys.served.database.owner.query(
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
		passkeys.logLines.filter((line) =>
			line.includes("passkey_counter_regressed"),
		),
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

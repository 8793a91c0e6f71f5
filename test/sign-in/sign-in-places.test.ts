import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { totp } from "../support/totp.ts";
import { newcomer, startStand } from "./provider-stand.ts";

const FIREFOX =
	"Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0";
const CHROME =
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0 Safari/537.36";

let served: TestService;
let sink: SmtpSink;
let passwordHash: string;
let user: TestUser;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
		ASSAY_TRUSTED_PROXIES: "127.0.0.1",
	});
	passwordHash = await hashPassword(PASSWORD);
});
beforeEach(async () => {
	user = await makeUser(served.database, undefined, { passwordHash });
});
afterAll(async () => {
	await served.close();
	sink.close();
});

const send = (path: string, body: object, headers: Record<string, string>) =>
	sendTo(served.service.url, path, body, headers);
const signIn = (browser: string, address = "192.0.2.7", password = PASSWORD) =>
	send(
		"/api/auth/sign-in/email",
		{ email: user.email, password },
		{ "user-agent": browser, "x-forwarded-for": address },
	);
const mails = async () =>
	(
		await served.database.owner.query(
			"select id from mails where user_id = $1 and kind = 'NEW_SIGN_IN'",
			[user.id],
		)
	).rows.length;

test("a sign-in with a browser or from a network that is new for the user is told by mail, and a known one is not", async () => {
	expect((await signIn(FIREFOX)).status).toBe(200);
	expect((await signIn(FIREFOX)).status).toBe(200);
	expect(await mails()).toBe(0);
	await signIn(CHROME);
	const first = await sink.next();
	expect(first.to).toBe(user.email);
	expect(first.text).toContain("New sign-in to Assay with your account");
	expect(first.text).toMatch(
		/Chrome on Windows, from the address 192\.0\.2\.7, on \d+ \w+ \d{4} at \d\d:\d\d UTC/,
	);
	expect(first.text).not.toContain("Firefox");
	expect(first.text).toMatch(/^https?:.*\/account$/m);
	await signIn(FIREFOX, "198.51.100.9");
	expect((await sink.next()).text).toContain(
		"Firefox on Linux, from the address 198.51.100.9",
	);
	await signIn(CHROME);
	await signIn(FIREFOX, "198.51.100.9");
	expect(await mails()).toBe(2);
});

test("a wrong password sends no mail, and somebody who has the password cannot flood the mailbox", async () => {
	await signIn(FIREFOX);
	expect((await signIn(CHROME, "192.0.2.7", "wrong password!")).status).toBe(
		401,
	);
	expect(await mails()).toBe(0);
	for (let n = 0; n < 8; n++) {
		expect((await signIn(`Browser ${n} https://evil.example`)).status).toBe(
			200,
		);
	}
	expect(await mails()).toBe(5);
	// Mails are sent side by side, so they may arrive in another order.
	const named: string[] = [];
	for (let n = 0; n < 5; n++) {
		const { text } = await sink.next();
		// No mail program makes a link from what a browser calls itself.
		named.push(
			/Browser \d https: \/ \/ evil\. example/.exec(text)?.[0] ?? text,
		);
	}
	expect(named.sort()).toEqual(
		[0, 1, 2, 3, 4].map((n) => `Browser ${n} https: / / evil. example`),
	);
	expect(sink.waiting()).toBe(0);
});

test("with a second factor, only the code completes a sign-in that is told", async () => {
	const { cookie } = await signIn(FIREFOX);
	const enabled = await send(
		"/api/auth/two-factor/enable",
		{ password: PASSWORD },
		{ cookie },
	);
	const uri = enabled.body.totpURI;
	await send(
		"/api/auth/two-factor/verify-totp",
		{ code: totp(uri) },
		{ cookie },
	);
	const half = await signIn(CHROME);
	expect(half.body).toMatchObject({ twoFactorRedirect: true });
	expect(await mails()).toBe(0);
	const whole = await send(
		"/api/auth/two-factor/verify-totp",
		{ code: totp(uri, 1) },
		{
			cookie: half.cookie,
			"user-agent": CHROME,
			"x-forwarded-for": "192.0.2.7",
		},
	);
	expect(whole.status).toBe(200);
	expect((await sink.next()).text).toContain("Chrome on Windows");
});

test("a sign-in with the identity provider is told too", async () => {
	const stand = await startStand(
		{},
		{
			ASSAY_SMTP_URL: sink.url,
			ASSAY_MAIL_FROM: "Assay <assay@example.com>",
		},
	);
	try {
		const { owner } = stand.served.database;
		const mailed = async () =>
			(await owner.query("select from mails where kind = 'NEW_SIGN_IN'"))
				.rowCount;
		const person = newcomer();
		await stand.signIn(person);
		await stand.signIn(person);
		expect(await mailed()).toBe(0);
		// As if the user had only ever used another browser.
		await owner.query("update sign_in_places set browser = 'Firefox on Linux'");
		await stand.signIn(person);
		expect(await mailed()).toBe(1);
	} finally {
		await stand.close();
	}
});

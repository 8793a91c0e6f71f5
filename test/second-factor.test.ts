import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { hashPassword } from "../src/access/password.ts";
import { PASSWORD, sendTo } from "./console-client.ts";
import { type DatabaseProxy, openDatabaseProxy } from "./database-proxy.ts";
import { makeUser } from "./people.ts";
import { startService, type TestService } from "./service.ts";

let served: TestService;
let passwordHash: string;
beforeAll(async () => {
	served = await startService();
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => served.close());

const send = (path: string, body: object, cookie = "") =>
	sendTo(served.service.url, path, body, { cookie });

/** The six digits that an authenticator shows now for the secret of an otpauth address (RFC 6238). */
function totp(uri: string): string {
	const secret = new URL(uri).searchParams.get("secret") ?? "";
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	const bits = [...secret.replace(/=+$/, "")]
		.map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0"))
		.join("");
	const key = Buffer.from(
		bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [],
	);
	const counter = Buffer.alloc(8);
	counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
	const mac = createHmac("sha1", key).update(counter).digest();
	const at = (mac.at(-1) ?? 0) & 15;
	return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(
		6,
		"0",
	);
}

test("with a second factor a password alone gives no session; a code or a recovery code does", async () => {
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
		["/api/auth/two-factor/verify-totp", totp(totpURI), 200],
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

test("when the database is away, signing in and calling with a good session are 503, never 401", async () => {
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

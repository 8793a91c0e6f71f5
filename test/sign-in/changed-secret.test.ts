import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeLogger } from "../../src/log.ts";
import { type Service, serve } from "../../src/serve.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { runCommand } from "../support/command.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { makeUser, type TestUser } from "../support/people.ts";
import { totp } from "../support/totp.ts";

const FIRST = "the first secret, which the operator replaces later";
const SECOND = "the second secret, which comes after the first one";

/** A database with a user whose second factor is encrypted with the first secret. Tests copy it. */
let enrolled: TestDatabase;
let factor: Awaited<ReturnType<typeof enrol>>;
beforeAll(async () => {
	enrolled = await createDatabase();
	factor = await enrol(enrolled);
	await enrolled.disconnect();
});
afterAll(() => enrolled.drop());

/** Starts the service on the database, with one secret or with a new and a former one. */
async function startWith(
	database: TestDatabase,
	ASSAY_SECRET: string,
	ASSAY_SECRET_PREVIOUS = "",
): Promise<Service> {
	return serve(
		readConfig({
			ASSAY_PORT: "0",
			DATABASE_URL: database.url,
			ASSAY_SECRET,
			ASSAY_SECRET_PREVIOUS,
		}),
		makeLogger("silent"),
	);
}

/** Runs `work` with a service that uses these secrets. */
async function using<Result>(
	database: TestDatabase,
	secrets: [string, string?],
	work: (url: string) => Promise<Result>,
): Promise<Result> {
	const service = await startWith(database, ...secrets);
	try {
		return await work(service.url);
	} finally {
		await service.close();
	}
}

/** Makes a user whose second factor is encrypted with the first secret. */
async function enrol(database: TestDatabase) {
	const user = await makeUser(database, undefined, {
		passwordHash: await hashPassword(PASSWORD),
	});
	const made = await using(database, [FIRST], async (url) => {
		const { cookie } = await signIn(url, user);
		const enabled = await sendTo(
			url,
			"/api/auth/two-factor/enable",
			{ password: PASSWORD },
			{ cookie },
		);
		const { totpURI, backupCodes } = enabled.body;
		const code = totp(totpURI);
		const path = "/api/auth/two-factor/verify-totp";
		const verified = await sendTo(url, path, { code }, { cookie });
		expect(verified.status).toBe(200);
		return { uri: totpURI as string, codes: backupCodes as string[] };
	});
	return { user, ...made };
}

const signIn = (url: string, { email }: TestUser) =>
	sendTo(url, "/api/auth/sign-in/email", { email, password: PASSWORD });

/** Signs in with the password and then with a code. */
async function verify(url: string, user: TestUser, way: string, code: string) {
	const { cookie } = await signIn(url, user);
	return sendTo(
		url,
		`/api/auth/two-factor/verify-${way}`,
		{ code },
		{ cookie },
	);
}

async function copyEnrolled(): Promise<TestDatabase> {
	const database = await createDatabase(undefined, enrolled.name);
	onTestFinished(() => database.drop());
	return database;
}

test("with ASSAY_SECRET_PREVIOUS a second factor still works, and afterwards it needs the new secret alone", async () => {
	const database = await copyEnrolled();
	const { user, uri, codes } = factor;
	await using(database, [SECOND, FIRST], async (url) => {
		expect((await verify(url, user, "totp", "000000")).status).toBe(401);
		expect((await verify(url, user, "totp", totp(uri, 1))).status).toBe(200);
	});
	await using(database, [SECOND], async (url) => {
		const code = codes[0] ?? "";
		expect((await verify(url, user, "backup-code", code)).status).toBe(200);
		const again = await verify(url, user, "backup-code", code);
		expect(again.status).toBe(401);
	});
});

test("a second factor that no secret decrypts is rejected with a reason, listed, and reset by command", async () => {
	const database = await copyEnrolled();
	const { user, uri, codes } = factor;
	await using(database, [SECOND], async (url) => {
		for (const [way, code] of [
			["totp", totp(uri, 1)],
			["backup-code", codes[0] ?? ""],
		] as const) {
			const { status, body } = await verify(url, user, way, code);
			expect(status).toBe(403);
			expect(body.code).toBe("SECOND_FACTOR_UNREADABLE");
			expect(body.message).toContain("ask its operator");
		}
	});

	const run = async (command: string[], secrets: Record<string, string>) => {
		const { stdout } = await runCommand([...command, "--json"], {
			DATABASE_URL: database.url,
			...secrets,
		});
		return JSON.parse(stdout);
	};
	const finding = async (secrets: Record<string, string>) => {
		const { findings } = await run(["doctor"], secrets);
		return findings.find(
			({ check }: { check: string }) => check === "second factors",
		);
	};
	expect(await finding({ ASSAY_SECRET: FIRST })).toMatchObject({
		status: "ok",
		found: expect.stringContaining("all 1 second factors"),
	});
	const rotating = { ASSAY_SECRET: SECOND, ASSAY_SECRET_PREVIOUS: FIRST };
	expect(await finding(rotating)).toMatchObject({
		status: "ok",
		found: expect.stringContaining("1 of 1 second factors are still"),
	});
	const lost = { ASSAY_SECRET: SECOND };
	expect(await finding(lost)).toMatchObject({
		status: "problem",
		found: expect.stringContaining("1 of 1 second factors cannot"),
	});

	const list = ["user", "list", "--unreadable-two-factor"];
	expect((await run(list, rotating)).users).toEqual([]);
	const account = { user_id: user.id, email: user.email };
	expect((await run(list, lost)).users).toEqual([account]);
	const reset = ["user", "reset-two-factor", "--unreadable"];
	expect((await run(reset, rotating)).users).toEqual([]);
	expect((await run(reset, lost)).users).toEqual([account]);
	expect((await run(list, lost)).users).toEqual([]);
	await using(database, [SECOND], async (url) => {
		expect((await signIn(url, user)).body.twoFactorRedirect).toBeUndefined();
	});
});

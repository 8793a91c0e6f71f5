import { hashPassword as hashAsBefore } from "better-auth/crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
	COST,
	cost,
	hashPassword,
	isOutdated,
	isPasswordOf,
} from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

let running: TestService;
beforeAll(async () => {
	running = await startService();
});
afterAll(() => running.close());

test("a password is hashed as OWASP advises, with its own salt, and does not match another password", async () => {
	const cheap = { ...cost };
	onTestFinished(() => {
		Object.assign(cost, cheap);
	});
	Object.assign(cost, COST);
	const [hash, again] = await Promise.all([
		hashPassword("crème brûlée, twice"),
		hashPassword("crème brûlée, twice"),
	]);
	expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
	expect(again).not.toBe(hash);
	expect(isOutdated(hash)).toBe(false);
	const composed = "crème brûlée, twice".normalize("NFD");
	expect(await isPasswordOf(hash, composed)).toBe(true);
	expect(await isPasswordOf(hash, "creme brulee, twice")).toBe(false);
	await expect(isPasswordOf("nonsense", PASSWORD)).rejects.toThrow(
		"unknown form",
	);
});

test("a password with an older hash still signs in, and only the right password replaces the hash", async () => {
	const { service, database, organizationId } = running;
	const passwordHash = await hashAsBefore(PASSWORD);
	const user = await makeUser(
		database,
		{ organizationId, role: "viewer" },
		{ passwordHash },
	);
	const enter = async (password: string) =>
		(
			await sendTo(service.url, "/api/auth/sign-in/email", {
				email: user.email,
				password,
			})
		).status;
	const stored = async () => {
		const { rows } = await database.owner.query<{ password: string }>(
			"select password from accounts where user_id = $1",
			[user.id],
		);
		return rows[0]?.password ?? "";
	};
	expect(await enter("not the password")).toBe(401);
	expect(await stored()).toBe(passwordHash);
	expect(await enter(PASSWORD)).toBe(200);
	const renewed = await stored();
	expect(isOutdated(passwordHash)).toBe(true);
	expect(isOutdated(renewed)).toBe(false);
	expect(await enter(PASSWORD)).toBe(200);
	expect(await stored()).toBe(renewed);
	expect(await enter("not the password")).toBe(401);
});

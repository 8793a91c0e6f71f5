import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readSecret } from "../../src/sign-in/server-secret.ts";
import { makeFolder } from "../support/folder.ts";

async function makeDataDir(): Promise<string> {
	const folder = await makeFolder("assay-secret-");
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	return join(folder, "data");
}

test("without ASSAY_SECRET, a secret is generated and stored, readable only by its owner", async () => {
	const dataDir = await makeDataDir();
	const secret = await readSecret({ secret: undefined, dataDir });
	expect(secret).toMatch(/^[\w-]{43}$/);
	expect((await stat(join(dataDir, "secret"))).mode & 0o777).toBe(0o600);
	expect(await readSecret({ secret: undefined, dataDir })).toBe(secret);
	expect(await readSecret({ secret: "given", dataDir })).toBe("given");
});

test("processes that start together all use the same secret and leave nothing else behind", async () => {
	const dataDir = await makeDataDir();
	const secrets = await Promise.all(
		Array.from({ length: 20 }, () =>
			readSecret({ secret: undefined, dataDir }),
		),
	);
	expect(new Set(secrets).size).toBe(1);
	expect(await readdir(dataDir)).toEqual(["secret"]);
});

test("a truncated secret file stops the start, so nothing is signed with an empty secret", async () => {
	const dataDir = await makeDataDir();
	await readSecret({ secret: undefined, dataDir });
	await writeFile(join(dataDir, "secret"), "");
	await expect(
		readSecret({ secret: undefined, dataDir }),
	).rejects.toMatchObject({ code: "bad_request" });
});

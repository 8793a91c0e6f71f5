import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { createForOwner } from "../db/folder-owner.ts";
import { AppError } from "../errors.ts";

/**
 * Returns the secret that signs sessions and encrypts second factors. The secret is ASSAY_SECRET,
 * or the content of the file `secret` in the data folder. The first start makes that file. If the
 * secret is lost, everybody is signed out and all second factors stop working.
 */
export async function readSecret(
	config: Pick<Config, "secret" | "dataDir">,
): Promise<string> {
	return (await findSecret(config)) ?? (await makeKept(config.dataDir));
}

/** Returns the secret of an installation that has one already. Never makes one. */
export async function findSecret(
	config: Pick<Config, "secret" | "dataDir">,
): Promise<string | undefined> {
	return config.secret ?? (await readKept(join(config.dataDir, "secret")));
}

async function readKept(file: string): Promise<string | undefined> {
	try {
		const secret = (await readFile(file, "utf8")).trim();
		if (secret.length >= 32) return secret;
	} catch (error) {
		if ((error as { code?: string }).code === "ENOENT") return undefined;
		throw error;
	}
	throw new AppError(
		"bad_request",
		`${file} does not contain a secret of at least 32 characters; restore the file from a backup, or delete it. The service then makes a new secret, and everybody must sign in again`,
	);
}

/**
 * Makes the secret and returns it. The file is complete before it gets its final name, so processes
 * that start at the same time all read the same secret.
 */
async function makeKept(dataDir: string): Promise<string> {
	const file = join(dataDir, "secret");
	await mkdir(dataDir, { recursive: true });
	const draft = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
	createForOwner(draft, `${randomBytes(32).toString("base64url")}\n`);
	try {
		await link(draft, file);
	} catch (error) {
		if ((error as { code?: string }).code !== "EEXIST") throw error;
	} finally {
		await rm(draft);
	}
	const secret = await readKept(file);
	if (!secret) throw new Error(`${file} disappeared`);
	return secret;
}

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Command, InvalidArgumentError } from "commander";
import {
	LIST_NAME,
	packageList,
} from "../../src/agent-packages/package-list.ts";
import { DAY_MS } from "../../src/units.ts";
import {
	MANIFEST_NAME,
	type Manifest,
	signManifest,
} from "../updates/manifest.ts";

const ROOT = join(import.meta.dirname, "../..");

/**
 * Signs the archives of a folder of packages as the release that agents update themselves to, and
 * returns the version. Throws if an archive is not the one that the list of packages names.
 */
export async function signUpdate(
	folder: string,
	privateKey: string,
	days: number,
): Promise<string> {
	const list = await readFile(join(folder, LIST_NAME), "utf8");
	const { version, packages } = packageList.parse(JSON.parse(list));
	const files: Manifest["files"] = {};
	for (const { file, format, platform, ...found } of packages) {
		if (format !== "tar.gz" || platform !== "LINUX") continue;
		const hash = createHash("sha256");
		await pipeline(createReadStream(join(folder, file)), hash);
		if (hash.digest("hex") !== found.sha256) {
			throw new Error(`${file} is not the file that ${LIST_NAME} lists`);
		}
		const { architecture, bytes, sha256 } = found;
		files[`linux-${architecture}`] = { file, bytes, sha256 };
	}
	if (Object.keys(files).length === 0) {
		throw new Error(`${folder} has no tar.gz; only these update themselves`);
	}
	const expires_at = new Date(Date.now() + days * DAY_MS).toISOString();
	const text = signManifest({ version, expires_at, files }, privateKey);
	await writeFile(join(folder, MANIFEST_NAME), text);
	return version;
}

function parseDays(text: string): number {
	if (/^\d{1,3}$/.test(text) && Number(text) >= 1) return Number(text);
	throw new InvalidArgumentError("It must be a number of days from 1 to 999.");
}

if (import.meta.main) {
	const program = new Command("sign:update")
		.description(
			"Sign the packages of a folder for agents that update themselves.",
		)
		.requiredOption("--key <file>", "private Ed25519 key in PEM format")
		.option("--folder <folder>", "the packages", join(ROOT, "dist/packages"))
		.option("--days <days>", "days for which agents use it", parseDays, 30)
		.parse();
	const { key, folder, days } = program.opts<{
		key: string;
		folder: string;
		days: number;
	}>();
	try {
		const version = await signUpdate(folder, await readFile(key, "utf8"), days);
		process.stdout.write(
			`${join(folder, MANIFEST_NAME)}: version ${version}\n`,
		);
	} catch (error) {
		process.stderr.write(`sign:update: ${(error as Error).message}\n`);
		process.exitCode = 1;
	}
}

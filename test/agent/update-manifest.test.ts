import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { makeClient } from "../../agent/client.ts";
import { signUpdate } from "../../agent/packages/sign-update.ts";
import { fetchUpdate } from "../../agent/updates/fetch-update.ts";
import {
	type Manifest,
	readManifest,
	readUpdateKey,
	signManifest,
} from "../../agent/updates/manifest.ts";
import { isLater } from "../../src/agent-packages/release.ts";
import { makeFolder } from "../support/folder.ts";
import {
	DAY_MS,
	FILE,
	keys,
	makeArchive,
	manifestOf,
	NEW,
	offer,
	other,
	PROGRAMS,
	sha256,
} from "./update-offers.ts";

let archive: Buffer;
beforeAll(async () => {
	archive = await makeArchive(PROGRAMS.passes);
});

test.each<[string, (good: Manifest) => string, string]>([
	[
		"another key has signed it",
		(good) => signManifest(good, other.privateKey),
		"not signed with the key",
	],
	[
		"somebody changed it after it was signed",
		(good) => signManifest(good, keys.privateKey).replace("0.2.0", "0.3.0"),
		"not signed with the key",
	],
	[
		"it has expired",
		(good) =>
			signManifest(
				{ ...good, expires_at: new Date(Date.now() - 1).toISOString() },
				keys.privateKey,
			),
		"has expired",
	],
	[
		"it has no valid expiry",
		(good) => signManifest({ ...good, expires_at: "never" }, keys.privateKey),
		"has expired",
	],
	[
		"its version is not later than the program's",
		(good) => signManifest({ ...good, version: "0.1.0" }, keys.privateKey),
		"version 0.1.0, which is not later than this one (0.1.0). The service offers 0.2.0",
	],
	[
		"its version has failed on this device",
		(good) => signManifest({ ...good, version: "0.1.9" }, keys.privateKey),
		"version 0.1.9, which failed on this device: it crashed",
	],
	[
		"it has no archive for this platform",
		(good) => signManifest({ ...good, files: {} }, keys.privateKey),
		"no archive for",
	],
	[
		"the archive is another one",
		(good) => {
			const files = Object.entries(good.files).map(([platform, file]) => [
				platform,
				{ ...file, sha256: "0".repeat(64) },
			]);
			return signManifest(
				{ ...good, files: Object.fromEntries(files) },
				keys.privateKey,
			);
		},
		"not the archive that was signed",
	],
	["it is no manifest", () => "<html>", "not one of Assay"],
])("a manifest does not count if %s", async (_, change, message) => {
	const { url } = await offer(archive, change(manifestOf(archive)));
	const folder = await makeFolder("assay-fetch-");
	const to = join(folder, "assay-agent.new");
	const fetching = fetchUpdate({
		client: await makeClient({ serverUrl: url, platform: "LINUX" }),
		key: keys.publicKey,
		own: "0.1.0",
		newest: NEW,
		failures: { "0.1.9": "it crashed" },
		platform: `${process.platform}-${process.arch}`,
		archive: join(folder, "archive"),
		to,
		signal: new AbortController().signal,
	});
	await expect(fetching).rejects.toThrow(message);
	await expect(readFile(to)).rejects.toThrow("ENOENT");
});

test.runIf(process.getuid?.() === 0)(
	"if the disk fills while the program is unpacked, the error says so, and nothing is left on it",
	async ({ skip }) => {
		const disk = await makeFolder("assay-full-");
		// A container may not permit root to mount anything.
		const mount = spawnSync("mount", [
			...["-t", "tmpfs", "-o", "size=1m", "assay-test", disk],
		]);
		if (mount.status !== 0) skip(String(mount.stderr ?? mount.error));
		onTestFinished(() => void spawnSync("umount", [disk]));
		const large = await makeArchive(`# ${"x".repeat(3_000_000)}`);
		const { url } = await offer(large);
		const to = join(disk, "assay-agent.new");
		const fetching = fetchUpdate({
			client: await makeClient({ serverUrl: url, platform: "LINUX" }),
			key: keys.publicKey,
			own: "0.1.0",
			newest: NEW,
			failures: {},
			platform: `${process.platform}-${process.arch}`,
			archive: join(disk, "archive"),
			to,
			signal: new AbortController().signal,
		});
		await expect(fetching).rejects.toThrow(`the disk of ${to} is full`);
		expect(await readdir(disk)).toEqual([]);
	},
);

test("a release is later by its numbers", () => {
	expect(isLater("0.10.0", "0.9.9")).toBe(true);
	expect(isLater("1.0.0", "1.0.0")).toBe(false);
	expect(isLater("1.0.0", "1.0.1")).toBe(false);
	expect(isLater("by hand", "1.0.1")).toBe(false);
});

test("only a public Ed25519 key can be pinned", () => {
	const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
	const pem = rsa.publicKey.export({ type: "spki", format: "pem" });
	for (const wrong of [keys.privateKey, String(pem), "", "x"]) {
		expect(() => readUpdateKey(wrong)).toThrow("Ed25519");
	}
	expect(readUpdateKey(keys.publicKey).type).toBe("public");
});

test("sign:update signs the archives that the list of packages names, and no others", async () => {
	const folder = await makeFolder("assay-sign-");
	const listed = {
		file: FILE,
		platform: "LINUX",
		architecture: "x64",
		format: "tar.gz",
		bytes: archive.length,
		sha256: sha256(archive),
	};
	const list = { version: NEW, is_signed: false, packages: [listed] };
	await writeFile(join(folder, "packages.json"), JSON.stringify(list));
	await writeFile(join(folder, FILE), archive);
	expect(await signUpdate(folder, keys.privateKey, 30)).toBe(NEW);
	const text = await readFile(join(folder, "agent-update.json"), "utf8");
	const { file, bytes } = listed;
	expect(readManifest(text, keys.publicKey, Date.now())).toMatchObject({
		version: NEW,
		files: { "linux-x64": { file, bytes, sha256: listed.sha256 } },
	});
	const later = Date.now() + 31 * DAY_MS;
	expect(() => readManifest(text, keys.publicKey, later)).toThrow("expired");
	await writeFile(join(folder, FILE), "another program");
	await expect(signUpdate(folder, keys.privateKey, 30)).rejects.toThrow(
		"is not the file",
	);
});

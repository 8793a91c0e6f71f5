import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, signManifest } from "../../agent/updates/manifest.ts";
import { makeFolder } from "../support/folder.ts";
import { respond, startScriptedService } from "./scripted-service.ts";

/** The version that is offered. */
export const NEW = "0.2.0";
/** The file name of the archive. */
export const FILE = "assay-agent-0.2.0-linux.tar.gz";
export const DAY_MS = 24 * 60 * 60_000;
/** Programs that take the place of a new agent. The last argument of an agent is the trial file. */
export const PROGRAMS = {
	passes: `for last; do :; done; printf ${NEW} >"$last"; exec sleep 600`,
	crashes: "exit 1",
	"passes and crashes": `for last; do :; done; printf ${NEW} >"$last"; exit 1`,
	"gets no answer": "exec sleep 600",
	"is another version": `for last; do :; done; printf 9.9.9 >"$last"; exec sleep 600`,
};

const makeKeys = () =>
	generateKeyPairSync("ed25519", {
		publicKeyEncoding: { type: "spki", format: "pem" },
		privateKeyEncoding: { type: "pkcs8", format: "pem" },
	});
export const keys = makeKeys();
export const other = makeKeys();

/** Returns an archive as `build:packages` makes it, with a shell script as the program. */
export async function makeArchive(script: string): Promise<Buffer> {
	const folder = await makeFolder("assay-update-");
	await mkdir(join(folder, "root"));
	const program = join(folder, "root/assay-agent");
	await writeFile(join(folder, "root/LICENSES.txt"), "MIT".repeat(1000));
	await writeFile(program, `#!/bin/sh\n# ${"x".repeat(3000)}\n${script}\n`);
	await chmod(program, 0o755);
	const names = ["root/LICENSES.txt", "root/assay-agent"];
	execFileSync("tar", ["-czf", join(folder, FILE), "-C", folder, ...names]);
	return readFile(join(folder, FILE));
}

export const sha256 = (bytes: Buffer) =>
	createHash("sha256").update(bytes).digest("hex");

export function manifestOf(archive: Buffer): Manifest {
	const platform = `${process.platform}-${process.arch}`;
	const about = { file: FILE, bytes: archive.length, sha256: sha256(archive) };
	return {
		version: NEW,
		expires_at: new Date(Date.now() + DAY_MS).toISOString(),
		files: { [platform]: about },
	};
}

/** Starts a service that offers a new version. It names that version, or another one. */
export async function offer(archive: Buffer, manifest?: string, named = NEW) {
	const service = await startScriptedService({ heartbeat: 1 });
	service.answer(({ route }, response) => {
		if (route === "/agent-packages/agent-update.json") {
			response.end(
				manifest ?? signManifest(manifestOf(archive), keys.privateKey),
			);
		} else if (route === `/agent-packages/${FILE}`) {
			response.end(archive);
		} else if (route === "heartbeat") {
			respond(response, 200, {
				device_id: service.deviceId,
				heartbeat_interval_seconds: 1,
				posture_interval_seconds: 3600,
				server_time: new Date().toISOString(),
				newest_agent_version: named,
			});
		} else return true;
		return false;
	});
	return service;
}

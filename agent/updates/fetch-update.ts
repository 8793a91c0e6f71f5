import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, open, rm } from "node:fs/promises";
import { Transform } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { isLater } from "../../src/agent-packages/release.ts";
import { AgentError } from "../agent-error.ts";
import type { Client } from "../client.ts";
import {
	fileFor,
	MANIFEST_NAME,
	type ManifestFile,
	readManifest,
} from "./manifest.ts";

const PACKAGES = "/agent-packages/";
const MAX_MANIFEST_BYTES = 64 * 1024;
const BLOCK = 512;
/** Large pieces, because the service has a low priority and waits for its turn at each one. */
const PIECE = { highWaterMark: 1 << 20 };

/**
 * Fetches the program of a release into the file `to`, which then only root can change, and returns
 * its version. Throws an AgentError, and leaves no file, unless the pinned key has signed the
 * release, it is later than `own`, it has not failed on this device, and the archive has the
 * checksum that was signed.
 */
export async function fetchUpdate(options: {
	client: Client;
	key: string;
	/** The version of this program. */
	own: string;
	/** The version that the service names. */
	newest: string;
	/** Why this device went back from versions that it has tried. */
	failures: Record<string, string>;
	/** Such as `linux-x64`. */
	platform: string;
	/** File for the archive. */
	archive: string;
	to: string;
	signal: AbortSignal;
}): Promise<string> {
	const { client, key, archive, to, signal } = options;
	const manifest = readManifest(
		await text(
			await client.open(PACKAGES + MANIFEST_NAME, MAX_MANIFEST_BYTES, signal),
		),
		key,
		Date.now(),
	);
	requireUseful(manifest.version, options);
	const wanted = fileFor(manifest, options.platform);
	let written = archive;
	try {
		await download(client, wanted, archive, signal);
		written = to;
		await unpack(archive, to);
	} catch (error) {
		await rm(to, { force: true });
		if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
		throw new AgentError(
			`the program could not be fetched, because the disk of ${written} is full`,
		);
	} finally {
		await rm(archive, { force: true });
	}
	return manifest.version;
}

/**
 * Throws unless this device should try the version of the manifest. It need not be the one that the
 * service names, because the packages and the manifest may be renewed on different days.
 */
function requireUseful(
	version: string,
	{
		own,
		newest,
		failures,
	}: { own: string; newest: string; failures: Record<string, string> },
): void {
	if (!isLater(version, own)) {
		throw new AgentError(
			`the manifest of updates is for version ${version}, which is not later than this one (${own}). The service offers ${newest}: sign a manifest for it`,
		);
	}
	if (Object.hasOwn(failures, version)) {
		throw new AgentError(
			`the manifest of updates is for version ${version}, which failed on this device: ${failures[version]}`,
		);
	}
}

async function download(
	client: Client,
	{ file, bytes, sha256 }: ManifestFile,
	archive: string,
	signal: AbortSignal,
): Promise<void> {
	const hash = createHash("sha256");
	await pipeline(
		await client.open(PACKAGES + file, bytes, signal),
		new Transform({
			transform(chunk, _encoding, done) {
				hash.update(chunk);
				done(null, chunk);
			},
		}),
		createWriteStream(archive, { mode: 0o600 }),
		{ signal },
	);
	if (hash.digest("hex") !== sha256) {
		throw new AgentError(`${file} is not the archive that was signed`);
	}
}

/** Writes the program in the archive to a file that everybody may run and only root may change. */
async function unpack(archive: string, to: string): Promise<void> {
	await rm(to, { force: true });
	const reader = new ProgramReader();
	await pipeline(
		createReadStream(archive, PIECE),
		createGunzip({ chunkSize: PIECE.highWaterMark }),
		reader,
		createWriteStream(to, { flags: "wx", mode: 0o755, ...PIECE }),
	);
	if (!reader.isWhole) throw new AgentError("the archive has no assay-agent");
	await chmod(to, 0o755);
	const handle = await open(to, "r");
	await handle.sync();
	await handle.close();
}

/** Reads a tar as `build:packages` makes it, and passes on the file assay-agent of it. */
class ProgramReader extends Transform {
	isWhole = false;
	#head = Buffer.alloc(0);
	/** Bytes of the current file, and of its padding, that have not been read. */
	#left = 0;
	#padding = 0;
	#isProgram = false;

	override _transform(chunk: Buffer, _: string, done: (e?: Error) => void) {
		this.#read(chunk);
		done();
	}

	#read(chunk: Buffer): void {
		let rest = chunk;
		while (rest.length > 0) {
			if (this.#left > 0) {
				const part = rest.subarray(0, this.#left);
				if (this.#isProgram) this.push(part);
				this.#left -= part.length;
				rest = rest.subarray(part.length);
				if (this.#left === 0 && this.#isProgram) this.isWhole = true;
			} else if (this.#padding > 0) {
				const skipped = Math.min(this.#padding, rest.length);
				this.#padding -= skipped;
				rest = rest.subarray(skipped);
			} else {
				const missing = BLOCK - this.#head.length;
				this.#head = Buffer.concat([this.#head, rest.subarray(0, missing)]);
				rest = rest.subarray(missing);
				if (this.#head.length === BLOCK) this.#begin();
			}
		}
	}

	#begin(): void {
		const field = (from: number, to: number) =>
			this.#head.toString("latin1", from, to).split("\0", 1).join().trim();
		const size = Number.parseInt(field(124, 136) || "0", 8);
		this.#isProgram =
			!this.isWhole &&
			/^[^/]+\/assay-agent$/.test(field(0, 100)) &&
			field(156, 157) === "0";
		this.#left = size;
		this.#padding = (BLOCK - (size % BLOCK)) % BLOCK;
		this.#head = Buffer.alloc(0);
	}
}

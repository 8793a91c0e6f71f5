import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { AppError } from "../errors.ts";
import {
	callS3,
	expectS3Success,
	type S3Folder,
	textIn,
} from "../s3/s3-request.ts";

/** The largest body of one request. S3 takes larger objects only in parts. */
const MAX_BYTES = 5 * 2 ** 30;
/** A list has at most 1000 names. */
const MAX_LISTS = 100;
const DAY_MS = 86_400_000;

/**
 * Stores a file under its name and checks that it is there. Throws an AppError if the name is taken
 * or the store rejects the file.
 */
export async function uploadFile(
	folder: S3Folder,
	path: string,
	name: string,
): Promise<void> {
	const { size: bytes } = await stat(path);
	if (bytes > MAX_BYTES) {
		throw new AppError(
			"bad_request",
			`${path} has more than 5 GiB, which the store does not take in one request; copy it with another program, or leave out the contents of files (--without-files)`,
		);
	}
	const before = await callS3(folder, { method: "HEAD", name });
	if (before.status === 200) {
		throw new AppError(
			"bad_request",
			`the store already has ${folder.prefix}${name}; nothing was replaced`,
		);
	}
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	const file = { path, bytes, sha256: hash.digest("hex") };
	expectS3Success(await callS3(folder, { method: "PUT", name, file }), folder);
	const after = await callS3(folder, { method: "HEAD", name });
	if (after.status !== 200 || after.bytes !== bytes) {
		throw new AppError(
			"service_unavailable",
			`the store took ${folder.prefix}${name}, but does not show it with its ${bytes} bytes`,
		);
	}
}

/**
 * Deletes the backups in the folder that are older than `days`, apart from `newest`. Only names
 * like those of the nightly backups are touched: assay-….backup. Returns the deleted names.
 */
export async function deleteOldBackups(
	folder: S3Folder,
	days: number,
	newest: string,
	now: number = Date.now(),
): Promise<string[]> {
	const deleted: string[] = [];
	for (const { name, storedAt } of await listFiles(folder)) {
		const isBackup = name.startsWith("assay-") && name.endsWith(".backup");
		const isOld = now - storedAt > days * DAY_MS;
		if (!isBackup || !isOld || name === newest || name.includes("/")) continue;
		expectS3Success(await callS3(folder, { method: "DELETE", name }), folder);
		deleted.push(name);
	}
	return deleted;
}

async function listFiles(
	folder: S3Folder,
): Promise<{ name: string; storedAt: number }[]> {
	const files: { name: string; storedAt: number }[] = [];
	let token: string | undefined;
	for (let lists = 0; lists < MAX_LISTS; lists++) {
		const answer = await callS3(folder, {
			method: "GET",
			query: {
				"list-type": "2",
				"encoding-type": "url",
				prefix: folder.prefix,
				...(token && { "continuation-token": token }),
			},
		});
		expectS3Success(answer, folder);
		for (const part of answer.body.split("<Contents>").slice(1)) {
			// In a list of this encoding, a space is a plus sign.
			const key = decodeURIComponent(
				(textIn(part, "Key") ?? "").replaceAll("+", " "),
			);
			const storedAt = Date.parse(textIn(part, "LastModified") ?? "");
			if (!key.startsWith(folder.prefix) || Number.isNaN(storedAt)) continue;
			files.push({ name: key.slice(folder.prefix.length), storedAt });
		}
		token = textIn(answer.body, "NextContinuationToken");
		if (!token) break;
	}
	return files;
}

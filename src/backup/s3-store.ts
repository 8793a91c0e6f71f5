import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError } from "../errors.ts";
import {
	callS3,
	expectS3Success,
	hasNoFile,
	type S3Call,
	type S3Folder,
	textIn,
} from "../s3/s3-request.ts";
import { type BackupPlace, NOTE_NAME } from "./old-backups.ts";

/** The largest body of one request. S3 takes larger objects only in parts. */
const MAX_BYTES = 5 * 2 ** 30;
/** A list has at most 1000 names. */
const MAX_LISTS = 100;

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
 * Returns the store as a place from which old backups are deleted. If it is urgent, a store that does
 * not answer soon counts as one that cannot be reached.
 */
export function storePlace(folder: S3Folder, isUrgent = false): BackupPlace {
	const call = async (wanted: S3Call) => {
		const answer = await callS3(folder, wanted);
		expectS3Success(answer, folder);
		return answer;
	};
	return {
		name: `${folder.origin}/${folder.bucket}/${folder.prefix}`,
		list: () => listFiles(folder),
		remove: async (name) => {
			await call({ method: "DELETE", name });
		},
		async readNote() {
			const note = { method: "GET", name: NOTE_NAME, isUrgent } as const;
			const answer = await callS3(folder, note);
			if (hasNoFile(answer)) return undefined;
			expectS3Success(answer, folder);
			return answer.body;
		},
		async writeNote(text) {
			const draft = join(await mkdtemp(join(tmpdir(), "assay-note-")), "note");
			try {
				await writeFile(draft, text);
				const bytes = Buffer.byteLength(text);
				const sha256 = createHash("sha256").update(text).digest("hex");
				const file = { path: draft, bytes, sha256 };
				await call({ method: "PUT", name: NOTE_NAME, file });
			} finally {
				await rm(dirname(draft), { recursive: true, force: true });
			}
		},
	};
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

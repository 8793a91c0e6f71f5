import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ArchivePlace } from "../config/read-archive.ts";
import { AppError } from "../errors.ts";
import {
	callS3,
	expectS3Success,
	hasNoFile,
	type S3Folder,
} from "../s3/s3-request.ts";

/** Stores the files of the archive by name. A name has slashes between folders. */
export interface ArchiveStore {
	/** Stores the file at `path`, in place of one with the same name. */
	put: (path: string, name: string) => Promise<void>;
	/** Writes the stored file to `path`. Returns false if there is no file with this name. */
	get: (name: string, path: string) => Promise<boolean>;
	/** Deletes the file, if it is there. */
	remove: (name: string) => Promise<void>;
}

export function openArchiveStore(place: ArchivePlace): ArchiveStore {
	return "folder" in place ? folderStore(place.folder) : s3Store(place.s3);
}

/** Returns the size and the SHA-256 of a file, in hexadecimal digits. */
export async function digestOf(
	path: string,
): Promise<{ bytes: number; sha256: string }> {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	return { bytes: (await stat(path)).size, sha256: hash.digest("hex") };
}

function folderStore(folder: string): ArchiveStore {
	const pathOf = (name: string) => join(folder, ...name.split("/"));
	return {
		put: async (path, name) => {
			const target = pathOf(name);
			const partial = `${target}.partial`;
			try {
				await mkdir(dirname(target), { recursive: true, mode: 0o750 });
				await copyFile(path, partial);
				const file = await open(partial, "r+");
				await file.sync();
				await file.close();
				await rename(partial, target);
			} catch (error) {
				throw failed(error, `the archive cannot store ${target}`);
			}
		},
		get: async (name, path) => {
			try {
				await copyFile(pathOf(name), path);
				return true;
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
				throw failed(error, `the archive cannot read ${pathOf(name)}`);
			}
		},
		remove: async (name) => {
			try {
				await rm(pathOf(name), { force: true });
			} catch (error) {
				throw failed(error, `the archive cannot delete ${pathOf(name)}`);
			}
		},
	};
}

function failed(error: unknown, what: string): AppError {
	const { code } = error as NodeJS.ErrnoException;
	return new AppError(
		"service_unavailable",
		`${what} (${code}); check ASSAY_ARCHIVE_URL, the permissions of the folder and the free space`,
		{ cause: error },
	);
}

function s3Store(folder: S3Folder): ArchiveStore {
	return {
		put: async (path, name) => {
			const file = { path, ...(await digestOf(path)) };
			const answer = await callS3(folder, { method: "PUT", name, file });
			expectS3Success(answer, folder);
		},
		get: async (name, path) => {
			const answer = await callS3(folder, { method: "GET", name, to: path });
			if (hasNoFile(answer)) return false;
			expectS3Success(answer, folder);
			return true;
		},
		remove: async (name) => {
			const answer = await callS3(folder, { method: "DELETE", name });
			if (!hasNoFile(answer)) expectS3Success(answer, folder);
		},
	};
}

import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../errors.ts";
import type { S3Folder } from "../s3/s3-request.ts";
import { readS3Folder } from "./read-s3-folder.ts";

/** Where closed months of raw reports are archived: a folder of this machine, or of a bucket. */
export type ArchivePlace =
	| { readonly folder: string }
	| { readonly s3: S3Folder };

const SETTINGS = {
	url: "ASSAY_ARCHIVE_URL",
	key: "ASSAY_ARCHIVE_S3_KEY",
} as const;

/** Reads the place of the archive. Returns undefined if none is set. */
export function readArchivePlace(
	address: string | undefined,
	key: string | undefined,
): ArchivePlace | undefined {
	if (!address) {
		if (!key) return undefined;
		throw new AppError(
			"bad_request",
			`${SETTINGS.key} needs ${SETTINGS.url}, which names the bucket`,
		);
	}
	if (/^https?:/i.test(address)) {
		return Object.freeze({ s3: readS3Folder(SETTINGS, address, key) });
	}
	const folder = folderOf(address);
	if (folder === undefined) {
		throw new AppError(
			"bad_request",
			`${SETTINGS.url} must be the full path of a folder, such as /var/lib/assay-archive, or the address of a bucket, such as https://s3.eu-central-1.amazonaws.com/bucket/folder?region=eu-central-1`,
		);
	}
	if (key) {
		throw new AppError(
			"bad_request",
			`${SETTINGS.key} is only for a bucket, but ${SETTINGS.url} names a folder`,
		);
	}
	return Object.freeze({ folder });
}

function folderOf(address: string): string | undefined {
	const path = address.startsWith("file:") ? pathOf(address) : address;
	return path !== undefined && isAbsolute(path) ? path : undefined;
}

function pathOf(url: string): string | undefined {
	try {
		return fileURLToPath(url);
	} catch {
		return undefined;
	}
}

import { AppError } from "../errors.ts";
import type { S3Folder } from "../s3/s3-request.ts";

const DEFAULT_REGION = "us-east-1";
const MAX_DAYS = 3650;
const BACKUP_SETTINGS = {
	url: "ASSAY_BACKUP_S3_URL",
	key: "ASSAY_BACKUP_S3_KEY",
} as const;

export interface BackupStore {
	readonly folder: S3Folder;
	/** Days after which uploaded backups are deleted. Undefined keeps all. */
	readonly keepDays: number | undefined;
}

/** Reads where backups are uploaded to. Returns undefined if no store is set. */
export function readBackupStore(
	address: string | undefined,
	key: string | undefined,
	keepDays: string | undefined,
): BackupStore | undefined {
	if (!address) {
		if (!key && !keepDays) return undefined;
		throw new AppError(
			"bad_request",
			"ASSAY_BACKUP_S3_KEY and ASSAY_BACKUP_S3_KEEP_DAYS need ASSAY_BACKUP_S3_URL, which names the store",
		);
	}
	return Object.freeze({
		folder: readS3Folder(BACKUP_SETTINGS, address, key),
		keepDays: readDays(keepDays),
	});
}

/** Reads the address of a bucket and its key. Throws a bad_request AppError that names the setting. */
export function readS3Folder(
	settings: S3Folder["settings"],
	address: string,
	key: string | undefined,
): S3Folder {
	const [, id, secret] = /^([^:\s]+):(\S+)$/.exec(key ?? "") ?? [];
	if (!id || !secret) {
		throw new AppError(
			"bad_request",
			`${settings.url} needs ${settings.key}, which must be the id and the secret of an access key, as id:secret`,
		);
	}
	return Object.freeze({
		...readFolder(settings, address),
		credentials: Object.freeze({ id, secret }),
		settings,
	});
}

function readFolder(
	settings: S3Folder["settings"],
	address: string,
): Omit<S3Folder, "credentials" | "settings"> {
	const url = URL.parse(address);
	const [bucket, ...names] = decode(url?.pathname ?? "")
		.split("/")
		.filter((name) => name !== "");
	const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
	const others = [...(url?.searchParams.keys() ?? [])].filter(
		(name) => name !== "region",
	);
	const hasMore = url?.username || url?.password || url?.hash;
	if (!url || !isHttp || !bucket || others.length > 0 || hasMore) {
		throw new AppError(
			"bad_request",
			`${settings.url} must look like https://s3.eu-central-1.amazonaws.com/bucket/folder?region=eu-central-1; the folder and the region may be left out, and the key is in ${settings.key}`,
		);
	}
	return {
		origin: url.origin,
		bucket,
		prefix: names.map((name) => `${name}/`).join(""),
		region: url.searchParams.get("region") || DEFAULT_REGION,
	};
}

function decode(path: string): string {
	try {
		return decodeURIComponent(path);
	} catch {
		return "";
	}
}

/** Reads how long backups stay in their folder. 0 keeps all. */
export function readKeepDays(text: string | undefined): number {
	if (/^\d{1,4}$/.test(text ?? "") && Number(text) <= MAX_DAYS) {
		return Number(text);
	}
	throw new AppError(
		"bad_request",
		`ASSAY_BACKUP_KEEP_DAYS must be a number of days from 1 to ${MAX_DAYS}, or 0 to keep all backups, not "${text}"`,
	);
}

function readDays(text: string | undefined): number | undefined {
	if (!text) return undefined;
	const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
	if (days < 1 || days > MAX_DAYS) {
		throw new AppError(
			"bad_request",
			`ASSAY_BACKUP_S3_KEEP_DAYS must be a number of days from 1 to ${MAX_DAYS}`,
		);
	}
	return days;
}

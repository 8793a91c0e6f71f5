import { AppError } from "../errors.ts";
import type { FileLimits, ScannerAddress } from "../files/file-limits.ts";

const MAX_FILE_MB = 1_024;
const MAX_FILES_GB = 10_000;

/** Reads the limits of uploaded files and the address of clamd. */
export function readFileLimits(
	fileMb: string | undefined,
	filesGb: string | undefined,
	clamd: string | undefined,
): FileLimits {
	const mebibyte = 1 << 20;
	const maxFileBytes =
		readAmount("ASSAY_MAX_FILE_MB", fileMb, MAX_FILE_MB) * mebibyte;
	const gibibytes = readAmount("ASSAY_MAX_FILES_GB", filesGb, MAX_FILES_GB);
	return {
		maxFileBytes,
		maxTotalBytes: gibibytes * 1024 * mebibyte,
		scanner: clamd ? readScanner(clamd) : undefined,
	};
}

function readAmount(
	name: string,
	text: string | undefined,
	max: number,
): number {
	const amount = Number(text);
	if (!/^\d+$/.test(text ?? "") || amount < 1 || amount > max) {
		throw new AppError(
			"bad_request",
			`${name} must be a whole number from 1 to ${max}, not "${text}"`,
		);
	}
	return amount;
}

function readScanner(text: string): ScannerAddress {
	if (text.startsWith("/")) return { path: text };
	const [, host, port] =
		/^(\[[\da-f:.]+\]|[^:\s/]+):(\d{1,5})$/i.exec(text) ?? [];
	if (host === undefined || !(Number(port) > 0 && Number(port) <= 65_535)) {
		throw new AppError(
			"bad_request",
			`ASSAY_CLAMD must be host:port, such as localhost:3310, or the path of a socket that begins with /, not "${text}"`,
		);
	}
	return { host: host.replace(/[[\]]/g, ""), port: Number(port) };
}

const MIB = 1 << 20;

/** Limits of the files that an organization may keep. The operator sets them. */
export interface FileLimits {
	/** Largest file, in bytes. */
	maxFileBytes: number;
	/** Largest sum of the files of one organization, in bytes. */
	maxTotalBytes: number;
	/** Address of clamd, which looks for malware. Undefined if files are not scanned. */
	scanner?: ScannerAddress | undefined;
}

/** A Unix socket, or a host and port. */
export type ScannerAddress = { path: string } | { host: string; port: number };

export const DEFAULT_MAX_FILE_MB = 25;
export const DEFAULT_MAX_FILES_GB = 5;

/** The limits of a service whose operator sets none. */
export const DEFAULT_LIMITS: FileLimits = Object.freeze({
	maxFileBytes: DEFAULT_MAX_FILE_MB * MIB,
	maxTotalBytes: DEFAULT_MAX_FILES_GB * 1024 * MIB,
});

/** Writes a number of bytes as people read it, such as "25 MB". */
export function inWords(bytes: number): string {
	if (bytes < 1024) return `${bytes} bytes`;
	if (bytes < MIB) return `${round(bytes / 1024)} KB`;
	if (bytes < 1024 * MIB) return `${round(bytes / MIB)} MB`;
	return `${round(bytes / 1024 / MIB)} GB`;
}

const round = (amount: number) => Number(amount.toFixed(amount < 10 ? 1 : 0));

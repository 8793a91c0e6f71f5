import { errorCode } from "./files.ts";

/** Returns true for a regular file of at most `maxBytes` bytes. */
export function isReadableFile(
	about: { isFile(): boolean; size: number },
	maxBytes: number,
): boolean {
	return about.isFile() && about.size <= maxBytes;
}

/** Turns the error of reading a file or folder into the result that a check receives. */
export function explainReadError(
	error: unknown,
): "missing" | "denied" | "unreadable" {
	const code = errorCode(error) ?? "";
	if (code === "ENOENT" || code === "ENOTDIR") return "missing";
	if (code === "EACCES" || code === "EPERM") return "denied";
	return "unreadable";
}

import { errorCode } from "./files.ts";

/** True for a regular file of at most so many bytes. */
export function isReadableFile(
	about: { isFile(): boolean; size: number },
	maxBytes: number,
): boolean {
	return about.isFile() && about.size <= maxBytes;
}

/** Says why a file or folder cannot be read, as a check needs to know it. */
export function explainReadError(
	error: unknown,
): "missing" | "denied" | "unreadable" {
	const code = errorCode(error) ?? "";
	if (code === "ENOENT" || code === "ENOTDIR") return "missing";
	if (code === "EACCES" || code === "EPERM") return "denied";
	return "unreadable";
}

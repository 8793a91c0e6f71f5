import { z } from "zod";

/** Longest name of a file in characters. Most file systems permit no longer one. */
export const MAX_FILE_NAME = 255;

/**
 * Matches characters that a file's name must not contain: control characters, line separators, and
 * characters that turn the direction of the text, with which `exe.fdp` looks like `pdf.exe`.
 */
const HIDDEN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** Matches characters that divide a path, or that Windows does not permit in names. */
export const PATH_PARTS = /[/\\:*?"<>|]/g;

/** Returns the schema of the name of an uploaded file. The name has no folder. */
export const fileNameSchema = () =>
	z
		.string()
		.min(1)
		.max(MAX_FILE_NAME, { abort: true })
		.transform((text) => text.normalize("NFC"))
		.refine((text) => text.isWellFormed(), {
			abort: true,
			message: "must be valid Unicode",
		})
		.refine(
			(text) => !HIDDEN.test(text) && text.search(PATH_PARTS) === -1,
			'must be the name of a file without its folder, and without control characters and / \\ : * ? " < > |',
		)
		.refine(
			(text) => !/^[. ]|[. ]$/.test(text),
			"must not begin or end with a dot or a space",
		);

/** Returns the last part of a name after a dot, in lower case, such as `pdf`. */
export function extensionOf(fileName: string): string {
	const dot = fileName.lastIndexOf(".");
	return dot === -1 ? "" : fileName.slice(dot + 1).toLowerCase();
}

/**
 * Returns the header Content-Disposition for a file. Old clients read the first name, in ASCII, and
 * all others the second one (RFC 6266).
 */
export function contentDisposition(
	how: "attachment" | "inline",
	fileName: string,
): string {
	const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, "_");
	const whole = encodeURIComponent(fileName).replace(
		/['()*]/g,
		(character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
	);
	return `${how}; filename="${plain}"; filename*=UTF-8''${whole}`;
}

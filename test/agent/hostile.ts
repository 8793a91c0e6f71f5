import type { Recording } from "./recorded-host.ts";

/** A marker in every hostile text. If it appears in evidence, text from the device has leaked. */
export const MARKER = "S3CRET";

/** Length in characters. A check whose time grows with the square of the length would not end. */
const LONG = 256 * 1024;

/** Texts from programs and files that no check expects. */
export const HOSTILE_TEXTS: Record<string, string> = {
	"nothing at all": "",
	"a line without an end": MARKER,
	"256 KiB of one line": MARKER.repeat(LONG / MARKER.length),
	"256 KiB of lines": `${MARKER}: ${MARKER}\n`.repeat(LONG / 15),
	"256 KiB of empty lines": "\n".repeat(LONG),
	"256 KiB of spaces": " ".repeat(LONG),
	"256 KiB of tabs and keys": `\t<key>${MARKER}</key>\n`.repeat(LONG / 22),
	"control characters": `\u0000\u001b[31m${MARKER}\u0007\r\n\u009b${MARKER}\u2028\u202e`,
	"bytes that are no text": Array.from({ length: 4096 }, (_, index) =>
		String.fromCharCode((index * 7919) % 256),
	).join(""),
	"half a surrogate": `\ud800${MARKER}\udfff`,
	"an error with a path": `error: cannot open /Users/${MARKER}/Library/x: Permission denied\n`,
	"a comment with a setting": `# ${MARKER} enabled = yes\n; ${MARKER}\n// ${MARKER}\n`,
	markup: `<?xml version="1.0"?><plist version="1.0"><dict><key>${MARKER}</key><string>${MARKER}</string></dict></plist>`,
	"JSON with keys of objects": `{"__proto__":{"enabled":true},"constructor":"${MARKER}","toString":1}`,
};

/** Returns the recording with `text` as the output of every command and file. */
export function sayingOnly(recording: Recording, text: string): Recording {
	return change(recording, () => text);
}

/**
 * Returns several recordings. In each, one command or file has `text` before and after its own
 * output. A long text only tests how long the checks take, so it goes into all commands and files
 * of a single recording.
 */
export function sayingAlso(recording: Recording, text: string): Recording[] {
	const around = (own: string) => `${text}\n${own}\n${text.slice(0, 10_000)}`;
	if (text.length > 100_000) return [change(recording, around)];
	const names = [
		...Object.keys(recording.commands ?? {}),
		...Object.keys(recording.files ?? {}),
	];
	return names.map((name) =>
		change(recording, (own, of) => (of === name ? around(own) : own)),
	);
}

function change(
	recording: Recording,
	say: (own: string, name: string) => string,
): Recording {
	const commands = Object.entries(recording.commands ?? {}).map(
		([name, own]) => [
			name,
			typeof own === "string"
				? say(own, name)
				: {
						...own,
						stdout: say(own.stdout ?? "", name),
						stderr: say(own.stderr ?? "", name),
					},
		],
	);
	const files = Object.entries(recording.files ?? {}).map(([name, own]) => [
		name,
		typeof own === "string" ? say(own, name) : own,
	]);
	return {
		...recording,
		commands: Object.fromEntries(commands),
		files: Object.fromEntries(files),
	};
}

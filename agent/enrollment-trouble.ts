import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseObject, writeFileAtomically } from "./files.ts";
import { printable } from "./log.ts";

/** Why the last attempt to enroll this device failed, and since when attempts have failed. */
export interface EnrollmentTrouble {
	/** In RFC 3339 format. */
	since: string;
	reason: string;
}

/** Name of the file in the agent's folder. It exists only while the device is not enrolled. */
export const ENROLLMENT_TROUBLE = "enrollment-trouble.json";

/** Returns the trouble, or undefined if there is none or the file cannot be read. */
export async function readEnrollmentTrouble(
	folder: string,
): Promise<EnrollmentTrouble | undefined> {
	const text = await readFile(join(folder, ENROLLMENT_TROUBLE), "utf8").catch(
		() => "",
	);
	const { since, reason } = parseObject(text) ?? {};
	return typeof since === "string" && typeof reason === "string"
		? { since, reason }
		: undefined;
}

/** Keeps the reason for the command `status`. The log has it too, so a full disk does not matter. */
export async function noteEnrollmentTrouble(
	folder: string,
	sentence: string,
): Promise<void> {
	const reason = printable(sentence);
	const earlier = await readEnrollmentTrouble(folder);
	if (earlier?.reason === reason) return;
	const since = earlier?.since ?? new Date().toISOString();
	await writeFileAtomically(
		join(folder, ENROLLMENT_TROUBLE),
		`${JSON.stringify({ since, reason })}\n`,
	).catch(() => {});
}

/** Removes the reason. A failure does no harm, because nobody reads it after the enrollment. */
export async function clearEnrollmentTrouble(folder: string): Promise<void> {
	await rm(join(folder, ENROLLMENT_TROUBLE), { force: true }).catch(() => {});
}

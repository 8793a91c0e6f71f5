import { chmod, mkdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { describeFix } from "../src/devices/remediation/describe-fix.ts";
import {
	type Explanation,
	explain,
} from "../src/devices/remediation/remediation.ts";
import {
	type Platform,
	POSTURE_STATUSES,
	type PostureStatus,
} from "../src/devices/terms.ts";
import type { CheckResult } from "./checks/run-checks.ts";
import { describeTable } from "./describe-results.ts";
import { parseObject, writeFileAtomically } from "./files.ts";
import { requireOwnFolder } from "./folder.ts";
import { printable } from "./log.ts";
import { readOwnSid, runWindows, windowsRights } from "./windows-rights.ts";

/** The latest results without their evidence, which every user of the device may read. */
export interface LastResult {
	/** The time of the checks, in RFC 3339 format. */
	checked_at: string;
	results: ({ check_key: string; status: PostureStatus } & Explanation)[];
}

const FILE = "last-result.json";

/** The SID of the group that contains every user of a Windows device. */
const USERS = "S-1-5-32-545";

/**
 * Returns the folder of the file that every user may read. It stands beside the agent's own folder,
 * which stays closed to others.
 */
export const publicFolder = (folder: string) => `${folder}-public`;

/**
 * Stores the results for the users of the device. Throws if the folder cannot be used, for example
 * because somebody else has made it.
 */
export async function storeLastResult(
	folder: string,
	results: readonly CheckResult[],
	platform: Platform,
): Promise<void> {
	const open = publicFolder(folder);
	await mkdir(open, { mode: 0o755 }).catch((error) => {
		if (error.code !== "EEXIST") throw error;
	});
	await requireOwnFolder(open);
	const last: LastResult = {
		checked_at: new Date().toISOString(),
		results: results.map((result) => ({
			check_key: result.check_key,
			status: result.status,
			...explain({ ...result, platform }, results),
		})),
	};
	const path = join(open, FILE);
	if (process.platform === "win32") {
		const calls = windowsRights(open, await readOwnSid());
		const toUsers = [open, "/grant", `*${USERS}:(OI)(CI)RX`];
		for (const args of [...calls, toUsers]) {
			await runWindows("icacls.exe", args);
		}
		await writeFileAtomically(path, JSON.stringify(last));
		return;
	}
	await chmod(open, 0o755);
	await writeFileAtomically(path, JSON.stringify(last));
	await chmod(path, 0o644);
}

/** Returns the last results, or undefined if there are none that this user may read. */
export async function readLastResult(
	folder: string,
): Promise<LastResult | undefined> {
	const text = await readFile(join(publicFolder(folder), FILE), "utf8").catch(
		() => "",
	);
	const stored = parseObject(text);
	return typeof stored?.checked_at === "string" &&
		Array.isArray(stored.results) &&
		stored.results.every(isResult)
		? { checked_at: stored.checked_at, results: stored.results }
		: undefined;
}

function isResult(value: unknown): value is LastResult["results"][number] {
	const { check_key, status, reason, remediation } = (value ?? {}) as Record<
		string,
		unknown
	>;
	return (
		typeof check_key === "string" &&
		POSTURE_STATUSES.includes(status as PostureStatus) &&
		[reason, remediation].every(
			(text) => text === undefined || typeof text === "string",
		)
	);
}

/** Returns the last results as text for people. */
export function describeLastResult({ checked_at, results }: LastResult) {
	const fixes = results
		.map((result) => describeFix(result, printable))
		.filter((fix) => fix !== undefined);
	return [
		`Results of ${printable(checked_at)}`,
		describeTable(results.map((result) => ({ ...result, evidence: {} }))),
		...fixes,
	].join("\n\n");
}

/** Removes the results. Leaves a folder that belongs to somebody else as it is. */
export async function removeLastResult(folder: string): Promise<void> {
	const open = publicFolder(folder);
	try {
		await requireOwnFolder(open);
		await rm(join(open, FILE), { force: true });
		await rmdir(open);
	} catch {
		// There is no such folder, or something else is in it.
	}
}

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { AgentError } from "./agent-error.ts";

// Users and groups are named by their SIDs, which are the same in every language of Windows.
const SYSTEM = "S-1-5-18";
const ADMINISTRATORS = "S-1-5-32-544";

const SYSTEM32 = `${process.env.SystemRoot ?? "C:\\Windows"}\\System32`;

/** Runs a program of Windows itself and returns what it printed. */
export async function runWindows(
	program: string,
	args: readonly string[],
	environment: Record<string, string> = {},
): Promise<string> {
	const { stdout } = await promisify(execFile)(
		`${SYSTEM32}\\${program}`,
		args,
		{ env: { ...process.env, ...environment }, windowsHide: true },
	);
	return stdout;
}

/**
 * Returns the calls of icacls that leave a folder accessible only to SYSTEM, administrators and
 * this user.
 */
export function windowsRights(folder: string, ownSid: string): string[][] {
	const sids = [...new Set([SYSTEM, ADMINISTRATORS, ownSid])];
	return [
		// /reset removes the rights that another user may have given to others by making the folder
		// beforehand.
		[folder, "/reset"],
		[
			folder,
			"/inheritance:r",
			"/grant:r",
			...sids.map((sid) => `*${sid}:(OI)(CI)F`),
		],
	];
}

/**
 * Returns true if the owner of the agent's folder is SYSTEM, the administrators' group or this
 * user.
 */
export function isTrustedOwner(ownerSid: string, ownSid: string): boolean {
	return [SYSTEM, ADMINISTRATORS, ownSid].includes(ownerSid);
}

/** Returns the SID of the folder's owner. */
export async function readOwnerSid(folder: string): Promise<string> {
	const text = await runWindows(
		"WindowsPowerShell\\v1.0\\powershell.exe",
		[
			"-NoProfile",
			"-NonInteractive",
			"-Command",
			// The path is passed in a variable, so that PowerShell runs nothing in it as code.
			"(Get-Acl -LiteralPath $env:ASSAY_FOLDER).GetOwner([Security.Principal.SecurityIdentifier]).Value",
		],
		{ ASSAY_FOLDER: folder },
	);
	return parseSid(text);
}

/** Returns the SID of the user who runs this program. */
export async function readOwnSid(): Promise<string> {
	return parseSid(
		await runWindows("whoami.exe", ["/user", "/fo", "csv", "/nh"]),
	);
}

/** Returns the SID at the end of Windows' output, such as `"PC\ada","S-1-5-21-…-1001"`. */
export function parseSid(text: string): string {
	const sid = /(?:^|")(S-1-[0-9]+(?:-[0-9]+)+)"?\s*$/.exec(text)?.[1];
	if (!sid) {
		throw new AgentError(
			"Windows did not report the SID of the current user or of the folder's owner, so the agent cannot tell who may read the folder",
		);
	}
	return sid;
}

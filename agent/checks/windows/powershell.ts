import type { CommandResult, Host } from "../../host.ts";
import { type CheckOutcome, unknown } from "../check.ts";

/**
 * The answer of a script. Windows shows its settings in the display language, so no text for people
 * is read here. Every check is one PowerShell process (its start costs half a second or more) that
 * prints one JSON object of numbers, booleans and identifiers.
 */
export type Answer = Record<string, unknown>;

/** The result of a `Read-Part` in a script: values, or the identifier of the error. */
export type Part =
	| { kind: "values"; values: Answer[] }
	| { kind: "absent" }
	| { kind: "denied" }
	| { kind: "failed" };

const TIMEOUT_MS = 12_000;

/**
 * The beginning of every script. `Read-Part` runs a block whose failure must not lose the rest; it
 * returns the error's identifier, which is the same in every language, unlike its message. `Reg`
 * reads a key's values, or nothing if there is no such key. The encoding cannot be set without a
 * console, or where only signed scripts may call .NET; plain ASCII still arrives then.
 */
const PREAMBLE = `
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
try { [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false } catch { }
function Read-Part([scriptblock] $block) {
  try { @{ values = @(& $block) } } catch { @{ error = [string] $_.FullyQualifiedErrorId } }
}
function Reg([string] $path) { Get-ItemProperty -LiteralPath "Registry::$path" -ErrorAction SilentlyContinue }
`;

/**
 * Returns the command line. `script` must leave one hashtable. Execution policies apply to files,
 * so a command needs no exception from them.
 */
export function powershellArgs(script: string): string[] {
	return [
		"-NoLogo",
		"-NoProfile",
		"-NonInteractive",
		"-Command",
		`${PREAMBLE}${script.trim()} | ConvertTo-Json -Compress -Depth 5`,
	];
}

/** Runs a constant script. Returns its object, or the outcome of a check that could not ask. */
export async function ask(
	host: Host,
	script: string,
): Promise<{ answer: Answer } | { trouble: CheckOutcome }> {
	const result = await host.run("powershell.exe", powershellArgs(script), {
		timeoutMs: TIMEOUT_MS,
	});
	const reason = whyNot(result);
	if (reason) return { trouble: unknown(reason) };
	const answer = parseObject(result.stdout);
	return answer ? { answer } : { trouble: unknown("unrecognized_output") };
}

function whyNot(result: CommandResult): string | undefined {
	if (result.ended === "missing") return "command_missing";
	if (result.ended === "denied") return "command_denied";
	if (result.ended === "timed_out") return "timed_out";
	return result.exitCode === 0 ? undefined : "command_failed";
}

function parseObject(text: string): Answer | undefined {
	try {
		// A byte order mark comes first if the console's encoding has one.
		const value: unknown = JSON.parse(text.replace(/^\uFEFF/, "").trim());
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

const isObject = (value: unknown): value is Answer =>
	typeof value === "object" && value !== null && !Array.isArray(value);

const ABSENT =
	/0x8004100e|0x80041010|0x80041002|MI RESULT [3567]\b|NoServiceFound|ItemNotFound|PathNotFound|CommandNotFound|NoMatchingEventsFound/i;
const DENIED =
	/0x80041003|0x80070005|System Error 5\b|MI RESULT 2\b|UnauthorizedAccess|SecurityException|PermissionDenied/i;

/**
 * Returns one `Read-Part` of the answer. Windows PowerShell 5 may wrap a list as `{value, Count}`.
 */
export function part(answer: Answer, name: string): Part {
	const found = answer[name];
	if (!isObject(found)) return { kind: "failed" };
	if (typeof found.error === "string") {
		if (DENIED.test(found.error)) return { kind: "denied" };
		return { kind: ABSENT.test(found.error) ? "absent" : "failed" };
	}
	const values =
		isObject(found.values) && "value" in found.values
			? found.values.value
			: found.values;
	if (values === undefined) return { kind: "failed" };
	const list = Array.isArray(values) ? values : [values];
	return {
		kind: "values",
		values: list
			.filter((value) => value !== null)
			.map((value) => (isObject(value) ? value : { value })),
	};
}

/** Returns why a part could not be read, as a reason for UNKNOWN. */
export function whyUnread(host: Host, part: Part): string {
	if (part.kind === "denied") {
		return host.isPrivileged ? "access_denied" : "needs_administrator";
	}
	return part.kind === "absent" ? "not_available" : "query_failed";
}

/** Returns a whole number, even if the registry stores it as text; undefined for anything else. */
export function integer(value: unknown): number | undefined {
	if (typeof value === "number") {
		return Number.isSafeInteger(value) ? value : undefined;
	}
	return typeof value === "string" && /^-?\d{1,15}$/.test(value.trim())
		? Number(value)
		: undefined;
}

export const truth = (value: unknown): boolean | undefined =>
	typeof value === "boolean" ? value : undefined;

export const text = (value: unknown): string | undefined =>
	typeof value === "string" ? value : undefined;

/** Returns the whole days from a time in RFC 3339 (or a date) until `now`. */
export function daysSince(time: unknown, now: Date): number | undefined {
	const at = moment(time);
	return at === undefined
		? undefined
		: Math.floor((now.getTime() - at) / 86_400_000);
}

/** Returns the milliseconds of a UTC time such as `2026-11-20T08:00:00`, with or without `Z`. */
export function moment(time: unknown): number | undefined {
	if (
		typeof time !== "string" ||
		!/^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z?)?$/.test(time)
	) {
		return undefined;
	}
	const at = Date.parse(
		time.includes("T") && !time.endsWith("Z") ? `${time}Z` : time,
	);
	return Number.isNaN(at) ? undefined : at;
}

import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import { DAY_MS } from "../../../src/units.ts";
import type { CommandResult, Host } from "../../host.ts";
import { type CheckOutcome, unknown } from "../check.ts";

/**
 * The answer of a script. Each check runs one PowerShell process, because its start takes half a
 * second or more. The script prints one JSON object that contains only numbers, booleans and
 * identifiers. It contains no text for people, because Windows writes such text in the display
 * language.
 */
export type Answer = Record<string, unknown>;

/** The result of one `Read-Part` in a script: its values, or the identifier of its error. */
export type Part =
	| { kind: "values"; values: Answer[] }
	| { kind: "absent" }
	| { kind: "denied" }
	| { kind: "failed" };

/** The answer of a script, or the outcome of the check if there is none. */
export type Asked = { answer: Answer } | { trouble: CheckOutcome };

const TIMEOUT_MS = 12_000;

/**
 * The beginning of every script. `Read-Part` runs a block whose failure must not lose the other
 * results. If the block fails, `Read-Part` returns the identifier of the error, which unlike the
 * message is the same in every language. `Reg` reads the values of a registry key, or nothing if
 * the key does not exist. The script cannot set the encoding without a console, or where only
 * signed scripts may call .NET, so there only ASCII characters arrive unchanged.
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
 * Returns the arguments that run `script` in PowerShell. The script must produce exactly one
 * hashtable. Execution policies apply only to script files, so this command needs no exception from
 * them.
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

/**
 * Runs a constant script. Returns its object, or the outcome UNKNOWN with the reason if the script
 * could not run.
 */
export async function ask(host: Host, script: string): Promise<Asked> {
	const result = await host.run("powershell.exe", powershellArgs(script), {
		timeoutMs: TIMEOUT_MS,
	});
	const reason = whyNot(result);
	if (reason) return { trouble: unknown(reason) };
	const answer = parseObject(result.stdout);
	return answer ? { answer } : { trouble: unknown("unrecognized_output") };
}

function whyNot(result: CommandResult): Reason | undefined {
	if (result.ended === "missing") return "command_missing";
	if (result.ended === "denied") return "command_denied";
	if (result.ended === "timed_out") return "timed_out";
	return result.exitCode === 0 ? undefined : "command_failed";
}

function parseObject(text: string): Answer | undefined {
	try {
		// The output begins with a byte order mark if the console's encoding has one.
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
 * Returns the answer of one `Read-Part`. Windows PowerShell 5 may wrap a list as `{value, Count}`.
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

/** Returns the reason for UNKNOWN if a part could not be read. */
export function whyUnread(host: Host, part: Part): Reason {
	if (part.kind === "denied") {
		return host.isPrivileged ? "access_denied" : "needs_administrator";
	}
	return part.kind === "absent" ? "not_available" : "query_failed";
}

/**
 * Returns a whole number, which the registry may store as text. Returns undefined for anything
 * else.
 */
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

/** Returns the number of whole days between a date or an RFC 3339 time and `now`. */
export function daysSince(time: unknown, now: Date): number | undefined {
	const at = moment(time);
	return at === undefined
		? undefined
		: Math.floor((now.getTime() - at) / DAY_MS);
}

/**
 * Returns a UTC time such as `2026-11-20T08:00:00`, with or without `Z`, in milliseconds since
 * 1970.
 */
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

import type { Host } from "../../host.ts";

export interface PamRule {
	control: string;
	/** The file name without its folder, such as `pam_unix.so`. */
	module: string;
	options: string[];
}

/** The longest line, in characters, that the agent parses. Nobody writes longer ones. */
const MAX_LINE = 4096;

/**
 * The file of passwd(1) or login(1), followed by the shared files that distributions use if it has
 * no file of its own.
 */
const ENTRIES: Record<string, string[]> = {
	password: ["passwd", "common-password", "system-auth", "base-password"],
	auth: ["login", "common-auth", "system-auth", "base-auth"],
};

/**
 * Reads PAM's rules for changing a password or for logging in, including the rules of included
 * files. `entries` names the files to begin with. The first one that exists counts. Returns
 * `missing` if there are no rules, and `unreadable` if a file could not be read or understood.
 */
export async function readPamStack(
	host: Host,
	kind: "password" | "auth",
	entries: readonly string[] = ENTRIES[kind] ?? [],
): Promise<PamRule[] | "missing" | "unreadable"> {
	for (const name of entries) {
		const rules = await readStack(host, kind, name, 0);
		if (rules !== "missing") return rules;
	}
	return "missing";
}

async function readStack(
	host: Host,
	kind: string,
	name: string,
	depth: number,
): Promise<PamRule[] | "missing" | "unreadable"> {
	if (depth > 8 || !/^[\w.-]{1,64}$/.test(name)) return "unreadable";
	let file = await host.readFile(`/etc/pam.d/${name}`);
	// Some distributions keep their own files below /usr. A file in /etc replaces the one of the same
	// name.
	if (file.kind === "missing")
		file = await host.readFile(`/usr/lib/pam.d/${name}`);
	if (file.kind === "missing") return "missing";
	if (file.kind !== "text") return "unreadable";
	const rules: PamRule[] = [];
	for (const line of file.text.replaceAll("\\\n", " ").split("\n")) {
		const rule = line.replace(/#.*/, "").trim();
		if (rule === "") continue;
		if (rule.length > MAX_LINE) return "unreadable";
		const other = /^@include\s+(\S+)$/.exec(rule)?.[1];
		const parts =
			/^-?(auth|account|password|session)\s+(\[[^\]]*\]|\w+)\s+(\S+)(?:\s+(\S.*))?$/.exec(
				rule,
			);
		if (!other && !parts) return "unreadable";
		const [, type, control = "", target = "", options = ""] = parts ?? [];
		const included =
			other ?? (/^(include|substack)$/.test(control) ? target : undefined);
		if (included !== undefined) {
			if (!other && type !== kind) continue;
			const more = await readStack(host, kind, included, depth + 1);
			if (typeof more === "string") return "unreadable";
			rules.push(...more);
		} else if (type === kind) {
			rules.push({
				control,
				module: target.replace(/^.*\//, ""),
				options: options.split(/\s+/).filter(Boolean),
			});
		}
	}
	return rules;
}

/**
 * Returns the value of the option `name=value` of a module. If it is given more than once, the last
 * one counts.
 */
export function optionOf(rule: PamRule, name: string): string | undefined {
	return rule.options
		.findLast((option) => option.startsWith(`${name}=`))
		?.slice(name.length + 1);
}

/** Returns true if the whole stack fails when this rule fails. */
export function isDecisive({ control }: PamRule): boolean {
	return (
		/^(required|requisite)$/.test(control) ||
		/(default|ignore|auth_err|authtok_err)=(die|bad)\b/.test(control)
	);
}

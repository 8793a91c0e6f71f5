import type { Evidence } from "../../src/devices/terms.ts";
import type { CommandResult, Host } from "../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "./check.ts";
import { asEffective, readSshdFiles, type SshdFiles } from "./sshd-config.ts";

/** What is different about the SSH server of a platform. */
export interface SshdKind {
	/** Where its sshd_config may be. */
	configFolders: readonly string[];
	/**
	 * Its defaults are OpenSSH's own, so that its files say what it does where it does not say so
	 * itself. FreeBSD and macOS have defaults of their own.
	 */
	hasPlainDefaults: boolean;
	/** Windows has neither PAM, which asks for passwords, nor root. */
	isWindows: boolean;
}

const UNIX: SshdKind = {
	configFolders: ["/etc/ssh"],
	hasPlainDefaults: false,
	isWindows: false,
};

export const LINUX_SSHD: SshdKind = {
	...UNIX,
	// The second where /etc is left to the administrator.
	configFolders: ["/etc/ssh", "/usr/etc/ssh"],
	hasPlainDefaults: true,
};

export const WINDOWS_SSHD: SshdKind = {
	configFolders: ["C:/ProgramData/ssh"],
	hasPlainDefaults: false,
	isWindows: true,
};

/**
 * The rule for a running SSH server on every platform: keys are fine; a password alone is not, as
 * it can be guessed from outside, and neither is root by its own name (CIS benchmarks ask the same
 * of servers). What a Match block gives to some only is given: it fails too. A server that listens to
 * this machine alone passes. `evidence` is added.
 */
export async function judgeSshd(
	host: Host,
	evidence: Evidence = {},
	kind: SshdKind = UNIX,
): Promise<CheckOutcome> {
	const files = await readSshdFiles(host, kind.configFolders);
	const said = await askSshd(host, files, kind);
	if ("reason" in said) return unknown(said.reason, evidence);
	const settings = parseSshdSettings(said.text, kind);
	if (settings === undefined) return unknown("unrecognized_output", evidence);
	const found = {
		...evidence,
		...(settings.port === undefined ? {} : { port: settings.port }),
		password_authentication: settings.passwordLogin,
		...(kind.isWindows ? {} : { root_login: settings.rootLogin }),
		loopback_only: settings.loopbackOnly,
	};
	if (settings.loopbackOnly) return pass(found);
	if (isOpen(settings)) return fail(found);
	if (typeof files === "string")
		return unknown(
			files === "denied" ? whyDenied(host, kind) : "unreadable_settings",
			found,
		);
	return judgeBlocks(files, said.text, kind, found);
}

/**
 * sshd says its effective settings by `-T`, which needs the host keys and so root, else by `-G`
 * (OpenSSH 9.3), which does without. Neither applies Match blocks, as they depend on who connects.
 */
async function askSshd(
	host: Host,
	files: SshdFiles | "denied" | "unclear",
	kind: SshdKind,
): Promise<{ text: string } | { reason: string }> {
	const told = await host.run("sshd", ["-T"]);
	if (succeeded(told)) return { text: told.stdout };
	const general = await host.run("sshd", ["-G"]);
	if (succeeded(general)) return { text: general.stdout };
	if (kind.hasPlainDefaults && typeof files !== "string")
		return { text: asEffective(files) };
	const why = told.ended === "exited" ? "command_failed" : WHY[told.ended];
	const isDenied = why === "command_failed" || files === "denied";
	return {
		reason: isDenied && !host.isPrivileged ? whyDenied(host, kind) : why,
	};
}

const succeeded = (result: CommandResult) =>
	result.ended === "exited" && result.exitCode === 0;

const WHY = {
	missing: "command_missing",
	denied: "command_failed",
	timed_out: "timed_out",
} as const;

function whyDenied(host: Host, kind: SshdKind): string {
	if (host.isPrivileged) return "unreadable_settings";
	return kind.isWindows ? "needs_administrator" : "needs_root";
}

/** Each Match block over what holds for all. */
function judgeBlocks(
	{ blocks }: SshdFiles,
	text: string,
	kind: SshdKind,
	evidence: Evidence,
): CheckOutcome {
	// The first value of a keyword stands.
	const under = (block: ReadonlyMap<string, string>) =>
		parseSshdSettings(
			`${[...block].map((pair) => pair.join(" ")).join("\n")}\n${text}`,
			kind,
		);
	const each = blocks.map(under);
	const password = each.some((settings) => settings?.passwordLogin);
	const root = each.some((settings) => settings?.rootLogin === "yes");
	if (password || root) {
		return fail({
			...evidence,
			...(password && { password_authentication_for_some: true }),
			...(root && { root_login_for_some: true }),
		});
	}
	// Somebody may be in two blocks, of which the first stands; who is, cannot be told from here.
	// More than two are no worse: what opens is one setting, or one with AuthenticationMethods.
	const isUnclear = blocks.some((first, index) =>
		blocks
			.slice(index + 1)
			.map((second) => under(new Map([...second, ...first])))
			.some((settings) => settings && isOpen(settings)),
	);
	return isUnclear || each.includes(undefined)
		? unknown("conditional_settings", evidence)
		: pass(evidence);
}

const isOpen = ({ passwordLogin, rootLogin }: SshdSettings) =>
	passwordLogin || rootLogin === "yes";

interface SshdSettings {
	/** The first port; a server may have more. */
	port: number | undefined;
	/** Someone may sign in with nothing but a password. */
	passwordLogin: boolean;
	/** The value of PermitRootLogin, which says nothing of passwords where `passwordLogin` is false. */
	rootLogin: "no" | "prohibit-password" | "forced-commands-only" | "yes";
	/** It listens on nothing but loopback addresses. */
	loopbackOnly: boolean;
}

/** Reads the output of `sshd -T`: a keyword in lower case and its value a line. */
function parseSshdSettings(
	output: string,
	kind: SshdKind,
): SshdSettings | undefined {
	const values = new Map<string, string[]>();
	for (const line of output.split("\n")) {
		const [, keyword, value] = /^([a-z]+) (.*)$/.exec(line.trim()) ?? [];
		if (keyword === undefined || value === undefined) continue;
		const known = values.get(keyword);
		if (known) known.push(value);
		else values.set(keyword, [value]);
	}
	const first = (keyword: string) => values.get(keyword)?.[0];
	const password = yesOrNo(first("passwordauthentication"));
	const interactive = yesOrNo(first("kbdinteractiveauthentication"));
	const root = kind.isWindows
		? "no"
		: ROOT_LOGIN.get(first("permitrootlogin") ?? "");
	if (
		password === undefined ||
		interactive === undefined ||
		root === undefined
	) {
		return undefined;
	}
	// A server without PAM has no `usepam` line; what answers its prompts is then not known to be a
	// password, but on Windows, where nothing answers them.
	const prompts = interactive && !kind.isWindows && first("usepam") !== "no";
	const passwordLogin =
		(password || prompts) && !everyWayNeedsKey(first("authenticationmethods"));
	return {
		port: portNumber(first("port")),
		passwordLogin,
		rootLogin: root,
		loopbackOnly: isLoopbackOnly(values.get("listenaddress") ?? []),
	};
}

const ROOT_LOGIN = new Map<string, SshdSettings["rootLogin"]>([
	["no", "no"],
	["without-password", "prohibit-password"],
	["prohibit-password", "prohibit-password"],
	["forced-commands-only", "forced-commands-only"],
	["yes", "yes"],
]);

function yesOrNo(value: string | undefined): boolean | undefined {
	return value === "yes" ? true : value === "no" ? false : undefined;
}

function portNumber(value: string | undefined): number | undefined {
	return value !== undefined && /^\d{1,5}$/.test(value)
		? Number(value)
		: undefined;
}

/** `publickey,password publickey,keyboard-interactive`: each of the alternatives begins with a key. */
function everyWayNeedsKey(methods: string | undefined): boolean {
	if (methods === undefined || methods === "any") return false;
	return methods
		.split(/\s+/)
		.every((way) =>
			/(^|,)(publickey|hostbased|gssapi-with-mic)(,|$)/.test(way),
		);
}

function isLoopbackOnly(addresses: readonly string[]): boolean {
	return (
		addresses.length > 0 &&
		addresses.every((address) =>
			/^(127\.[\d.]+|\[?::1\]?)(:\d+)?$/.test(address),
		)
	);
}

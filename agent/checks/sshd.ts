import type { Reason } from "../../src/devices/remediation/reasons.ts";
import type { Evidence } from "../../src/devices/terms.ts";
import type { CommandResult, Host } from "../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "./check.ts";
import { readPamStack } from "./linux/pam.ts";
import { asEffective, readSshdFiles, type SshdFiles } from "./sshd-config.ts";

/** The differences between the SSH servers of the platforms. */
export interface SshdKind {
	/** The folders that may contain its sshd_config. */
	configFolders: readonly string[];
	/**
	 * True if the server's defaults are OpenSSH's own. Its settings can then be read from its files
	 * when the server itself does not report them. On FreeBSD and macOS the defaults differ.
	 */
	hasPlainDefaults: boolean;
	/** True on Windows, which has no root user and no PAM that would ask for passwords. */
	isWindows: boolean;
}

const UNIX: SshdKind = {
	configFolders: ["/etc/ssh"],
	hasPlainDefaults: false,
	isWindows: false,
};

export const LINUX_SSHD: SshdKind = {
	...UNIX,
	// Distributions that leave /etc to the administrator keep their own file in /usr/etc.
	configFolders: ["/etc/ssh", "/usr/etc/ssh"],
	hasPlainDefaults: true,
};

export const WINDOWS_SSHD: SshdKind = {
	configFolders: ["C:/ProgramData/ssh"],
	hasPlainDefaults: false,
	isWindows: true,
};

/**
 * Judges a running SSH server by the same rule on every platform. Signing in with a key passes.
 * Signing in with only a password fails, because somebody outside can guess it. Signing in as root
 * fails too (the CIS benchmarks require the same of servers). The result is also FAIL if a Match
 * block permits one of these to some users. A server that listens only on loopback addresses
 * passes. The outcome contains the given `evidence` as well.
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
	if (settings.promptsOnly && (await asksSecondFactor(host))) {
		return unknown("second_factor_possible", {
			...found,
			password_authentication: "unknown",
			second_factor: true,
		});
	}
	if (isOpen(settings)) return fail(found);
	if (typeof files === "string")
		return unknown(
			files === "denied" ? whyDenied(host, kind) : "unreadable_settings",
			found,
		);
	return judgeBlocks(files, said.text, kind, found);
}

/**
 * Asks sshd for its effective settings. `-T` needs root, because it reads the host keys. `-G`
 * (OpenSSH 9.3) does not. Neither applies Match blocks, which depend on the client.
 */
async function askSshd(
	host: Host,
	files: SshdFiles | "denied" | "unclear",
	kind: SshdKind,
): Promise<{ text: string } | { reason: Reason }> {
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

function whyDenied(host: Host, kind: SshdKind): Reason {
	if (host.isPrivileged) return "unreadable_settings";
	return kind.isWindows ? "needs_administrator" : "needs_root";
}

/** Modules of PAM that ask for a second factor. */
const SECOND_FACTOR =
	/^pam_(google_authenticator|oath|duo|u2f|yubico|radius_auth|privacyidea|linotp|securid|totp)\.so$/;

/**
 * Returns true if PAM asks people who sign in over SSH for a second factor. PAM may exempt some
 * users and groups, and the check does not follow these rules.
 */
async function asksSecondFactor(host: Host): Promise<boolean> {
	const stack = await readPamStack(host, "auth", ["sshd"]);
	return (
		typeof stack !== "string" &&
		stack.some(({ module }) => SECOND_FACTOR.test(module))
	);
}

/** Judges the common settings as each Match block changes them. */
function judgeBlocks(
	{ blocks }: SshdFiles,
	text: string,
	kind: SshdKind,
	evidence: Evidence,
): CheckOutcome {
	// The block comes first in the text, because the first value of a keyword counts.
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
	// A client may match two blocks, and the first value of each keyword counts. The files do not
	// show which clients match both. Three or more blocks cannot be worse than two: each way in
	// depends on one setting, or on one setting together with AuthenticationMethods.
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
	/** The first port of the server, which may listen on more. */
	port: number | undefined;
	/** True if somebody may sign in with only a password. */
	passwordLogin: boolean;
	/** True if the only way in without a key is through PAM's prompts, which may ask for more. */
	promptsOnly: boolean;
	/**
	 * The value of PermitRootLogin. If `passwordLogin` is false, root cannot sign in with a password
	 * either way.
	 */
	rootLogin: "no" | "prohibit-password" | "forced-commands-only" | "yes";
	/** True if the server listens only on loopback addresses. */
	loopbackOnly: boolean;
}

/** Parses the output of `sshd -T`, which has one lower-case keyword and its value on each line. */
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
	// A server without PAM prints no `usepam` line. It is then unknown who answers the prompts, so
	// they count as prompts for a password. On Windows nothing answers them, so they do not count.
	const prompts = interactive && !kind.isWindows && first("usepam") !== "no";
	const passwordLogin =
		(password || prompts) && !everyWayNeedsKey(first("authenticationmethods"));
	return {
		port: portNumber(first("port")),
		passwordLogin,
		promptsOnly: passwordLogin && !password,
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

/**
 * Returns true if every alternative requires a key, such as `publickey,password
 * publickey,keyboard-interactive`.
 */
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

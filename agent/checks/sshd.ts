import type { Evidence } from "../../src/devices/terms.ts";
import type { CommandResult, Host } from "../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "./check.ts";
import { asEffective, readSshdFiles, type SshdFiles } from "./sshd-config.ts";

/** The differences between the SSH servers of the platforms. */
export interface SshdKind {
	/** Where its sshd_config may be. */
	configFolders: readonly string[];
	/**
	 * Its defaults are OpenSSH's own, so its files show its settings if the server itself does not
	 * say them. FreeBSD and macOS have defaults of their own.
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
	// The second one is used where /etc is left to the administrator.
	configFolders: ["/etc/ssh", "/usr/etc/ssh"],
	hasPlainDefaults: true,
};

export const WINDOWS_SSHD: SshdKind = {
	configFolders: ["C:/ProgramData/ssh"],
	hasPlainDefaults: false,
	isWindows: true,
};

/**
 * Judges a running SSH server, by one rule for every platform. Keys pass. A password alone fails,
 * because it can be guessed from outside, and so does signing in as root (the CIS benchmarks ask
 * the same of servers). A permission in a Match block for some users fails too. A server that
 * listens only to this machine passes. `evidence` is added.
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
 * Asks sshd for its effective settings: with `-T`, which needs the host keys and so root, or with
 * `-G` (OpenSSH 9.3), which does not. Neither applies Match blocks, which depend on the client.
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

/** Judges each Match block on top of the common settings. */
function judgeBlocks(
	{ blocks }: SshdFiles,
	text: string,
	kind: SshdKind,
	evidence: Evidence,
): CheckOutcome {
	// The first value of a keyword counts.
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
	// A client may match two blocks, and the first one counts. The files do not show who matches
	// both. More than two are no worse: one setting opens the door, alone or with
	// AuthenticationMethods.
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
	/** The first port. A server may have more. */
	port: number | undefined;
	/** True if somebody may sign in with only a password. */
	passwordLogin: boolean;
	/** The value of PermitRootLogin. It says nothing about passwords if `passwordLogin` is false. */
	rootLogin: "no" | "prohibit-password" | "forced-commands-only" | "yes";
	/** True if it listens only on loopback addresses. */
	loopbackOnly: boolean;
}

/** Reads the output of `sshd -T`: one lower-case keyword and its value on each line. */
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

/**
 * True for `publickey,password publickey,keyboard-interactive`: each alternative begins with a key.
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

import type { Evidence } from "../../src/devices/terms.ts";
import type { CommandResult, Host } from "../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "./check.ts";

/** What the SSH server would let in, as it says itself. */
export interface SshdSettings {
	/** The first port; a server may have more. */
	port: number | undefined;
	/** Someone may sign in with nothing but a password. */
	passwordLogin: boolean;
	/** The value of PermitRootLogin, which says nothing of passwords where `passwordLogin` is false. */
	rootLogin: "no" | "prohibit-password" | "forced-commands-only" | "yes";
	/** It listens on nothing but loopback addresses. */
	loopbackOnly: boolean;
}

export type SshdAnswer =
	| { known: true; settings: SshdSettings }
	| { known: false; reason: string };

/**
 * The rule for a running SSH server on every platform: keys are fine; a password alone is not, as
 * it can be guessed from outside, and neither is root by its own name (CIS benchmarks ask the same
 * of servers). `evidence` is added.
 */
export async function judgeSshd(
	host: Host,
	evidence: Evidence = {},
): Promise<CheckOutcome> {
	const answer = await readSshdSettings(host);
	if (!answer.known) return unknown(answer.reason, evidence);
	const { settings } = answer;
	const found = {
		...evidence,
		...(settings.port === undefined ? {} : { port: settings.port }),
		password_authentication: settings.passwordLogin,
		root_login: settings.rootLogin,
		loopback_only: settings.loopbackOnly,
	};
	const isOpen = settings.passwordLogin || settings.rootLogin === "yes";
	return isOpen && !settings.loopbackOnly ? fail(found) : pass(found);
}

/**
 * Asks `sshd` for its effective settings: `-T`, which needs the host keys and so root, else `-G`
 * (OpenSSH 9.3), which does without. Neither applies `Match` blocks, as they depend on who
 * connects; a block that could let a password in makes the answer unknown.
 */
export async function readSshdSettings(
	host: Host,
	configFolder = "/etc/ssh",
): Promise<SshdAnswer> {
	let told = await host.run("sshd", ["-T"]);
	if (told.ended === "missing")
		return { known: false, reason: "command_missing" };
	if (!succeeded(told)) told = await host.run("sshd", ["-G"]);
	if (told.ended === "timed_out") return { known: false, reason: "timed_out" };
	if (!succeeded(told)) {
		const reason = host.isPrivileged ? "command_failed" : "needs_root";
		return { known: false, reason };
	}
	const settings = parseSshdSettings(told.stdout);
	if (settings === undefined)
		return { known: false, reason: "unrecognized_output" };
	const conditional = await hasRiskyMatchBlock(host, configFolder);
	if (conditional !== false) return { known: false, reason: conditional };
	return { known: true, settings };
}

const succeeded = (result: CommandResult) =>
	result.ended === "exited" && result.exitCode === 0;

/** Reads the output of `sshd -T`: a keyword in lower case and its value a line. */
export function parseSshdSettings(output: string): SshdSettings | undefined {
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
	const root = ROOT_LOGIN.get(first("permitrootlogin") ?? "");
	if (
		password === undefined ||
		interactive === undefined ||
		root === undefined
	) {
		return undefined;
	}
	// A server without PAM has no `usepam` line; what answers its prompts is then not known to be a password.
	const prompts = interactive && first("usepam") !== "no";
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

/** False, or why it is not known what a `Match` block lets in. */
async function hasRiskyMatchBlock(
	host: Host,
	folder: string,
): Promise<
	false | "conditional_settings" | "needs_root" | "unreadable_settings"
> {
	const paths = [`${folder}/sshd_config`];
	const included = await host.listFolder(`${folder}/sshd_config.d`);
	if (included.kind === "names") {
		for (const name of included.names) {
			if (name.endsWith(".conf")) paths.push(`${folder}/sshd_config.d/${name}`);
		}
	}
	for (const path of paths) {
		const file = await host.readFile(path);
		if (file.kind === "denied" && !host.isPrivileged) return "needs_root";
		if (file.kind === "denied" || file.kind === "unreadable")
			return "unreadable_settings";
		if (file.kind === "text" && mayLetPasswordIn(file.text))
			return "conditional_settings";
	}
	return false;
}

const RISKY_IN_MATCH =
	/^\s*(PasswordAuthentication|KbdInteractiveAuthentication|ChallengeResponseAuthentication|PermitEmptyPasswords|PermitRootLogin)[\s=]+"?yes|^\s*AuthenticationMethods[\s=]/i;

function mayLetPasswordIn(text: string): boolean {
	let inMatch = false;
	for (const line of text.split("\n")) {
		inMatch ||= /^\s*Match\s/i.test(line);
		if (inMatch && RISKY_IN_MATCH.test(line)) return true;
	}
	return false;
}

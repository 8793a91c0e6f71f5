import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { isDecisive, optionOf, type PamRule, readPamStack } from "./pam.ts";
import { readText } from "./read-text.ts";
import { parseCount, parseSettings } from "./settings.ts";

/**
 * Returns PASS if PAM rejects new passwords of fewer than 8 characters (NIST SP 800-63B), through
 * pam_pwquality, pam_cracklib, pam_passwdqc or pam_unix itself. PASS_MIN_LEN of login.defs does not
 * count, because nothing reads it on a system with PAM. The evidence says whether accounts are
 * locked after failed attempts, but this is not required. An account with an empty password fails,
 * whatever PAM requires of new ones (CIS benchmarks 7.2.2). Only root can see that.
 */
export async function checkPasswordPolicy(host: Host): Promise<CheckOutcome> {
	const stack = await readPamStack(host, "password");
	if (stack === "missing") return unknown("no_pam");
	if (stack === "unreadable") return unknown("unrecognized_output");
	const found = await findMinimum(host, stack);
	if (!found) return unknown("unrecognized_output");
	const lockout = await findLockout(host);
	const days = await findMaximumAge(host);
	const evidence = {
		engine: found.engine,
		minimum_length: found.length,
		...(found.isEnforced === false && { enforced: false }),
		...(lockout !== undefined && { lockout_attempts: lockout }),
		...(days !== undefined && { maximum_age_days: days }),
	};
	const empty = await countEmptyPasswords(host);
	if (empty > 0) return fail({ ...evidence, empty_passwords: empty });
	return found.isEnforced &&
		found.length >= host.threshold("min_password_length")
		? pass(evidence)
		: fail(evidence);
}

/**
 * Counts the accounts whose password is empty and that have a shell. Services have `*` or `!` in
 * place of a password.
 */
async function countEmptyPasswords(host: Host): Promise<number> {
	const shadow = (await readText(host, "/etc/shadow")) ?? "";
	const names = new Set(
		shadow
			.split("\n")
			.map((line) => line.split(":"))
			.filter((fields) => fields.length > 2 && fields[1] === "")
			.map(([name]) => name),
	);
	const passwd = (await readText(host, "/etc/passwd")) ?? "";
	return passwd
		.split("\n")
		.map((line) => line.split(":"))
		.filter(
			([name, , , , , , shell]) =>
				names.has(name) &&
				!/\/(nologin|false|sync|shutdown|halt)$/.test(shell ?? ""),
		).length;
}

interface Minimum {
	engine: string;
	length: number;
	isEnforced: boolean;
}

/**
 * Returns the minimum length that decides. A module that enforces a sufficient length comes first,
 * then any module that is made for this purpose, then pam_unix.
 */
async function findMinimum(
	host: Host,
	stack: PamRule[],
): Promise<Minimum | undefined> {
	const found: Minimum[] = [];
	for (const rule of stack) {
		const length = await minimumOf(host, rule);
		if (length === "unrecognized") return undefined;
		if (length === undefined) continue;
		// pam_unix itself accepts or rejects the new password, so its rule is always decisive.
		const isEnforced = rule.module === "pam_unix.so" || isDecisive(rule);
		const engine = rule.module.replace(".so", "");
		found.push({
			engine,
			length: length.minimum,
			isEnforced: isEnforced && length.isEnforced,
		});
	}
	return (
		found.find(
			(one) =>
				one.isEnforced && one.length >= host.threshold("min_password_length"),
		) ??
		found.find((one) => one.engine !== "pam_unix") ??
		found[0]
	);
}

type Length = { minimum: number; isEnforced: boolean };

async function minimumOf(
	host: Host,
	rule: PamRule,
): Promise<Length | "unrecognized" | undefined> {
	switch (rule.module) {
		case "pam_pwquality.so":
			return readPwquality(host, rule);
		case "pam_cracklib.so":
			return credited(rule.options, { minlen: 9, credit: 1 }, true);
		case "pam_passwdqc.so":
			return readPasswdqc(host, rule);
		case "pam_unix.so": {
			const given = optionOf(rule, "minlen");
			const minimum = given === undefined ? 6 : parseCount(given);
			return minimum === undefined
				? "unrecognized"
				: { minimum, isEnforced: true };
		}
		default:
			return undefined;
	}
}

/**
 * Reads the settings in libpwquality's order: the folder, then the file, then the module's options.
 * A later setting replaces an earlier one.
 */
async function readPwquality(
	host: Host,
	rule: PamRule,
): Promise<Length | "unrecognized"> {
	const folder = await host.listFolder("/etc/security/pwquality.conf.d");
	const files =
		folder.kind === "names"
			? folder.names
					.filter((name) => name.endsWith(".conf"))
					.map((name) => `/etc/security/pwquality.conf.d/${name}`)
			: [];
	const options: string[] = [];
	for (const path of [...files, "/etc/security/pwquality.conf"]) {
		const file = await host.readFile(path);
		if (file.kind === "denied" || file.kind === "unreadable")
			return "unrecognized";
		if (file.kind !== "text") continue;
		for (const [key, value] of parseSettings(file.text.replace(/#.*/g, ""))) {
			options.push(`${key}=${value}`);
		}
	}
	options.push(...rule.options);
	const enforcing = options.findLast((option) =>
		option.startsWith("enforcing="),
	);
	return credited(
		options,
		{ minlen: 8, credit: 0 },
		enforcing !== "enforcing=0",
	);
}

/**
 * Returns the shortest length that a password can really have. With positive credits, each kind of
 * character adds points to the length that the module counts. `usual` has what counts without an
 * option.
 */
function credited(
	options: string[],
	usual: { minlen: number; credit: number },
	isEnforced: boolean,
): Length | "unrecognized" {
	const last = (name: string, otherwise: number) =>
		options
			.findLast((option) => option.startsWith(`${name}=`))
			?.slice(name.length + 1) ?? String(otherwise);
	let minimum = parseCount(last("minlen", usual.minlen));
	if (minimum === undefined) return "unrecognized";
	for (const name of ["dcredit", "ucredit", "lcredit", "ocredit"]) {
		const given = last(name, usual.credit);
		if (!/^-?\d{1,3}$/.test(given)) return "unrecognized";
		minimum -= Math.max(0, Number(given));
	}
	// These modules never accept a password of fewer than six characters, whatever the settings say.
	return { minimum: Math.max(6, minimum), isEnforced };
}

/**
 * Reads pam_passwdqc's setting, such as `min=disabled,24,11,8,7`. Each number is the minimum length
 * for passwords with a certain number of kinds of characters. The smallest number is the shortest
 * length that passes.
 */
async function readPasswdqc(
	host: Host,
	rule: PamRule,
): Promise<Length | "unrecognized"> {
	const config = optionOf(rule, "config");
	let text = "";
	if (config !== undefined) {
		if (config !== "/etc/passwdqc.conf") return "unrecognized";
		const file = await readText(host, config);
		if (file === undefined) return "unrecognized";
		text = file;
	}
	const settings = parseSettings(text);
	const min =
		optionOf(rule, "min") ?? settings.get("min") ?? "disabled,24,11,8,7";
	const enforce =
		optionOf(rule, "enforce") ?? settings.get("enforce") ?? "everyone";
	const lengths = min
		.split(",")
		.filter((part) => part !== "disabled")
		.map((part) => parseCount(part));
	if (lengths.length === 0 || lengths.includes(undefined))
		return "unrecognized";
	const minimum = Math.min(...lengths.filter((n) => n !== undefined));
	return { minimum, isEnforced: enforce !== "none" };
}

async function findLockout(host: Host): Promise<number | undefined> {
	const stack = await readPamStack(host, "auth");
	if (typeof stack === "string") return undefined;
	const rule = stack.find(({ module }) => module === "pam_faillock.so");
	if (!rule) return undefined;
	const file = await readText(host, "/etc/security/faillock.conf");
	const settings = parseSettings(file ?? "");
	return parseCount(optionOf(rule, "deny") ?? settings.get("deny") ?? "3");
}

async function findMaximumAge(host: Host): Promise<number | undefined> {
	const text = await readText(host, "/etc/login.defs");
	const days = /^PASS_MAX_DAYS\s+(\d{1,6})\s*$/m.exec(text ?? "")?.[1];
	// The value 99999 means that passwords never expire.
	return days === undefined || Number(days) >= 99999 ? undefined : Number(days);
}

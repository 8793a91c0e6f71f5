import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";

/** The default of `min` in pam_passwdqc(8). */
const DEFAULT_MINIMUMS = "disabled,24,11,8,7";

/**
 * Checks what passwd(1) requires of a new password. These requirements come from pam_passwdqc(8),
 * which is part of the base system but off by default. The check judges the smallest of its five
 * lengths, which is the one for the most varied passwords and is 7 by default. It ignores
 * `minpasswordlen` of login.conf(5), because no program of the base system reads it.
 */
export async function checkPasswordPolicy(host: Host): Promise<CheckOutcome> {
	const file = await host.readFile("/etc/pam.d/passwd");
	if (file.kind === "denied" && !host.isPrivileged)
		return unknown("needs_root");
	if (file.kind !== "text") return unknown("pam_settings_not_readable");
	const rules = file.text.split("\n").flatMap(passwordRule);
	if (rules.length === 0) return unknown("unrecognized_output");
	if (rules.some(({ control }) => control === "include"))
		return unknown("included_rules_not_read");
	const rule = rules.find(({ module }) =>
		/^(\/usr\/lib\/)?pam_passwdqc\.so(\.\d+)?$/.test(module),
	);
	if (rule === undefined) {
		const isPlain = rules.every(({ module }) =>
			/^(\/usr\/lib\/)?pam_(unix|krb5|deny|permit)\.so(\.\d+)?$/.test(module),
		);
		return isPlain
			? fail({ minimum_length: 0, quality_module: "none" })
			: unknown("module_not_known");
	}
	const evidence = { quality_module: "pam_passwdqc" };
	if (!/^(requisite|required|binding)$/.test(rule.control))
		return unknown("rule_not_binding", evidence);
	const option = (name: string) =>
		rule.options
			.find((each) => each.startsWith(`${name}=`))
			?.slice(name.length + 1);
	if (option("config") !== undefined)
		return unknown("settings_elsewhere", evidence);
	const enforced = option("enforce") ?? "everyone";
	if (enforced === "none") return fail({ ...evidence, enforced: false });
	const length = leastLength(option("min") ?? DEFAULT_MINIMUMS);
	if (length === undefined || !/^(users|everyone)$/.test(enforced))
		return unknown("unrecognized_output", evidence);
	const found = {
		...evidence,
		minimum_length: length,
		enforced_for_root: enforced === "everyone",
	};
	return length >= host.threshold("min_password_length")
		? pass(found)
		: fail(found);
}

/**
 * Finds a rule such as `password requisite pam_passwdqc.so min=disabled,24,12,8,8 enforce=users`.
 * OpenPAM splits the line at blanks.
 */
function passwordRule(
	line: string,
): { control: string; module: string; options: string[] }[] {
	if (line.length > 4096 || !line.includes("password")) return [];
	const [type, control, module, ...options] = line
		.replace(/#.*/, "")
		.trim()
		.split(/[ \t]+/);
	return type === "password" && control !== undefined && module !== undefined
		? [{ control, module, options }]
		: [];
}

/**
 * Returns the smallest of the five lengths. Each length applies to one kind of password, and
 * `disabled` forbids the kind.
 */
function leastLength(minimums: string): number | undefined {
	const parts = minimums.split(",");
	if (
		parts.length !== 5 ||
		!parts.every((part) => /^(disabled|\d{1,4})$/.test(part))
	)
		return undefined;
	const lengths = parts.filter((part) => part !== "disabled").map(Number);
	return lengths.length === 0 ? undefined : Math.min(...lengths);
}

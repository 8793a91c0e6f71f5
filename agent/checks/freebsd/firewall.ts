import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { runForText } from "./commands.ts";

/** The fate of an incoming packet that no rule of a packet filter names. */
type State = "off" | "blocks" | "allows" | "unclear" | "needs_root";

/**
 * Checks the three packet filters of FreeBSD. Any of them may be in force. Returns PASS if one of
 * them blocks incoming packets that no rule allows, as in the Linux check. Returns FAIL if all are
 * off or let everything in. In every other state, for example if rules block only some packets, the
 * result is UNKNOWN, because the check would have to follow every rule.
 */
export async function checkFirewall(host: Host): Promise<CheckOutcome> {
	const states = {
		pf: await askPf(host),
		ipfw: await askIpfw(host),
		ipfilter: await askIpfilter(host),
	};
	const engines = Object.entries(states);
	const blocking = engines.find(([, state]) => state === "blocks");
	if (blocking)
		return pass({ engine: blocking[0], enabled: true, default_block: true });
	const unclear = engines.find(
		([, state]) => state === "unclear" || state === "needs_root",
	);
	if (unclear) {
		const [engine, state] = unclear;
		return unknown(
			state === "needs_root" ? "needs_root" : "default_not_known",
			{ engine },
		);
	}
	const allowing = engines.find(([, state]) => state === "allows");
	return allowing
		? fail({ engine: allowing[0], enabled: true, default_block: false })
		: fail({ enabled: false });
}

async function askPf(host: Host): Promise<State> {
	const info = await host.run("pfctl", ["-s", "info"]);
	if (
		/\/dev\/pf: No such file or directory/.test(info.stderr) ||
		info.ended === "missing"
	)
		return "off";
	if (info.ended !== "exited" || info.exitCode !== 0)
		return host.isPrivileged ? "unclear" : "needs_root";
	const [, status] = /^Status: (Enabled|Disabled)\b/m.exec(info.stdout) ?? [];
	if (status === undefined) return "unclear";
	if (status === "Disabled") return "off";
	const rules = await runForText(host, "pfctl", ["-s", "rules"]);
	if (rules === undefined) return "unclear";
	const fallback = pfDefault(rules);
	if (fallback !== undefined) return fallback === "block" ? "blocks" : "allows";
	// An anchor holds rules of other programs, which this list does not show.
	return /^(block|anchor)\b/m.test(rules) ? "unclear" : "allows";
}

/** Matches a rule for all incoming packets in the format of pfctl. */
const FOR_ALL =
	/^(block|pass)(?: drop| return(?:-\w{2,5})?(?:\([^)]{0,60}\))*)?(?: in)?(?: log(?: \([^)]{0,60}\))?)?( quick)? all(?: flags \S{1,12})?(?: (?:keep|modulate|synproxy|no) state)?(?: label "[^"]{0,64}")?$/;

/**
 * Returns what pf does by default. The last matching rule decides, unless an earlier one is
 * `quick`.
 */
function pfDefault(rules: string): string | undefined {
	let decided: string | undefined;
	for (const line of rules.split("\n")) {
		if (line.length > 400) continue;
		const [, action, quick] = FOR_ALL.exec(line.trimEnd()) ?? [];
		if (action === undefined) continue;
		decided = action;
		if (quick !== undefined) break;
	}
	return decided;
}

/**
 * Asks ipfw, where the first matching rule decides. The first rule without conditions is therefore
 * the default.
 */
async function askIpfw(host: Host): Promise<State> {
	const told = await host.run("sysctl", ["-n", "net.inet.ip.fw.enable"]);
	if (/unknown oid/.test(told.stderr)) return "off";
	const enabled = told.stdout.trim();
	if (enabled !== "1") return enabled === "0" ? "off" : "unclear";
	const listed = await host.run("ipfw", ["list"]);
	if (listed.ended !== "exited" || listed.exitCode !== 0)
		return host.isPrivileged ? "unclear" : "needs_root";
	const [, action] =
		/^\d{5} (allow|accept|pass|permit|deny|drop|reject|reset|unreach \S{1,20})(?: log(?: logamount \d+)?)? (?:ip|all) from any to any(?: in)?[ \t]*$/m.exec(
			listed.stdout,
		) ?? [];
	if (action === undefined) return "unclear";
	return /^(allow|accept|pass|permit)$/.test(action) ? "allows" : "blocks";
}

async function askIpfilter(host: Host): Promise<State> {
	const told = await host.run("ipf", ["-V"]);
	const [, running] = /^Running: (yes|no)[ \t]*$/m.exec(told.stdout) ?? [];
	if (running === undefined) {
		if (/Permission denied/.test(told.stderr)) return "needs_root";
		// Without the kernel module, or on a system that does not have IPFilter, `ipf` cannot open its
		// device.
		return told.ended === "timed_out" ? "unclear" : "off";
	}
	if (running === "no") return "off";
	if (/^Default: (nomatch -> )?block all\b/m.test(told.stdout)) return "blocks";
	const rules = await runForText(host, "ipfstat", ["-i"]);
	if (rules === undefined) return host.isPrivileged ? "unclear" : "needs_root";
	if (
		/^(@\d+ )?block (return-\S{1,30} )?in (log )?(quick )?(all|from any to any)[ \t]*$/m.test(
			rules,
		)
	)
		return "blocks";
	return /\bblock\b/.test(rules) ? "unclear" : "allows";
}

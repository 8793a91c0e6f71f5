import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { runForText } from "../run-for-text.ts";
import { judgeByIpfw } from "./ipfw-rules.ts";
import { type NewPacket, newPackets } from "./new-packets.ts";
import { interfacesIn, judgeByPf, parsePfRules } from "./pf-rules.ts";

/** Largest number of interfaces for which the rules are followed. */
const MAX_INTERFACES = 32;

/** Verdict of a packet filter on the packets of a stranger. */
type State = "off" | "blocks" | "allows" | "unclear" | "needs_root";

/**
 * Checks the three packet filters of FreeBSD. Any of them may be in force. Returns PASS if one of
 * them blocks the packets of a stranger that the Linux check follows too: a new TCP and a new UDP
 * packet to port 1009 and to port 21211, over IPv4 and IPv6, on every interface except the
 * loopback. Returns FAIL if all filters are off or let in one of these packets over IPv4. If a rule
 * cannot be decided, or only IPv6 is open, the result is UNKNOWN. Of IPFilter, the check only knows
 * its default and its rules for all packets.
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
	const interfaces = interfacesIn(rules);
	if (interfaces.length > MAX_INTERFACES) return "unclear";
	const parsed = parsePfRules(rules);
	return together(newPackets([...interfaces, undefined]), (packet) =>
		judgeByPf(parsed, packet),
	);
}

/**
 * Returns the verdict on strangers' packets together: one that gets in makes the filter open. A device
 * need not use IPv6, or have an interface that no rule names. Packets that get in only there prove
 * nothing.
 */
function together(
	packets: readonly NewPacket[],
	judge: (packet: NewPacket) => "pass" | "block" | undefined,
): State {
	const verdicts = packets.map((packet) => ({
		packet,
		verdict: judge(packet),
	}));
	if (verdicts.every(({ verdict }) => verdict === "block")) return "blocks";
	const isAlone = packets.every((packet) => packet.interface === undefined);
	return verdicts.some(
		({ packet, verdict }) =>
			verdict === "pass" &&
			packet.family === "inet" &&
			(isAlone || packet.interface !== undefined),
	)
		? "allows"
		: "unclear";
}

/** Asks ipfw, where the first matching rule decides. */
async function askIpfw(host: Host): Promise<State> {
	const told = await host.run("sysctl", ["-n", "net.inet.ip.fw.enable"]);
	if (/unknown oid/.test(told.stderr)) return "off";
	const enabled = told.stdout.trim();
	if (enabled !== "1") return enabled === "0" ? "off" : "unclear";
	const listed = await host.run("ipfw", ["list"]);
	if (listed.ended !== "exited" || listed.exitCode !== 0)
		return host.isPrivileged ? "unclear" : "needs_root";
	// ipfw always has a last rule, which its list ends with.
	if (!/^65535 /m.test(listed.stdout)) return "unclear";
	return together(newPackets([undefined]), (packet) =>
		judgeByIpfw(listed.stdout, packet),
	);
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
	const rules = await runForText(host, "ipfstat", ["-i"]);
	if (rules === undefined) return host.isPrivileged ? "unclear" : "needs_root";
	if (/^Default: (nomatch -> )?block all\b/m.test(told.stdout))
		return letsMoreIn(rules) ? "unclear" : "blocks";
	if (
		/^(@\d+ )?block (return-\S{1,30} )?in (log )?(quick )?(all|from any to any)[ \t]*$/m.test(
			rules,
		)
	)
		return letsMoreIn(rules) ? "unclear" : "blocks";
	return /\bblock\b/.test(rules) ? "unclear" : "allows";
}

/**
 * Returns true if a rule of IPFilter may let in more than a single service, answers, ICMP or what
 * comes from the device or from certain addresses.
 */
const letsMoreIn = (rules: string): boolean =>
	rules
		.split("\n")
		.filter((line) => /^(@\d+ )?pass in\b/.test(line))
		.some(
			(line) =>
				!/ on lo\d\b| proto (ipv6-)?icmp\b| port = \S+( |$)| from (?!any\b|!)\S+ to /.test(
					line,
				),
		);

import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { CommandResult, Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import {
	follow,
	parseIptables,
	parseNftables,
	type Verdict,
} from "./packet-filter.ts";
import { readText, runForText } from "./read-text.ts";
import { findServices, type Services } from "./services.ts";
import { parseSettings } from "./settings.ts";

export const FIREWALL_UNITS = [
	"ufw.service",
	"firewalld.service",
	"nftables.service",
	"iptables.service",
];

/**
 * Returns PASS if the kernel blocks incoming packets that no rule allows, over IPv4 and, if the
 * device uses it, over IPv6. This is the default-deny rule of the CIS benchmarks. The rules in the
 * kernel decide, no matter which program wrote them. A firewall service that runs without rules
 * therefore does not pass, and neither do the chains of container engines, which do not protect the
 * host. Without root, the check only knows whether ufw and firewalld run.
 */
export async function checkFirewall(host: Host): Promise<CheckOutcome> {
	const services = await findServices(host, FIREWALL_UNITS);
	if (!host.isPrivileged) return judgeServices(host, services);

	const rules = await readRules(host);
	if (typeof rules === "string") return unknown(rules);
	const hasIpv6 = await usesIpv6(host);
	const engine =
		[...(services ?? [])]
			.find(([, state]) => state.isActive)?.[0]
			.replace(".service", "") ?? rules.engine;
	const evidence = {
		engine,
		ipv4_filtered:
			rules.ipv4 === undefined ? "unknown" : rules.ipv4 === "closed",
		...(hasIpv6 && {
			ipv6_filtered:
				rules.ipv6 === undefined ? "unknown" : rules.ipv6 === "closed",
		}),
	};
	const verdicts = hasIpv6 ? [rules.ipv4, rules.ipv6] : [rules.ipv4];
	if (verdicts.includes("open")) return fail(evidence);
	if (verdicts.includes(undefined)) {
		return unknown("unrecognized_output", evidence);
	}
	// The zone `trusted` accepts every packet before the rules that would reject it.
	if (engine === "firewalld" && (await defaultZone(host)) === "trusted") {
		return fail({ ...evidence, ipv4_filtered: false, default_zone: "trusted" });
	}
	return pass(evidence);
}

interface Rules {
	engine: string;
	ipv4: Verdict;
	ipv6: Verdict;
}

/**
 * Reads the rules of nftables and of legacy iptables, which nft does not show. If they cannot be
 * read, returns the reason.
 */
async function readRules(host: Host): Promise<Rules | Reason> {
	const listed = await host.run("nft", ["-j", "list", "ruleset"]);
	const nft = isDone(listed) ? parseNftables(listed.stdout) : undefined;
	const v4 = await readIptables(host, "iptables", "/proc/net/ip_tables_names");
	const v6 = await readIptables(
		host,
		"ip6tables",
		"/proc/net/ip6_tables_names",
	);
	const results = [listed, ...v4.results, ...v6.results];
	if (results.every((result) => result.ended === "missing")) {
		// No program is installed that could have set rules. Without legacy tables in the kernel, there
		// are none.
		return v4.isLoaded || v6.isLoaded
			? "command_missing"
			: { engine: "none", ipv4: "open", ipv6: "open" };
	}
	const combine = (newer: Verdict, older: Verdict): Verdict => {
		if (newer === "closed" || older === "closed") return "closed";
		// nft is installed, but the check did not understand its output.
		if (listed.ended !== "missing" && !nft) return undefined;
		return older ?? newer;
	};
	const ipv4 = combine(nft?.ipv4, v4.verdict);
	const ipv6 = combine(nft?.ipv6, v6.verdict);
	if (ipv4 === undefined && ipv6 === undefined) {
		const failed = results.find((result) => result.ended !== "missing");
		if (failed?.ended === "timed_out") return "timed_out";
		return failed && isDone(failed) ? "unrecognized_output" : "command_failed";
	}
	const engine =
		nft?.ipv4 === "closed" || nft?.ipv6 === "closed"
			? "nftables"
			: ipv4 === "closed" || ipv6 === "closed"
				? "iptables"
				: "none";
	return { engine, ipv4, ipv6 };
}

const isDone = (result: CommandResult) =>
	result.ended === "exited" && result.exitCode === 0;

interface Iptables {
	verdict: Verdict;
	results: CommandResult[];
	/** True if the kernel has loaded legacy tables. */
	isLoaded: boolean;
}

/**
 * Reads the rules of one protocol version. If the kernel has legacy tables, a separate program
 * lists them.
 */
async function readIptables(
	host: Host,
	program: string,
	names: string,
): Promise<Iptables> {
	const loaded = await readText(host, names);
	const isLoaded = /^filter$/m.test(loaded ?? "");
	const programs = isLoaded ? [program, `${program}-legacy`] : [program];
	const results = await Promise.all(
		programs.map((name) => host.run(name, ["-S"])),
	);
	const verdicts = results
		.filter((result) => result.ended !== "missing")
		.map((result) => {
			const chains = isDone(result) ? parseIptables(result.stdout) : undefined;
			return chains && follow(chains, "INPUT");
		});
	const verdict = verdicts.includes("closed")
		? "closed"
		: verdicts.includes(undefined)
			? undefined
			: verdicts[0];
	return { verdict, results, isLoaded };
}

/** Returns true if an interface other than the loopback has an IPv6 address. */
async function usesIpv6(host: Host): Promise<boolean> {
	const addresses = await readText(host, "/proc/net/if_inet6");
	return (addresses ?? "")
		.split("\n")
		.some((line) => line.trim() !== "" && !/\slo$/.test(line.trim()));
}

async function defaultZone(host: Host): Promise<string | undefined> {
	const zone = await runForText(host, "firewall-cmd", ["--get-default-zone"]);
	return zone?.trim();
}

async function judgeServices(
	host: Host,
	services: Services | undefined,
): Promise<CheckOutcome> {
	if (services?.get("firewalld.service")?.isActive) {
		const zone = await defaultZone(host);
		if (zone === "trusted") {
			return fail({ engine: "firewalld", default_zone: "trusted" });
		}
		if (zone && /^[a-z]+$/.test(zone)) return pass({ engine: "firewalld" });
	}
	if (services?.get("ufw.service")?.isActive) {
		const ufw = parseSettings(
			(await readText(host, "/etc/ufw/ufw.conf")) ?? "",
		);
		const defaults = parseSettings(
			(await readText(host, "/etc/default/ufw")) ?? "",
		);
		const policy = defaults.get("DEFAULT_INPUT_POLICY") ?? "";
		const hasIpv6 = await usesIpv6(host);
		const isIpv6Filtered = defaults.get("IPV6")?.toLowerCase() === "yes";
		if (
			ufw.get("ENABLED")?.toLowerCase() === "yes" &&
			/^(DROP|REJECT)$/.test(policy) &&
			(isIpv6Filtered || !hasIpv6)
		) {
			return pass({ engine: "ufw", ipv4_filtered: true });
		}
	}
	return unknown("needs_root");
}

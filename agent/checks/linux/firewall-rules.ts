import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { CommandResult, Host } from "../../host.ts";
import type { Interfaces } from "./interfaces.ts";
import { parseIptables } from "./iptables-rules.ts";
import { type NftRulesets, parseNftables } from "./nft-ruleset.ts";
import { type Family, newPackets, type Packet } from "./packet.ts";
import {
	judgePacket,
	judgePackets,
	type Ruleset,
	type Verdict,
	worstOf,
} from "./packet-filter.ts";
import { readText } from "./read-text.ts";

/** The effect of the kernel's rules on new packets of one IP version. */
export interface FamilyVerdict {
	verdict: Verdict;
	/** The reason if the verdict is unknown. */
	reason?: Reason;
	/** Our names for the packets that get in despite the rules, such as `tcp_1009`. */
	open: string[];
	/** The interfaces through which packets get in although the rules keep them out on others. */
	openInterfaces: string[];
	/** The tunnels of a VPN through which packets get in, or may get in. */
	openTunnels: string[];
	/** The framework whose rules keep packets out. */
	engine: "nftables" | "iptables" | "none";
}

/**
 * Reads the rules of nftables and of iptables and judges new packets by them. If the rules cannot
 * be read, returns the reason.
 */
export async function judgeRules(
	host: Host,
	families: readonly Family[],
	interfaces: Interfaces,
): Promise<FamilyVerdict[] | Reason> {
	let nft = await readNft(host, ["-j", "-t", "list", "ruleset"]);
	const iptables = {
		ipv4: await readIptables(host, "iptables", "/proc/net/ip_tables_names"),
		ipv6: await readIptables(host, "ip6tables", "/proc/net/ip6_tables_names"),
	};
	const sources = [nft, iptables.ipv4, iptables.ipv6];
	if (sources.every(({ isMissing }) => isMissing)) {
		// No program is installed that could have set rules. Without legacy tables in the kernel, there
		// are none.
		return iptables.ipv4.isLoaded || iptables.ipv6.isLoaded
			? "command_missing"
			: families.map(() => ({
					verdict: "open",
					open: [],
					openInterfaces: [],
					openTunnels: [],
					engine: "none",
				}));
	}
	const judge = () =>
		families.map((family) =>
			judgeFamily(nft, iptables[family], family, interfaces),
		);
	let verdicts = judge();
	const isUndecided = verdicts.some(
		({ verdict, openTunnels }) =>
			verdict === undefined || openTunnels.length > 0,
	);
	if (isUndecided && nft.needsSets) {
		// Large sets make the whole list too long to read, so it is only read if it may help.
		const whole = await readNft(host, ["-j", "list", "ruleset"]);
		if (whole.failure === undefined) {
			nft = whole;
			verdicts = judge();
		}
	}
	return verdicts;
}

function judgeFamily(
	nft: NftSource,
	iptables: IptablesSource,
	family: Family,
	{ outer, tunnels }: Interfaces,
): FamilyVerdict {
	// nft lists the rules of iptables too, if iptables uses nftables. iptables knows them better.
	const ofNft = iptables.usesNft ? nft.others : nft.all;
	const newer = nft.isMissing ? [] : [ofNft?.[family]];
	const rulesets = [...newer, ...iptables.rulesets];
	if (iptables.isUnreadable || (nft.isMissing && iptables.failure)) {
		rulesets.push(undefined);
	}
	const packets = newPackets(family, outer);
	const judged = packets.map((packet) => ({
		packet,
		verdict: judgePacket(rulesets, packet),
	}));
	const withVerdict = (wanted: Verdict) =>
		judged
			.filter(({ verdict }) => verdict === wanted)
			.map(({ packet }) => packet);
	const hasRules = rulesets.some((ruleset) =>
		ruleset?.bases.some(({ chain }) => ruleset.chains.get(chain)?.length),
	);
	const gotIn = hasRules ? withVerdict("open") : [];
	const keptOut = withVerdict("closed");
	return {
		verdict: worstOf(judged.map(({ verdict }) => verdict)),
		reason: nft.failure ?? iptables.failure ?? "rules_not_decidable",
		open: unique(gotIn.map(({ protocol, port }) => `${protocol}_${port}`)),
		openInterfaces: someOf(outer, (name) =>
			gotIn.some((packet) => packet.interface === name),
		),
		openTunnels: tunnels.filter(
			(name) => judgePackets(rulesets, newPackets(family, [name])) !== "closed",
		),
		engine: findEngine(nft, newer, keptOut),
	};
}

/** Returns the framework that keeps these packets out. */
function findEngine(
	nft: NftSource,
	newer: (Ruleset | undefined)[],
	keptOut: Packet[],
): FamilyVerdict["engine"] {
	const [first] = keptOut;
	if (!first) return "none";
	return judgePackets(newer, keptOut) === "closed" ||
		(nft.all && judgePackets([nft.all[first.family]], keptOut) === "closed")
		? "nftables"
		: "iptables";
}

const unique = (texts: string[]) => [...new Set(texts)].sort();

/** Returns the names for which `is` holds, if there are others too. */
function someOf(names: string[], is: (name: string) => boolean): string[] {
	const found = names.filter(is);
	return found.length < names.length ? found : [];
}

interface NftSource {
	isMissing: boolean;
	failure?: Reason | undefined;
	/** All rules, and those that are not iptables' own. Undefined if they could not be read. */
	all?: NftRulesets | undefined;
	others?: NftRulesets | undefined;
	needsSets?: boolean | undefined;
}

async function readNft(host: Host, args: string[]): Promise<NftSource> {
	let listed = await host.run("nft", args);
	if (listed.ended === "missing") return { isMissing: true };
	if (listed.ended === "exited" && listed.exitCode !== 0 && args[1] === "-t") {
		// nft has no option -t before version 0.9.1.
		listed = await host.run("nft", ["-j", "list", "ruleset"]);
	}
	const failure = whyUnread(listed);
	if (failure) return { isMissing: false, failure };
	const all = parseNftables(listed.stdout, { withIptables: true });
	return {
		isMissing: false,
		all,
		others: parseNftables(listed.stdout, { withIptables: false }),
		needsSets: all?.needsSets,
		...(!all && { failure: "unrecognized_output" }),
	};
}

const whyUnread = (result: CommandResult): Reason | undefined =>
	result.ended === "timed_out"
		? "timed_out"
		: result.ended !== "exited" || result.exitCode !== 0
			? "command_failed"
			: undefined;

interface IptablesSource {
	isMissing: boolean;
	failure?: Reason | undefined;
	rulesets: Ruleset[];
	/** True if the rulesets contain the rules that iptables has given to nftables. */
	usesNft: boolean;
	/** True if there are rules of the older iptables that could not be read. */
	isUnreadable: boolean;
	/** True if the kernel has loaded the tables of the older iptables, which nft does not show. */
	isLoaded: boolean;
}

async function readIptables(
	host: Host,
	program: string,
	names: string,
): Promise<IptablesSource> {
	const loaded = await readText(host, names);
	const isLoaded = /^(filter|raw|mangle|security)$/m.test(loaded ?? "");
	const programs = isLoaded
		? [`${program}-save`, `${program}-legacy-save`]
		: [`${program}-save`];
	const results = (
		await Promise.all(programs.map((name) => host.run(name)))
	).filter((result) => result.ended !== "missing");
	const rulesets: Ruleset[] = [];
	let failure: Reason | undefined;
	for (const result of results) {
		const ruleset =
			whyUnread(result) === undefined
				? parseIptables(result.stdout)
				: undefined;
		if (ruleset) rulesets.push(ruleset);
		else failure = whyUnread(result) ?? "unrecognized_output";
	}
	return {
		isMissing: results.length === 0,
		failure,
		rulesets,
		usesNft: results.some(({ stdout }) =>
			/^# Generated by \S+ \S+ \(nf_tables\)/m.test(stdout),
		),
		isUnreadable:
			isLoaded && (rulesets.length < results.length || results.length === 0),
		isLoaded,
	};
}

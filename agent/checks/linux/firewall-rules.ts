import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { CommandResult, Host } from "../../host.ts";
import { parseIptables } from "./iptables-rules.ts";
import { type NftRulesets, parseNftables } from "./nft-ruleset.ts";
import { type Family, newPackets, type Packet } from "./packet.ts";
import {
	judgePacket,
	judgePackets,
	type Ruleset,
	type Verdict,
} from "./packet-filter.ts";
import { readText } from "./read-text.ts";

/** The effect of the kernel's rules on new packets of one IP version. */
export interface FamilyVerdict {
	verdict: Verdict;
	/** The reason if the verdict is unknown. */
	reason?: Reason;
	/** Our names for the packets that get in despite the rules, such as `tcp_1009`. */
	open: string[];
	/** The framework whose rules keep the packets out. */
	engine: "nftables" | "iptables" | "none";
}

/**
 * Reads the rules of nftables and of iptables and judges new packets by them. If the rules cannot
 * be read, returns the reason.
 */
export async function judgeRules(
	host: Host,
	families: readonly Family[],
): Promise<FamilyVerdict[] | Reason> {
	const interfaces = await findInterfaces(host);
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
			: families.map(() => ({ verdict: "open", open: [], engine: "none" }));
	}
	const judge = () =>
		families.map((family) =>
			judgeFamily(nft, iptables[family], newPackets(family, interfaces)),
		);
	let verdicts = judge();
	const isUndecided = verdicts.some(({ verdict }) => verdict === undefined);
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
	packets: Packet[],
): FamilyVerdict {
	const family = packets[0]?.family ?? "ipv4";
	// nft lists the rules of iptables too, if iptables uses nftables. iptables knows them better.
	const ofNft = iptables.usesNft ? nft.others : nft.all;
	const newer = nft.isMissing ? [] : [ofNft?.[family]];
	const rulesets = [...newer, ...iptables.rulesets];
	if (iptables.isUnreadable || (nft.isMissing && iptables.failure)) {
		rulesets.push(undefined);
	}
	const verdict = judgePackets(rulesets, packets);
	const hasRules = rulesets.some((ruleset) =>
		ruleset?.bases.some(({ chain }) => ruleset.chains.get(chain)?.length),
	);
	const open = (hasRules ? packets : [])
		.filter((packet) => judgePacket(rulesets, packet) === "open")
		.map(({ protocol, port }) => `${protocol}_${port}`);
	const engine =
		verdict !== "closed"
			? "none"
			: judgePackets(newer, packets) === "closed" ||
					(nft.all && judgePackets([nft.all[family]], packets) === "closed")
				? "nftables"
				: "iptables";
	const reason = nft.failure ?? iptables.failure ?? "rules_not_decidable";
	return { verdict, reason, open: [...new Set(open)].sort(), engine };
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

/**
 * Bridges to the containers and virtual machines of this device. Nobody else sends packets through
 * them.
 */
const OWN_BRIDGES =
	/^(docker\d+|br-[0-9a-f]{12}|podman\d+|cni-podman\d+|virbr\d+|lxcbr\d+|lxdbr\d+|incusbr\d+)$/;

/** Returns the interfaces through which other machines reach the device. */
async function findInterfaces(host: Host): Promise<string[]> {
	const text = (await readText(host, "/proc/net/dev")) ?? "";
	const names = text
		.split("\n")
		.map((line) => /^\s*(\S{1,32}):/.exec(line)?.[1])
		.filter((name) => name !== undefined);
	return names.filter((name) => name !== "lo" && !OWN_BRIDGES.test(name));
}

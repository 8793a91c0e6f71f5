import { checkFirewall } from "../../agent/checks/linux/firewall.ts";
import type { CommandResult, Host } from "../../agent/host.ts";
import {
	FIREWALL_CASES,
	type FirewallCase,
} from "../../test/agent/recordings/firewall-cases.ts";
import { host, makeInterfaces, print, run } from "./in-namespace.ts";

// This program runs in a network namespace of its own. It gives each case's rules to the real nft
// or iptables, runs the check, and prints the outcomes and all that the check read.

function setRules({ nft, iptables, ip6tables }: FirewallCase): void {
	run("nft", ["flush", "ruleset"]);
	if (nft !== undefined) run("nft", ["-f", "-"], nft);
	if (iptables === undefined) return;
	for (const [program, calls] of [
		["iptables", iptables],
		["ip6tables", ip6tables ?? iptables],
	] as const) {
		for (const call of calls.split("\n")) {
			const words = call.match(/"[^"]*"|\S+/g) ?? [];
			run(
				program,
				words.map((word) => word.replace(/^"(.*)"$/, "$1")),
			);
		}
	}
}

/** Returns the host, and notes what it answers. */
function listening(host: Host) {
	const commands: Record<string, string | Partial<CommandResult>> = {};
	const files: Record<string, string> = {};
	const noted: Host = {
		...host,
		now: host.now,
		async run(program, args = [], options) {
			const result = await host.run(program, args, options);
			if (result.ended === "exited") {
				const { exitCode, stdout } = result;
				commands[[program, ...args].join(" ")] =
					exitCode === 0 ? stdout : { exitCode };
			}
			return result;
		},
		async readFile(path) {
			const file = await host.readFile(path);
			if (file.kind === "text") files[path] = file.text;
			return file;
		},
	};
	return { noted, commands, files };
}

makeInterfaces();
for (const one of FIREWALL_CASES) {
	const { name, status: expected } = one;
	const check = "FIREWALL_ENABLED";
	try {
		setRules(one);
	} catch {
		print(check, name, "no rules", expected);
		continue;
	}
	const { noted, commands, files } = listening(host);
	const { status, evidence } = await checkFirewall(noted);
	print(check, name, status, expected, { evidence, commands, files });
}

import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";

const SOCKET_FILTER = "/usr/libexec/ApplicationFirewall/socketfilterfw";

/**
 * The application firewall. Its command is asked, not `com.apple.alf.plist`, which macOS 15 no
 * longer has. State 1 asks or goes by rules a program, 2 blocks all that is not essential. Stealth
 * mode is only told: without it the firewall is on all the same. A firewall of another maker is not
 * seen.
 */
export async function checkFirewall(host: Host): Promise<CheckOutcome> {
	const result = await host.run(SOCKET_FILTER, ["--getglobalstate"]);
	const problem = whyFailed(result, host);
	if (problem !== undefined) return unknown(problem);
	const [, state] =
		/^Firewall is .{1,80}\(State = ([0-2])\)[ \t]*$/m.exec(result.stdout) ?? [];
	if (state === undefined) return unknown("unrecognized_output");
	if (state === "0")
		return fail({ engine: "application_firewall", enabled: false });
	const stealth = await isStealth(host);
	return pass({
		engine: "application_firewall",
		enabled: true,
		block_all: state === "2",
		...(stealth === undefined ? {} : { stealth }),
	});
}

/** "Firewall stealth mode is on", or before macOS 13 "Stealth mode enabled". */
async function isStealth(host: Host): Promise<boolean | undefined> {
	const { stdout } = await host.run(SOCKET_FILTER, ["--getstealthmode"]);
	const [, said] =
		/^(?:Firewall stealth mode is|Stealth mode) (on|off|enabled|disabled)\s*$/m.exec(
			stdout,
		) ?? [];
	return said === undefined ? undefined : said === "on" || said === "enabled";
}

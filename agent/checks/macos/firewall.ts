import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";

const SOCKET_FILTER = "/usr/libexec/ApplicationFirewall/socketfilterfw";

/**
 * Checks the application firewall with its own command, because macOS 15 no longer has
 * `com.apple.alf.plist`. In state 1 the firewall asks or applies rules for each program. In state 2
 * it blocks everything that is not essential. Stealth mode appears in the evidence but is not
 * required. The check cannot see the firewalls of other makers.
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

/**
 * Returns whether stealth mode is on. The command prints "Firewall stealth mode is on" or, before
 * macOS 13, "Stealth mode enabled".
 */
async function isStealth(host: Host): Promise<boolean | undefined> {
	const { stdout } = await host.run(SOCKET_FILTER, ["--getstealthmode"]);
	const [, said] =
		/^(?:Firewall stealth mode is|Stealth mode) (on|off|enabled|disabled)\s*$/m.exec(
			stdout,
		) ?? [];
	return said === undefined ? undefined : said === "on" || said === "enabled";
}

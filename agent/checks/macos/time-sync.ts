import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";
import { readPreferences, readSwitch } from "./preferences.ts";

/**
 * Checks if the clock is set from the network, as System Settings shows it (CIS macOS 2.3.2.1). The
 * check cannot measure the clock's error, because it would have to send packets. If a profile
 * forces the setting, the profile decides. Otherwise the check asks `systemsetup`, which answers
 * only root. To other users it prints that they must be an administrator, and exits with code 0.
 */
export async function checkTimeSync(host: Host): Promise<CheckOutcome> {
	const managed = await readPreferences(
		host,
		"/Library/Managed Preferences/com.apple.timed.plist",
	);
	if (
		managed.known &&
		readSwitch(managed.values, "TMAutomaticTimeOnlyEnabled") === true
	) {
		return pass({ service: "timed", enabled: true, managed: true });
	}
	const result = await host.run("systemsetup", ["-getusingnetworktime"]);
	if (/You need administrator access/.test(result.stdout))
		return unknown("needs_root");
	const problem = whyFailed(result, host);
	if (problem !== undefined) return unknown(problem);
	const [, state] = /^Network Time: (On|Off)\s*$/m.exec(result.stdout) ?? [];
	if (state === undefined) return unknown("unrecognized_output");
	const evidence = {
		service: "timed",
		enabled: state === "On",
		managed: false,
	};
	return state === "On" ? pass(evidence) : fail(evidence);
}

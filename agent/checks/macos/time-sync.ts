import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";
import { readPreferences, readSwitch } from "./preferences.ts";

/**
 * Checks if the clock is set from the network, as System Settings shows it (CIS macOS 2.3.2.1). Its
 * error cannot be measured without sending packets of our own. A profile that forces the setting
 * decides. Otherwise `systemsetup` knows it, but answers only root: it tells others to be an
 * administrator, with exit code 0.
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

import type { CheckKey, Platform } from "../terms.ts";
import type { Reason } from "./reasons.ts";

/**
 * Better advice for a reason on one platform and check than the text that holds everywhere. The
 * keys are `PLATFORM CHECK reason`.
 */
export const PARTICULAR_FIXES: Partial<
	Record<`${Platform} ${CheckKey} ${Reason}`, string>
> = {
	"LINUX FIREWALL_ENABLED command_missing":
		"Install nftables, so that the agent can read the rules.\nAdministrators: `apt install nftables` or `dnf install nftables`",
	"LINUX FIREWALL_ENABLED unrecognized_output":
		"The rules are too unusual for the agent to judge. Block what no rule allows, for example with `ufw enable`, or install the newest version of the agent.",
	"LINUX REMOTE_LOGIN command_missing":
		"Install the package openssh-server, or stop the sshd that runs on the device.",
};

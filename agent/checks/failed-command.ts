import type { Reason } from "../../src/devices/remediation/reasons.ts";
import type { CommandResult, Host } from "../host.ts";

/**
 * Returns the reason for UNKNOWN if a command gave no answer, or undefined if the command
 * succeeded. If a command fails without root, the missing rights are the most likely reason.
 */
export function whyFailed(
	result: CommandResult,
	host: Host,
): Reason | undefined {
	switch (result.ended) {
		case "missing":
			return "command_missing";
		case "timed_out":
			return "timed_out";
		case "denied":
			return host.isPrivileged ? "command_denied" : "needs_root";
		case "exited":
			if (result.exitCode === 0) return undefined;
			return host.isPrivileged ? "command_failed" : "needs_root";
	}
}

import type { CommandResult, Host } from "../host.ts";

/**
 * Returns why a command gave no answer, as a reason for UNKNOWN, or undefined if it succeeded.
 * Without root a command that fails most likely failed for that reason.
 */
export function whyFailed(
	result: CommandResult,
	host: Host,
): string | undefined {
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

import { CHECK_REASONS } from "./check-reasons.ts";
import { LOOK_AGAIN, type ReasonText } from "./reason-text.ts";

const UPDATE_AGENT =
	"Install the newest version of the agent. If that does not help, tell the operator of Assay.";
const AS_ADMINISTRATOR =
	"Install the agent as a service, with the rights of root or an administrator. An agent that a user starts may not read this setting.";

/**
 * The reasons that the agent gives for UNKNOWN and NOT_APPLICABLE. The agent's checks take their
 * reasons from these keys, so a reason without a text does not compile.
 */
export const REASONS = {
	// Problems of the agent itself.
	access_denied: {
		says: "the system denied the agent access",
		fix: "Look for security software that blocks the agent, and allow the agent there.",
	},
	check_crashed: { says: "the check failed in the agent", fix: UPDATE_AGENT },
	command_denied: {
		says: "the agent may not run a program of the system",
		fix: "Look for security software that blocks the agent, and allow the agent there.",
	},
	command_failed: {
		says: "a program of the system failed",
		fix: LOOK_AGAIN,
	},
	command_missing: {
		says: "a program that the check needs is not installed",
		fix: "Install the missing package, or ask an administrator which one it is.",
	},
	file_unreadable: {
		says: "a file with settings could not be read",
		fix: "Check the file's rights. It must be a regular file that its user may read.",
	},
	needs_administrator: {
		says: "the agent needs the rights of an administrator",
		fix: AS_ADMINISTRATOR,
	},
	needs_root: {
		says: "the agent needs the rights of root",
		fix: AS_ADMINISTRATOR,
	},
	not_available: {
		says: "this system does not offer the information",
		fix: "Show an administrator the setting on the device. The agent cannot read it here.",
	},
	processes_not_readable: {
		says: "the list of processes could not be read",
		fix: LOOK_AGAIN,
	},
	query_failed: { says: "a query to the system failed", fix: LOOK_AGAIN },
	timed_out: {
		says: "the check took too long",
		fix: "You need not do anything if the device was busy. If it happens again, restart the device.",
	},
	unrecognized_output: {
		says: "the agent did not understand the system's answer",
		fix: UPDATE_AGENT,
	},
	reports_dropped: {
		says: "the device could not send some reports, and they are lost",
		fix: "Connect the device to the network more often. `assay-agent status` says what keeps it from reaching the service.",
	},

	// Devices on which a check does not apply.
	container: { says: "this is a container; its host is checked instead" },
	jail: { says: "this is a jail; its host is checked instead" },
	wsl: { says: "this is the Windows Subsystem for Linux" },
	network_root: { says: "the system's disk is on the network" },
	no_disk: { says: "the system keeps no data on a disk" },
	no_desktop: { says: "the device has no desktop" },
	no_built_in_protection: {
		says: "this system has no built-in protection, and no scanner is installed",
	},
	not_checked_here: { says: "the agent has no such check for this system" },

	...CHECK_REASONS,
} satisfies Record<string, ReasonText>;

/** A reason for UNKNOWN or NOT_APPLICABLE. */
export type Reason = keyof typeof REASONS;

/** Returns true if the agent knows this reason. */
export const isReason = (reason: unknown): reason is Reason =>
	typeof reason === "string" && Object.hasOwn(REASONS, reason);

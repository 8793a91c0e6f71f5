import type { CheckKey, Evidence } from "../../src/devices/terms.ts";
import type { Machine } from "../machine.ts";

/** How the check of a platform behaves over many devices. */
export interface Behaviour {
	/** The share of devices on which the check fails at any given time. */
	failing: number;
	/**
	 * Returns the evidence of a pass. `variant` is a number from 0 (inclusive) to 1 (exclusive) that
	 * is constant for a device and check.
	 */
	pass: (machine: Machine, variant: number) => Evidence;
	fail: (machine: Machine, variant: number) => Evidence;
	/** True if the check is UNKNOWN without the rights of an administrator. */
	needsRoot?: boolean;
	/** The share of devices on which the check is UNKNOWN for another reason. */
	unknown?: { share: number; reason: string };
	/** Returns why the check does not apply to a machine, or undefined if it applies. */
	notApplicable?: (machine: Machine) => string | undefined;
}

/**
 * The checks of a platform that are simulated. A device reports all others as not checked, as its
 * agent would.
 */
export type Behaviours = Partial<Record<CheckKey, Behaviour>>;

/** Returns one of the values, selected by `variant`. */
export function step(variant: number, values: readonly number[]): number {
	return values[Math.floor(variant * values.length)] ?? 0;
}

export const noDesktop = ({ system }: Machine): string | undefined =>
	system.hasDesktop ? undefined : "no_desktop";

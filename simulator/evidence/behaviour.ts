import type { CheckKey, Evidence } from "../../src/devices/terms.ts";
import type { Machine } from "../machine.ts";

/** How a platform's check behaves over many devices. */
export interface Behaviour {
	/** The share of devices on which it fails at any one time. */
	failing: number;
	/** `variant` is a number from 0 up to 1 that stays with the device and check. */
	pass: (machine: Machine, variant: number) => Evidence;
	fail: (machine: Machine, variant: number) => Evidence;
	/** The check is UNKNOWN without the rights of an administrator. */
	needsRoot?: boolean;
	/** A share of devices on which it is UNKNOWN for another reason. */
	unknown?: { share: number; reason: string };
	/** Returns why it does not apply to the machine, or undefined if it does. */
	notApplicable?: (machine: Machine) => string | undefined;
}

/** Simulated checks of a platform. A device reports the others as its agent would: not checked. */
export type Behaviours = Partial<Record<CheckKey, Behaviour>>;

/** Returns one of the values, chosen by the variant. */
export function step(variant: number, values: readonly number[]): number {
	return values[Math.floor(variant * values.length)] ?? 0;
}

export const noDesktop = ({ system }: Machine): string | undefined =>
	system.hasDesktop ? undefined : "no_desktop";

import type { CheckKey, Evidence } from "../../src/devices/terms.ts";
import type { Machine } from "../machine.ts";

/** What a check of a platform is like, over many devices. */
export interface Behaviour {
	/** The share of devices on which it fails at a time. */
	failing: number;
	/** `variant` is a number from 0 up to 1 that stays with the device and check. */
	pass: (machine: Machine, variant: number) => Evidence;
	fail: (machine: Machine, variant: number) => Evidence;
	/** It cannot tell without the rights of an administrator. */
	needsRoot?: boolean;
	/** On a share of devices it cannot tell for another reason. */
	unknown?: { share: number; reason: string };
	/** Why it does not apply to the machine, where it does not. */
	notApplicable?: (machine: Machine) => string | undefined;
}

/** Simulated checks of a platform. A device reports the others as its agent would: not checked. */
export type Behaviours = Partial<Record<CheckKey, Behaviour>>;

/** `least` to `most` in steps, by the variant. */
export function step(variant: number, values: readonly number[]): number {
	return values[Math.floor(variant * values.length)] ?? 0;
}

export const noDesktop = ({ system }: Machine): string | undefined =>
	system.hasDesktop ? undefined : "no_desktop";

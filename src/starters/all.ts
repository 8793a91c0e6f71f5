import { GDPR } from "./frameworks/gdpr.ts";
import { ISO_27001 } from "./frameworks/iso-27001.ts";
import { NIS_2 } from "./frameworks/nis-2.ts";
import { SOC_2 } from "./frameworks/soc-2.ts";
import type { StarterFramework } from "./shape.ts";

/**
 * The frameworks that a new organization can begin with, in the order in which they are offered.
 */
export const STARTER_FRAMEWORKS: readonly StarterFramework[] = [
	ISO_27001,
	SOC_2,
	NIS_2,
	GDPR,
];

/** Name of the control's record. */
export const controlName = ({
	number,
	name,
}: {
	number: string;
	name: string;
}) => `${number} ${name}`;

import { integer } from "./powershell.ts";

/**
 * Returns true if a product is on, according to the `productState` that it reported to the Security
 * Center. The value has three bytes. The upper half of the middle byte says if the product is on
 * (1), off (0), snoozed (2) or expired (3). The upper half of the last byte says if its signatures
 * are out of date (1). Microsoft does not document these values, but all vendors use them. Servers
 * have no Security Center.
 */
export function isProductOn(productState: unknown): boolean {
	const state = integer(productState);
	return state !== undefined && state > 0 && (state & 0xf000) === 0x1000;
}

export function areSignaturesCurrent(productState: unknown): boolean {
	const state = integer(productState);
	return state !== undefined && state > 0 && (state & 0xf0) === 0;
}

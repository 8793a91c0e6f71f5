import { integer } from "./powershell.ts";

/**
 * Reads the Security Center's `productState`, which products report about themselves. It has three
 * bytes. The upper half of the middle one says if the product is on (1), off (0), snoozed (2) or
 * expired (3); that of the last one says if its signatures are out of date (1). Microsoft does not
 * document it; all vendors use these values in the field. Servers have no Security Center.
 */
export function isProductOn(productState: unknown): boolean {
	const state = integer(productState);
	return state !== undefined && state > 0 && (state & 0xf000) === 0x1000;
}

export function areSignaturesCurrent(productState: unknown): boolean {
	const state = integer(productState);
	return state !== undefined && state > 0 && (state & 0xf0) === 0;
}

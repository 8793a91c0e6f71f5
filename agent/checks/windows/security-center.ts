import { integer } from "./powershell.ts";

/**
 * The Security Center's `productState`, which products report of themselves: three bytes, of
 * which the middle one's upper half says whether the product is on (1), off (0), snoozed (2) or
 * expired (3), and the last one's whether its signatures are out of date (1). Microsoft does not
 * document it; these values are seen in the field with all vendors. Servers have no Security
 * Center.
 */
export function isProductOn(productState: unknown): boolean {
	const state = integer(productState);
	return state !== undefined && state > 0 && (state & 0xf000) === 0x1000;
}

export function areSignaturesCurrent(productState: unknown): boolean {
	const state = integer(productState);
	return state !== undefined && state > 0 && (state & 0xf0) === 0;
}

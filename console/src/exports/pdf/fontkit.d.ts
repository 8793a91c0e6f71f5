/** As much of the library as tells which characters a font has. It brings no types of its own. */
declare module "fontkit" {
	export function create(file: Uint8Array): {
		hasGlyphForCodePoint(codePoint: number): boolean;
	};
}

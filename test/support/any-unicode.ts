import fc from "fast-check";

const anyCharacter = fc
	.oneof(
		fc.integer({ min: 0, max: 0xd7ff }),
		// Between these two are the surrogates, which are no characters.
		fc.integer({ min: 0xe000, max: 0x10ffff }),
	)
	.map((point) => String.fromCodePoint(point));

/**
 * Generates text of any Unicode characters. fast-check's own unit `binary` generates the same, but
 * first builds a table of a million characters, which takes seconds.
 */
export function anyUnicode(
	constraints: Omit<fc.StringConstraints, "unit"> = {},
): fc.Arbitrary<string> {
	return fc.string({ ...constraints, unit: anyCharacter });
}

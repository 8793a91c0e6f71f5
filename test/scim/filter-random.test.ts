import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_FILTER, parseFilter, parsePath } from "../../src/scim/filter.ts";
import { ScimError } from "../../src/scim/scim-error.ts";

const soup = fc
	.array(
		fc.oneof(
			fc.constantFrom(
				...'( ) [ ] " \\ . and or not eq pr co userName emails true null 1 -2.5 urn:a:b'.split(
					" ",
				),
				" ",
			),
			fc.string({ unit: "binary" }),
		),
	)
	.map((parts) => parts.join(""));

test("any text is a filter or a path, or gives a SCIM error", () => {
	fc.assert(
		fc.property(fc.oneof(soup, fc.string({ unit: "binary" })), (text) => {
			for (const read of [parseFilter, parsePath]) {
				try {
					read(text);
				} catch (error) {
					expect(error).toBeInstanceOf(ScimError);
				}
			}
		}),
		{ numRuns: 2000 },
	);
});

test("each character of a filter is looked at a few times at most", () => {
	for (const piece of ["(", "a", " ", '"', "\\", "[", "not (", "a pr and "]) {
		for (const length of [100, MAX_FILTER]) {
			const text = piece.repeat(length).slice(0, length);
			let looks = 0;
			const watched = new Proxy(new String(text), {
				get: (target, name) => {
					if (typeof name === "string" && /^\d+$/.test(name)) looks++;
					const value = Reflect.get(target, name) as unknown;
					return typeof value === "function" ? value.bind(text) : value;
				},
			});
			expect(() => parseFilter(watched as unknown as string)).toThrow(
				ScimError,
			);
			expect(looks).toBeLessThanOrEqual(6 * length + 10);
		}
	}
});

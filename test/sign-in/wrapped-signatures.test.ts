import { describe, expect, test } from "vitest";
import { RSA_SHA256 } from "../support/saml-provider.ts";
import { refusalOf, respond } from "./saml-responses.ts";
import { MALLORY, WRAPPINGS } from "./wrapped-responses.ts";

describe("a wrapped signature", () => {
	test.each(Object.entries(WRAPPINGS))("%s", (_, { wrap, code }) => {
		const xml = wrap((changes, person) => respond(changes, person as never));
		expect(xml).toContain(MALLORY.nameId);
		expect(xml).toContain("<ds:SignatureValue>");
		expect(refusalOf(xml)).toBe(code);
	});

	test("each has a shape of its own, except that the same id twice looks like XSW3", () => {
		const shapes = Object.values(WRAPPINGS).map(({ wrap }) =>
			wrap((changes, person) => respond(changes, person as never))
				.replace(/ [A-Za-z]+="[^"]*"/g, "")
				.replace(/>[^<]+</g, "><"),
		);
		expect(new Set(shapes).size).toBe(shapes.length - 1);
	});

	test("RSA with SHA-256 is what these tests sign with", () => {
		expect(respond()).toContain(RSA_SHA256);
	});
});

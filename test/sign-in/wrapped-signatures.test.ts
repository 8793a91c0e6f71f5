import { describe, expect, test } from "vitest";
import { RSA_SHA256 } from "../support/saml-provider.ts";
import { refusalOf, respond } from "./saml-responses.ts";

const mallory = {
	nameId: "mallory",
	attributes: { email: ["ada@example.com"], groups: ["Security"] },
};

/**
 * The eight ways to wrap a signed message into a forged one (Somorovsky and others, "On Breaking SAML",
 * 2012). Each keeps the signed element somewhere, where its signature still finds it.
 */
describe("a wrapped signature", () => {
	const forged = /<saml:Assertion.*<\/saml:Assertion>/s.exec(
		respond({ signs: "nothing" }, mallory),
	)?.[0] as string;
	const evil = forged.replace(/ ID="[^"]*"/, ' ID="_evil"');
	const assertionIn = (xml: string) =>
		/<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] as string;
	const signatureIn = (xml: string) =>
		/<ds:Signature .*?<\/ds:Signature>/s.exec(xml)?.[0] as string;
	const inside = (parent: string, child: string) =>
		parent.replace("</saml:Assertion>", `${child}</saml:Assertion>`);
	const withoutSignature = (xml: string) => xml.replace(signatureIn(xml), "");
	const inSignature = (signature: string, content: string) =>
		signature.replace(
			"</ds:Signature>",
			`<ds:Object>${content}</ds:Object></ds:Signature>`,
		);
	const withAssertion = (xml: string, assertion: string) =>
		xml.replace(assertionIn(xml), assertion);
	const evilResponse = (original: string) =>
		withAssertion(withoutSignature(original), evil).replace(
			/(<samlp:Response [^>]*) ID="[^"]*"/,
			'$1 ID="_evil-response"',
		);

	const attacks: Record<string, () => string> = {
		"XSW1: the signed response in the signature of a forged one": () => {
			const signed = respond({ signs: "response" });
			const signature = inSignature(
				signatureIn(signed),
				withoutSignature(signed),
			);
			return evilResponse(signed).replace(
				"<samlp:Status>",
				`${signature}<samlp:Status>`,
			);
		},
		"XSW2: the signed response before its signature in a forged one": () => {
			const signed = respond({ signs: "response" });
			return evilResponse(signed).replace(
				"<samlp:Status>",
				`${withoutSignature(signed)}${signatureIn(signed)}<samlp:Status>`,
			);
		},
		"XSW3: a forged assertion before the signed one": () => {
			const signed = respond();
			return withAssertion(signed, evil + assertionIn(signed));
		},
		"XSW4: the signed assertion in a forged one": () => {
			const signed = respond();
			return withAssertion(signed, inside(evil, assertionIn(signed)));
		},
		"XSW5: a forged assertion with the signature, and the signed one at the end":
			() => {
				const signed = respond();
				const original = withoutSignature(assertionIn(signed));
				return withAssertion(
					signed,
					evil.replace(
						"<saml:Subject>",
						`${signatureIn(signed)}<saml:Subject>`,
					) + original,
				);
			},
		"XSW6: the signed assertion in the signature of a forged one": () => {
			const signed = respond();
			const signature = inSignature(
				signatureIn(signed),
				withoutSignature(assertionIn(signed)),
			);
			return withAssertion(
				signed,
				evil.replace("<saml:Subject>", `${signature}<saml:Subject>`),
			);
		},
		"XSW7: a forged assertion in Extensions": () => {
			const signed = respond();
			return signed.replace(
				"<samlp:Status>",
				`<samlp:Extensions>${evil}</samlp:Extensions><samlp:Status>`,
			);
		},
		"XSW8: the signed assertion in an object of the forged one's signature":
			() => {
				const signed = respond();
				const original = withoutSignature(assertionIn(signed));
				return withAssertion(
					signed,
					evil.replace(
						"<saml:Subject>",
						`${inSignature(signatureIn(signed), original)}<saml:Subject>`,
					),
				);
			},
		"the same id twice": () => {
			const signed = respond();
			const id = / ID="(_[^"]*)"/.exec(assertionIn(signed))?.[1];
			return withAssertion(
				signed,
				forged.replace(/ ID="[^"]*"/, ` ID="${id}"`) + assertionIn(signed),
			);
		},
		"a reference to the whole document": () => {
			const signed = respond();
			return signed.replace(/URI="#[^"]*"/, 'URI=""');
		},
	};

	test.each(Object.keys(attacks))("%s", (name) => {
		const xml = attacks[name]?.() ?? "";
		expect(xml).toContain(
			"mallory".slice(0, name.includes("reference") ? 0 : 7),
		);
		expect(refusalOf(xml)).toBe(
			name.includes("whole document")
				? "OTHER_PART_SIGNED"
				: "NOT_ONE_ASSERTION",
		);
	});

	test("RSA with SHA-256 is what these tests sign with", () => {
		expect(respond()).toContain(RSA_SHA256);
	});
});

import { describe, expect, test } from "vitest";
import type { SamlRefusal } from "../../src/sign-in/saml/refusals.ts";
import { makeKey } from "../support/certificate.ts";
import type { ResponseChanges } from "../support/saml-provider.ts";
import {
	answerUrl,
	provider,
	refusalOf,
	respond,
	verify,
} from "./saml-responses.ts";

const stranger = makeKey();

/** Says in each value that it is a string, as Entra ID, Okta and others do. */
const withTypes = (assertion: string) =>
	assertion
		.replace(
			"<saml:Assertion ",
			'<saml:Assertion xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ',
		)
		.replaceAll(
			"<saml:AttributeValue>",
			'<saml:AttributeValue xsi:type="xs:string">',
		);

describe("what is accepted", () => {
	test.each([
		"assertion",
		"response",
		"both",
	] as const)("a response whose %s is signed", (signs) => {
		const said = verify(respond({ signs }));
		expect(said).toMatchObject({
			nameId: "ada-1815",
			inResponseTo: "_request",
		});
		expect(said.attributes.get("groups")).toEqual(["Staff", "Security"]);
		expect(said.authenticatedAt?.getTime()).toBeGreaterThan(0);
	});

	test.each([
		[
			"http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
			"http://www.w3.org/2001/04/xmlenc#sha512",
		],
		[
			"http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
			"http://www.w3.org/2001/04/xmlenc#sha256",
		],
	])("%s with %s", (signatureAlgorithm, digestAlgorithm) => {
		const xml = respond({ signatureAlgorithm, digestAlgorithm });
		expect(verify(xml).nameId).toBe("ada-1815");
	});

	test("one of several certificates, while the provider replaces its key", () => {
		const certificates = [stranger.certificate, provider.key.certificate];
		expect(verify(respond(), { certificates }).nameId).toBe("ada-1815");
	});

	test("clocks that differ by less than a minute, and not more", () => {
		const now = new Date("2026-03-01T12:00:00Z");
		const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
		const day = at(86_400);
		const times = (notBefore: Date, notOnOrAfter: Date) =>
			refusalOf(respond({ notBefore, notOnOrAfter }), { now });
		expect(times(at(59), day)).toBeUndefined();
		expect(times(at(61), day)).toBe("TOO_EARLY");
		expect(times(at(-600), at(-59))).toBeUndefined();
		expect(times(at(-600), at(-60))).toBe("EXPIRED");
	});

	test("a signature whose elements have no prefix", () => {
		const xml = respond({ signaturePrefix: "" });
		expect(xml).toContain("<Signature ");
		expect(refusalOf(xml)).toBeUndefined();
	});

	test("a signature that keeps the prefix of a type within a value", () => {
		const xml = respond({ inclusivePrefixes: ["xs"], change: withTypes });
		expect(xml).toContain('PrefixList="xs"');
		expect(verify(xml).attributes.get("email")).toEqual(["ada@example.com"]);
	});

	test("a response with 1,000 groups", () => {
		const groups = Array.from({ length: 1_000 }, () => crypto.randomUUID());
		const xml = respond(
			{},
			{ nameId: "x", attributes: { email: ["a@b.c"], groups } },
		);
		expect(verify(xml).attributes.get("groups")).toEqual(groups);
	});
});

describe("what is refused", () => {
	const now = Date.now();
	test.each<[string, ResponseChanges, SamlRefusal]>([
		["no signature", { signs: "nothing" }, "UNSIGNED"],
		["a signature of another key", { key: stranger }, "OTHER_KEY"],
		["another issuer", { issuer: "https://evil.example.com" }, "OTHER_ISSUER"],
		[
			"another audience",
			{ audience: "https://other.example.com" },
			"OTHER_AUDIENCE",
		],
		["another recipient", { recipient: `${answerUrl}2` }, "OTHER_RECIPIENT"],
		[
			"another destination",
			{ destination: `${answerUrl}2` },
			"OTHER_RECIPIENT",
		],
		[
			"a time that is over",
			{ notOnOrAfter: new Date(now - 3_600_000) },
			"EXPIRED",
		],
		[
			"a time that is to come",
			{ notBefore: new Date(now + 3_600_000) },
			"TOO_EARLY",
		],
		[
			"a status that is no success",
			{ status: "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed" },
			"NO_SUCCESS",
		],
		[
			"SHA-1 in the signature",
			{ signatureAlgorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1" },
			"OTHER_ALGORITHM",
		],
		[
			"a SignedInfo with more than the usual form needs",
			{
				changeSigned: (xml) =>
					xml.replace(
						"</ds:SignedInfo>",
						`${"<x/>".repeat(9)}</ds:SignedInfo>`,
					),
			},
			"OTHER_ALGORITHM",
		],
		[
			"SHA-1 as digest",
			{ digestAlgorithm: "http://www.w3.org/2000/09/xmldsig#sha1" },
			"OTHER_ALGORITHM",
		],
		[
			"no audience",
			{
				change: (xml) =>
					xml.replace(
						/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/,
						"",
					),
			},
			"OTHER_AUDIENCE",
		],
		[
			"no end of validity",
			{ change: (xml) => xml.replace(/ NotOnOrAfter="[^"]*"/, "") },
			"BAD_TIME",
		],
		[
			"no bearer",
			{ change: (xml) => xml.replace("cm:bearer", "cm:holder-of-key") },
			"NOT_BEARER",
		],
		[
			"no statement that the person signed in",
			{
				change: (xml) =>
					xml.replace(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/, ""),
			},
			"NO_SIGN_IN",
		],
		[
			"an empty NameID",
			{ change: (xml) => xml.replace("ada-1815", "") },
			"BAD_NAME_ID",
		],
		[
			"a transient NameID",
			{
				change: (xml) =>
					xml.replace("nameid-format:persistent", "nameid-format:transient"),
			},
			"BAD_NAME_ID",
		],
		[
			"a condition that nobody here knows",
			{
				change: (xml) =>
					xml.replace(
						"</saml:Conditions>",
						"<saml:Condition/></saml:Conditions>",
					),
			},
			"UNKNOWN_CONDITION",
		],
		[
			"a second assertion",
			{ change: (xml) => xml + xml.replace(/ID="_/, 'ID="_2') },
			"NOT_ONE_ASSERTION",
		],
		[
			"an encrypted assertion",
			{
				change: (xml) =>
					`${xml}<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>`,
			},
			"ENCRYPTED",
		],
	])("%s", (_, changes, why) => {
		expect(refusalOf(respond(changes))).toBe(why);
	});

	test.each([
		[
			"a document type",
			(xml: string) => `<!DOCTYPE x [<!ENTITY y "z">]>${xml}`,
		],
		[
			"a comment in the NameID",
			(xml: string) => xml.replace("ada-1815", "ada<!-- x -->-1815"),
		],
		["CDATA", (xml: string) => xml.replace("ada-1815", "<![CDATA[ada-1815]]>")],
		[
			"a processing instruction",
			(xml: string) => xml.replace("ada-1815", "ada-1815<?x y?>"),
		],
		["an unknown entity", (xml: string) => xml.replace("ada-1815", "&x;")],
		["text that is no XML", () => "SAML"],
		["an unclosed element", (xml: string) => xml.slice(0, -10)],
		[
			"another message",
			() =>
				'<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>',
		],
		[
			"a changed address",
			(xml: string) => xml.replace("ada@example.com", "eve@example.com"),
		],
		[
			"an added attribute",
			(xml: string) =>
				xml.replace(
					"</saml:AttributeStatement>",
					'<saml:Attribute Name="x"/></saml:AttributeStatement>',
				),
		],
	])("%s", (_, change) => {
		const code = refusalOf(change(respond()));
		expect(["BROKEN_XML", "NO_RESPONSE", "OTHER_KEY"]).toContain(code);
	});

	test("a certificate that the message brings along", () => {
		const xml = respond({ key: stranger });
		expect(xml).toContain("X509Certificate");
		expect(refusalOf(xml)).toBe("OTHER_KEY");
	});
});

describe("work on a stranger's message", () => {
	test.each([
		["many elements", `<a>${"<b/>".repeat(9_000)}</a>`],
		["deep elements", "<a>".repeat(30) + "</a>".repeat(30)],
		[
			"deep elements with confusing attributes",
			`${'<a x="/>">'.repeat(3_000)}`,
		],
		[
			"many attributes",
			`<a ${Array.from({ length: 9_000 }, (_, n) => `a${n}="1"`).join(" ")}/>`,
		],
		["many namespaces", `<a>${'<b xmlns:x="y"/>'.repeat(3_000)}</a>`],
		["too many characters", `<a>${"x".repeat(200_000)}</a>`],
	])("%s is refused before a signature is looked at", (_, xml) => {
		expect(refusalOf(xml)).toBe("BROKEN_XML");
	});
});

import type { SamlRefusal } from "../../src/sign-in/saml/refusals.ts";
import type {
	PersonAtSaml,
	ResponseChanges,
} from "../support/saml-provider.ts";

/** The person in whose name the forged assertions are. */
export const MALLORY = {
	nameId: "mallory",
	attributes: { email: ["ada@example.com"], groups: ["Security"] },
};

/** Makes a response of the provider, for somebody who may sign in by default. */
type Respond = (changes?: ResponseChanges, person?: PersonAtSaml) => string;

interface Wrapping {
	/** Returns a forged response, which contains a signed one. */
	wrap: (respond: Respond) => string;
	code: SamlRefusal;
}

const assertionIn = (xml: string) =>
	/<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] as string;
const signatureIn = (xml: string) =>
	/<ds:Signature .*?<\/ds:Signature>/s.exec(xml)?.[0] as string;
const inside = (parent: string, child: string) =>
	parent.replace("</saml:Assertion>", `${child}</saml:Assertion>`);
const withoutSignature = (xml: string) => xml.replace(signatureIn(xml), "");
const inSignature = (signature: string, content: string) =>
	signature.replace("</ds:Signature>", `${content}</ds:Signature>`);
const withAssertion = (xml: string, assertion: string) =>
	xml.replace(assertionIn(xml), assertion);
const beforeSubject = (assertion: string, more: string) =>
	assertion.replace("<saml:Subject>", `${more}<saml:Subject>`);
const beforeStatus = (response: string, more: string) =>
	response.replace("<samlp:Status>", `${more}<samlp:Status>`);

const forgedBy = (respond: Respond) =>
	assertionIn(respond({ signs: "nothing" }, MALLORY));
const evilBy = (respond: Respond) =>
	forgedBy(respond).replace(/ ID="[^"]*"/, ' ID="_evil"');
/** Returns a forged response around an evil assertion, and the signed response that it hides. */
function evilResponse(respond: Respond): { evil: string; signed: string } {
	const signed = respond({ signs: "response" });
	const evil = withAssertion(withoutSignature(signed), evilBy(respond));
	return {
		evil: evil.replace(
			/(<samlp:Response [^>]*) ID="[^"]*"/,
			'$1 ID="_evil-response"',
		),
		signed,
	};
}

/**
 * The eight ways to wrap a signed message into a forged one (Somorovsky and others, "On Breaking SAML",
 * 2012), and two more. Each keeps the signed element somewhere, where its signature still finds it.
 */
export const WRAPPINGS: Readonly<Record<string, Wrapping>> = {
	"XSW1: the signed response in the signature of a forged one": {
		code: "NOT_ONE_ASSERTION",
		wrap: (respond) => {
			const { evil, signed } = evilResponse(respond);
			const signature = inSignature(
				signatureIn(signed),
				withoutSignature(signed),
			);
			return beforeStatus(evil, signature);
		},
	},
	"XSW2: the signed response before its signature in a forged one": {
		code: "NOT_ONE_ASSERTION",
		wrap: (respond) => {
			const { evil, signed } = evilResponse(respond);
			return beforeStatus(evil, withoutSignature(signed) + signatureIn(signed));
		},
	},
	"XSW3: a forged assertion before the signed one": {
		code: "NOT_ONE_ASSERTION",
		wrap: (respond) => {
			const signed = respond();
			return withAssertion(signed, evilBy(respond) + assertionIn(signed));
		},
	},
	"XSW4: the signed assertion in a forged one": {
		code: "NOT_ONE_ASSERTION",
		wrap: (respond) => {
			const signed = respond();
			return withAssertion(
				signed,
				inside(evilBy(respond), assertionIn(signed)),
			);
		},
	},
	"XSW5: a forged assertion with the signature, and the signed one at the end":
		{
			code: "NOT_ONE_ASSERTION",
			wrap: (respond) => {
				const signed = respond();
				const evil = beforeSubject(evilBy(respond), signatureIn(signed));
				return withAssertion(
					signed,
					evil + withoutSignature(assertionIn(signed)),
				);
			},
		},
	"XSW6: the signed assertion in the signature of a forged one": {
		code: "NOT_ONE_ASSERTION",
		wrap: (respond) => {
			const signed = respond();
			const original = withoutSignature(assertionIn(signed));
			const signature = inSignature(signatureIn(signed), original);
			return withAssertion(signed, beforeSubject(evilBy(respond), signature));
		},
	},
	"XSW7: a forged assertion in Extensions": {
		code: "NOT_ONE_ASSERTION",
		wrap: (respond) =>
			beforeStatus(
				respond(),
				`<samlp:Extensions>${evilBy(respond)}</samlp:Extensions>`,
			),
	},
	"XSW8: the signed assertion in an object of the forged one's signature": {
		code: "NOT_ONE_ASSERTION",
		wrap: (respond) => {
			const signed = respond();
			const original = withoutSignature(assertionIn(signed));
			const signature = inSignature(
				signatureIn(signed),
				`<ds:Object>${original}</ds:Object>`,
			);
			return withAssertion(signed, beforeSubject(evilBy(respond), signature));
		},
	},
	"the same id twice": {
		code: "NOT_ONE_ASSERTION",
		wrap: (respond) => {
			const signed = respond();
			const id = / ID="(_[^"]*)"/.exec(assertionIn(signed))?.[1];
			const evil = forgedBy(respond).replace(/ ID="[^"]*"/, ` ID="${id}"`);
			return withAssertion(signed, evil + assertionIn(signed));
		},
	},
	"a reference to the whole document": {
		code: "OTHER_PART_SIGNED",
		wrap: (respond) => {
			const signed = respond({}, MALLORY);
			return signed.replace(/URI="#[^"]*"/, 'URI=""');
		},
	},
};

import { constants, verify } from "node:crypto";
import { RefusedAnswer, refuseUnless } from "./refusals.ts";
import {
	childrenNamed,
	childrenOf,
	elementsIn,
	isNamed,
	onlyChild,
	parseXml,
	textOf,
} from "./safe-xml.ts";
import {
	canonicalForm,
	type Element,
	makeSignatureCheck,
} from "./xml-libraries.ts";

export const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
export const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
export const DSIG = "http://www.w3.org/2000/09/xmldsig#";
const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";
const ENVELOPED = `${DSIG}enveloped-signature`;
const SIGNATURES = [
	"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
	"http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
	"http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
];
const DIGESTS = [
	"http://www.w3.org/2001/04/xmlenc#sha256",
	"http://www.w3.org/2001/04/xmlenc#sha512",
];

/** Largest number of elements in SignedInfo. The usual form has ten. */
const MAX_SIGNED_INFO = 12;

/**
 * Returns the assertion of a response, parsed a second time from the bytes that its signature or the
 * signature of the response covers. Nothing that was wrapped around these bytes can be read from it.
 * Throws a RefusedAnswer or an UnsafeXml.
 */
export function signedAssertion(
	xml: string,
	response: Element,
	certificates: readonly string[],
): Element {
	requirePlain(response);
	const assertion = onlyChild(response, ASSERTION, "Assertion");
	const covered = [response, assertion].flatMap((element) => {
		const signatures = childrenNamed(element, DSIG, "Signature");
		refuseUnless(signatures.length <= 1, "MISPLACED_SIGNATURE");
		return signatures.map((signature) =>
			verifySignature(xml, element, signature, certificates),
		);
	});
	// If both are signed, both signatures must fit, and the one of the assertion is the last.
	const innermost = covered.at(-1);
	refuseUnless(innermost !== undefined, "UNSIGNED");
	return isNamed(innermost, PROTOCOL, "Response")
		? onlyChild(innermost, ASSERTION, "Assertion")
		: innermost;
}

/**
 * Throws unless the response has one assertion, in the one place where it belongs, with signatures
 * only where they belong, and no id twice. A response that was wrapped around a signed assertion has
 * two assertions, or one in another place.
 */
function requirePlain(response: Element): void {
	const all = elementsIn(response);
	refuseUnless(
		!all.some((one) => one.localName === "EncryptedAssertion"),
		"ENCRYPTED",
	);
	const assertions = all.filter((one) => one.localName === "Assertion");
	const [assertion] = assertions;
	refuseUnless(
		assertions.length === 1 &&
			assertion?.namespaceURI === ASSERTION &&
			assertion.parentNode === response,
		"NOT_ONE_ASSERTION",
	);
	for (const signature of all.filter((one) => one.localName === "Signature")) {
		const { parentNode } = signature;
		refuseUnless(
			signature.namespaceURI === DSIG &&
				(parentNode === response || parentNode === assertion),
			"MISPLACED_SIGNATURE",
		);
	}
	const ids = all.flatMap((one) =>
		["ID", "Id", "id"].flatMap((name) => one.getAttribute(name) || []),
	);
	refuseUnless(new Set(ids).size === ids.length, "MISPLACED_SIGNATURE");
}

/** Returns what the signature of an element covers: this element, parsed from the signed bytes. */
function verifySignature(
	xml: string,
	element: Element,
	signature: Element,
	certificates: readonly string[],
): Element {
	requireUsualForm(element, signature);
	const certificate = certificates.find((one) => mayHaveSigned(one, signature));
	if (certificate === undefined) throw new RefusedAnswer("OTHER_KEY");
	const bytes = signedBytes(xml, signature, certificate);
	if (bytes === undefined) throw new RefusedAnswer("OTHER_KEY");
	const covered = parseXml(bytes);
	refuseUnless(
		covered.localName === element.localName &&
			covered.namespaceURI === element.namespaceURI &&
			covered.getAttribute("ID") === element.getAttribute("ID"),
		"OTHER_PART_SIGNED",
	);
	return covered;
}

/**
 * Returns true if the key of the certificate made the value of the signature. The digest of the signed
 * part is not compared, which takes most of the time: `signedBytes` does it, and checks everything
 * again. Strangers have no such signature, so their messages are refused here.
 */
function mayHaveSigned(certificate: string, signature: Element): boolean {
	const info = onlyChild(signature, DSIG, "SignedInfo");
	const value = onlyChild(signature, DSIG, "SignatureValue");
	const algorithm = onlyChild(info, DSIG, "SignatureMethod").getAttribute(
		"Algorithm",
	);
	return verify(
		algorithm?.endsWith("sha512") ? "sha512" : "sha256",
		Buffer.from(canonicalForm(info)),
		{
			key: certificate,
			padding: algorithm?.endsWith("MGF1")
				? constants.RSA_PKCS1_PSS_PADDING
				: constants.RSA_PKCS1_PADDING,
		},
		Buffer.from(textOf(value), "base64"),
	);
}

/** Throws unless the signature covers exactly the element that contains it, in the usual form. */
function requireUsualForm(element: Element, signature: Element): void {
	const info = onlyChild(signature, DSIG, "SignedInfo");
	const reference = onlyChild(info, DSIG, "Reference");
	const id = element.getAttribute("ID");
	refuseUnless(
		Boolean(id) && reference.getAttribute("URI") === `#${id}`,
		"OTHER_PART_SIGNED",
	);
	const algorithmOf = (parent: Element, name: string) =>
		onlyChild(parent, DSIG, name).getAttribute("Algorithm") ?? "";
	const transforms = childrenNamed(
		onlyChild(reference, DSIG, "Transforms"),
		DSIG,
		"Transform",
	).map((one) => one.getAttribute("Algorithm"));
	const allowed: [string, boolean][] = [
		[
			"CanonicalizationMethod",
			algorithmOf(info, "CanonicalizationMethod") === EXCLUSIVE &&
				childrenOf(onlyChild(info, DSIG, "CanonicalizationMethod")).length ===
					0,
		],
		[
			"SignatureMethod",
			SIGNATURES.includes(algorithmOf(info, "SignatureMethod")),
		],
		["DigestMethod", DIGESTS.includes(algorithmOf(reference, "DigestMethod"))],
		["SignedInfo", elementsIn(info).length <= MAX_SIGNED_INFO],
		["Transforms", transforms.join(" ") === `${ENVELOPED} ${EXCLUSIVE}`],
	];
	for (const [name, isAllowed] of allowed) {
		refuseUnless(isAllowed, "OTHER_ALGORITHM", name);
	}
}

/** Returns the bytes that the signature covers, or undefined if the certificate does not fit. */
function signedBytes(
	xml: string,
	signature: Element,
	certificate: string,
): string | undefined {
	const checked = makeSignatureCheck(certificate);
	try {
		checked.loadSignature(signature);
		if (!checked.checkSignature(xml)) return undefined;
	} catch {
		return undefined;
	}
	const [bytes, ...others] = checked.getSignedReferences();
	return others.length === 0 ? bytes : undefined;
}

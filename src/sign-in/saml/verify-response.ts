import { RefusedAnswer, refuseUnless } from "./refusals.ts";
import {
	childrenNamed,
	childrenOf,
	isNamed,
	onlyChild,
	parseXml,
	textOf,
	UnsafeXml,
} from "./safe-xml.ts";
import { ASSERTION, PROTOCOL, signedAssertion } from "./signed-assertion.ts";
import type { Element } from "./xml-libraries.ts";

const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";
const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";
const KNOWN_CONDITIONS = [
	"AudienceRestriction",
	// Every assertion is used only once.
	"OneTimeUse",
	// Assay issues no assertions of its own.
	"ProxyRestriction",
];

/** Difference of the two clocks, in milliseconds, that makes no assertion invalid. */
const CLOCK_TOLERANCE_MS = 60_000;
const MAX_NAME_ID = 256;

export interface Expected {
	/** Entity id of the provider. */
	issuer: string;
	/** Entity id of this service. */
	audience: string;
	/** Address of this service to which the response was sent. */
	recipient: string;
	/** Certificates of the provider, in PEM. One of them must have signed. */
	certificates: readonly string[];
	now: Date;
}

/** What a verified assertion says. */
export interface Assertion {
	id: string;
	/** Id of our request that it answers. Undefined: the provider sent it unasked. */
	inResponseTo: string | undefined;
	nameId: string;
	attributes: ReadonlyMap<string, readonly string[]>;
	authenticatedAt: Date | undefined;
}

/**
 * Returns what a response says (SAML 2.0 Core, and Profiles section 4.1.4.3). Whatever decides who
 * signs in comes from the signed bytes. Throws a RefusedAnswer.
 */
export function verifyResponse(xml: string, expected: Expected): Assertion {
	try {
		const response = parseXml(xml);
		refuseUnless(isNamed(response, PROTOCOL, "Response"), "NO_RESPONSE");
		requireSuccess(response);
		const assertion = signedAssertion(xml, response, expected.certificates);
		const destination = response.getAttribute("Destination");
		refuseUnless(
			!destination || destination === expected.recipient,
			"OTHER_RECIPIENT",
		);
		for (const issuer of childrenNamed(response, ASSERTION, "Issuer")) {
			refuseUnless(textOf(issuer) === expected.issuer, "OTHER_ISSUER");
		}
		return readAssertion(assertion, expected);
	} catch (error) {
		throw error instanceof UnsafeXml
			? new RefusedAnswer("BROKEN_XML", error.message)
			: error;
	}
}

function requireSuccess(response: Element): void {
	const status = onlyChild(response, PROTOCOL, "Status");
	const code = onlyChild(status, PROTOCOL, "StatusCode");
	const value = code.getAttribute("Value");
	const reasons = [code, ...childrenNamed(code, PROTOCOL, "StatusCode")].map(
		(one) => one.getAttribute("Value")?.split(":").at(-1)?.slice(0, 50),
	);
	refuseUnless(value === SUCCESS, "NO_SUCCESS", reasons.join(", "));
}

function readAssertion(
	assertion: Element,
	{ issuer, audience, recipient, now }: Expected,
): Assertion {
	const version = assertion.getAttribute("Version");
	refuseUnless(version === "2.0", "NO_RESPONSE");
	refuseUnless(
		textOf(onlyChild(assertion, ASSERTION, "Issuer")) === issuer,
		"OTHER_ISSUER",
	);
	requireConditions(assertion, audience, now);
	const subject = onlyChild(assertion, ASSERTION, "Subject");
	const confirmation = onlyChild(subject, ASSERTION, "SubjectConfirmation");
	const method = confirmation.getAttribute("Method");
	refuseUnless(method === BEARER, "NOT_BEARER");
	const data = onlyChild(confirmation, ASSERTION, "SubjectConfirmationData");
	refuseUnless(data.getAttribute("Recipient") === recipient, "OTHER_RECIPIENT");
	refuseUnless(timeOf(data, "NotOnOrAfter") !== undefined, "BAD_TIME");
	requireTime(data, now);
	const [statement] = childrenNamed(assertion, ASSERTION, "AuthnStatement");
	refuseUnless(statement !== undefined, "NO_SIGN_IN");
	return {
		id: assertion.getAttribute("ID") ?? "",
		inResponseTo: data.getAttribute("InResponseTo") || undefined,
		nameId: readNameId(subject),
		attributes: readAttributes(assertion),
		authenticatedAt: timeOf(statement, "AuthnInstant"),
	};
}

function requireConditions(
	assertion: Element,
	audience: string,
	now: Date,
): void {
	const conditions = onlyChild(assertion, ASSERTION, "Conditions");
	requireTime(conditions, now);
	for (const { namespaceURI, localName } of childrenOf(conditions)) {
		refuseUnless(
			namespaceURI === ASSERTION && KNOWN_CONDITIONS.includes(localName),
			"UNKNOWN_CONDITION",
			localName.slice(0, 50),
		);
	}
	const restrictions = childrenNamed(
		conditions,
		ASSERTION,
		"AudienceRestriction",
	);
	const isForUs = (restriction: Element) =>
		childrenNamed(restriction, ASSERTION, "Audience").some(
			(one) => textOf(one) === audience,
		);
	refuseUnless(
		restrictions.length > 0 && restrictions.every(isForUs),
		"OTHER_AUDIENCE",
	);
}

function readNameId(subject: Element): string {
	const nameId = onlyChild(subject, ASSERTION, "NameID");
	const name = textOf(nameId);
	refuseUnless(
		nameId.getAttribute("Format") !== TRANSIENT &&
			name !== "" &&
			name.length <= MAX_NAME_ID,
		"BAD_NAME_ID",
	);
	return name;
}

/** Throws if it is too early or too late. */
function requireTime(element: Element, now: Date): void {
	const start = timeOf(element, "NotBefore")?.getTime() ?? 0;
	const end = timeOf(element, "NotOnOrAfter")?.getTime() ?? Infinity;
	refuseUnless(start <= now.getTime() + CLOCK_TOLERANCE_MS, "TOO_EARLY");
	refuseUnless(end > now.getTime() - CLOCK_TOLERANCE_MS, "EXPIRED");
}

function timeOf(element: Element, name: string): Date | undefined {
	const text = element.getAttribute(name);
	if (!text) return undefined;
	const isTime =
		/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text);
	const time = new Date(isTime ? text : Number.NaN);
	refuseUnless(!Number.isNaN(time.getTime()), "BAD_TIME", name);
	return time;
}

/** Returns the attributes by their names, and by their friendly names if they have any. */
function readAttributes(assertion: Element): Map<string, string[]> {
	const found = new Map<string, string[]>();
	const attributes = childrenNamed(
		assertion,
		ASSERTION,
		"AttributeStatement",
	).flatMap((one) => childrenNamed(one, ASSERTION, "Attribute"));
	for (const attribute of attributes) {
		const values = childrenNamed(attribute, ASSERTION, "AttributeValue")
			.filter((value) => childrenOf(value).length === 0)
			.map(textOf);
		const names = ["Name", "FriendlyName"].map((key) =>
			attribute.getAttribute(key),
		);
		for (const name of new Set(names)) {
			if (!name) continue;
			const known = found.get(name);
			if (known) known.push(...values);
			else found.set(name, [...values]);
		}
	}
	return found;
}

import { createRequire } from "node:module";

// The types of these libraries declare everything that browsers have, for the whole service. That
// would hide mistakes elsewhere, so the few parts that we use are typed here. The libraries are loaded
// when the first message is read.
const require = createRequire(import.meta.url);

/** An element of a parsed document. */
export interface Element {
	readonly nodeType: number;
	readonly localName: string;
	readonly namespaceURI: string | null;
	readonly parentNode: Element | null;
	readonly childNodes: ArrayLike<Element> | null;
	readonly textContent: string | null;
	getAttribute(name: string): string | null;
}

type Report = (message: string) => void;

interface Parser {
	parseFromString(
		text: string,
		type: string,
	): { documentElement: Element | null } | undefined;
}

export interface SignatureCheck {
	loadSignature(signature: Element): void;
	/** Throws, or returns false, unless the signature fits. */
	checkSignature(xml: string): boolean;
	/** Returns the signed parts in canonical form. */
	getSignedReferences(): string[];
}

/** Makes a parser that reports what is wrong to `report`. */
export function makeParser(report: Report): Parser {
	const { DOMParser } = require("@xmldom/xmldom") as {
		DOMParser: new (options: object) => Parser;
	};
	return new DOMParser({
		errorHandler: { warning: report, error: report, fatalError: report },
	});
}

/** Returns an element in the form of exclusive XML canonicalization, without a list of prefixes. */
export function canonicalForm(element: Element): string {
	const { ExclusiveCanonicalization } = require("xml-crypto") as {
		ExclusiveCanonicalization: new () => {
			process(element: Element, options: object): string;
		};
	};
	return new ExclusiveCanonicalization().process(element, {});
}

/** Makes a check of signatures that trusts only this certificate. */
export function makeSignatureCheck(certificate: string): SignatureCheck {
	const { SignedXml } = require("xml-crypto") as {
		SignedXml: new (options: object) => SignatureCheck;
	};
	return new SignedXml({
		publicCert: certificate,
		// A key that the message brings along proves nothing.
		getCertFromKeyInfo: () => null,
	});
}

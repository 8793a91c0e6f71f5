import { type Element, makeParser } from "./xml-libraries.ts";

/** Largest document, in characters. A response with 1,000 groups has about 100,000. */
export const MAX_XML = 192 * 1024;
/** Largest number of elements. */
const MAX_ELEMENTS = 2_500;
/** Largest number of declarations of namespaces. The parser copies all of them for each one. */
const MAX_NAMESPACES = 2_500;
/** Largest number of attributes in the document, and of one element. */
const MAX_ALL_ATTRIBUTES = 5_000;
const MAX_ATTRIBUTES = 50;
const MAX_DEPTH = 25;

/** The document has a form that no message of SAML needs. */
export class UnsafeXml extends Error {}

/**
 * Parses an XML document from a stranger. Refuses document types, entities, comments, CDATA and
 * processing instructions, which no message of SAML needs: they are the means of most attacks on XML.
 * The limits keep the time linear in the size. Throws an UnsafeXml.
 */
export function parseXml(text: string): Element {
	if (text.length > MAX_XML) {
		throw new UnsafeXml(`the XML has more than ${MAX_XML} characters`);
	}
	const body = text.replace(/^\uFEFF?<\?xml [^<>?]{0,100}\?>/, "");
	if (/<[!?]/.test(body)) {
		throw new UnsafeXml(
			"the XML contains a document type, a comment, CDATA or a processing instruction",
		);
	}
	// Neither text nor the value of an attribute may contain "<", so each part has one tag.
	const tags = body.split("<");
	if (tags.length > 2 * MAX_ELEMENTS) {
		throw new UnsafeXml(`the XML has more than ${MAX_ELEMENTS} elements`);
	}
	if (body.split("xmlns").length > MAX_NAMESPACES) {
		throw new UnsafeXml("the XML declares too many namespaces");
	}
	// The parser compares each attribute with all others of its element.
	if (
		tags.some(
			(tag) => tag.split("=", MAX_ATTRIBUTES + 1).length > MAX_ATTRIBUTES,
		)
	) {
		throw new UnsafeXml("an element has too many attributes");
	}
	if (body.split(/=\s?["']/).length > MAX_ALL_ATTRIBUTES) {
		throw new UnsafeXml("the XML has too many attributes");
	}
	const root = parse(body);
	requireLimitedDepth(root);
	return root;
}

function parse(text: string): Element {
	// The parser's own words quote the text, which may hold names and addresses, so nobody sees them.
	const refuse = (): never => {
		throw new UnsafeXml("the XML is not well-formed");
	};
	try {
		const parsed = makeParser(refuse).parseFromString(text, "text/xml");
		return parsed?.documentElement ?? refuse();
	} catch {
		return refuse();
	}
}

/** The canonical form is made recursively, so deep documents would overflow the stack. */
function requireLimitedDepth(root: Element): void {
	let level = [root];
	for (let depth = 1; level.length > 0; depth++) {
		if (depth > MAX_DEPTH) {
			throw new UnsafeXml(`the XML is nested deeper than ${MAX_DEPTH}`);
		}
		level = level.flatMap(childrenOf);
	}
}

/** Returns the element and all elements in it. */
export function elementsIn(element: Element): Element[] {
	return [element, ...childrenOf(element).flatMap(elementsIn)];
}

export function childrenOf(element: Element): Element[] {
	return Array.from(element.childNodes ?? []).filter(
		(node): node is Element => node.nodeType === 1,
	);
}

/** Returns the children with this name. */
export function childrenNamed(
	element: Element,
	namespace: string,
	name: string,
): Element[] {
	return childrenOf(element).filter((child) => isNamed(child, namespace, name));
}

/** Returns the only child with this name. Throws if there are none or several. */
export function onlyChild(
	element: Element,
	namespace: string,
	name: string,
): Element {
	const [child, ...others] = childrenNamed(element, namespace, name);
	if (child && others.length === 0) return child;
	throw new UnsafeXml(
		`${element.localName} must have exactly one ${name}, not ${child ? others.length + 1 : 0}`,
	);
}

export function isNamed(
	element: Element,
	namespace: string,
	name: string,
): boolean {
	return element.namespaceURI === namespace && element.localName === name;
}

/** Returns the text of an element that has no other elements in it. */
export function textOf(element: Element): string {
	if (childrenOf(element).length > 0) {
		throw new UnsafeXml(`${element.localName} must contain only text`);
	}
	return (element.textContent ?? "").trim();
}

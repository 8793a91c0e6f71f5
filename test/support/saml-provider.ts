import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { inflateRawSync } from "node:zlib";
import { makeKey, type TestKey } from "./certificate.ts";

// The types of the library would make those of browsers known everywhere.
const { SignedXml } = createRequire(import.meta.url)("xml-crypto") as {
	SignedXml: new (
		options: object,
	) => {
		addReference(reference: object): void;
		computeSignature(xml: string, options: object): void;
		getSignedXml(): string;
	};
};

export interface PersonAtSaml {
	nameId: string;
	format?: string;
	attributes?: Record<string, string[]>;
}

/** What is wrong about a response that a test makes. Nothing by default. */
export interface ResponseChanges {
	issuer?: string;
	audience?: string;
	recipient?: string;
	destination?: string;
	inResponseTo?: string | null;
	notBefore?: Date;
	notOnOrAfter?: Date;
	status?: string;
	key?: TestKey;
	/** What is signed: the assertion, the whole response, both or nothing. */
	signs?: "assertion" | "response" | "both" | "nothing";
	signatureAlgorithm?: string;
	digestAlgorithm?: string;
	/** Prefix of the elements of the signature. */
	signaturePrefix?: string;
	/** Prefixes that exclusive canonicalization keeps although no name uses them. */
	inclusivePrefixes?: string[];
	/** Changes the response after it is signed. */
	changeSigned?: (response: string) => string;
	/** Changes the assertion before it is signed. */
	change?: (assertion: string) => string;
}

export interface Asked {
	id: string;
	issuer: string;
	answerUrl: string;
	forcesAuthentication: boolean;
}

export const RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
export const SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256";
const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";
const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";

/** The key that each provider of this process begins with, because making one takes 0.2 s. */
let firstKey: TestKey | undefined;

/** A SAML identity provider. Tests call it as a browser would, or start a server with its page. */
export class SamlProvider {
	readonly entityId: string;
	readonly signInUrl: string;
	key: TestKey;

	constructor(origin = "https://login.example.com") {
		firstKey ??= makeKey();
		this.key = firstKey;
		this.entityId = `${origin}/saml`;
		this.signInUrl = `${origin}/saml/sign-in?tenant=1`;
	}

	metadata(keys: readonly TestKey[] = [this.key]): string {
		const certificates = keys.map(
			({ certificate }) =>
				`<KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificate.replace(/-----[A-Z ]+-----/g, "")}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`,
		);
		const binding = "urn:oasis:names:tc:SAML:2.0:bindings:";
		return `<?xml version="1.0" encoding="UTF-8"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${this.entityId}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${certificates.join("")}<SingleLogoutService Binding="${binding}HTTP-Redirect" Location="https://login.example.com/out"/><SingleSignOnService Binding="${binding}HTTP-POST" Location="https://login.example.com/post"/><SingleSignOnService Binding="${binding}HTTP-Redirect" Location="${this.signInUrl.replace("&", "&amp;")}"/></IDPSSODescriptor></EntityDescriptor>`;
	}

	/** Reads the request with which the service sent the browser here. */
	read(address: URL): Asked {
		const given = address.searchParams.get("SAMLRequest") ?? "";
		const xml = inflateRawSync(Buffer.from(given, "base64")).toString();
		const find = (pattern: RegExp) => pattern.exec(xml)?.[1] ?? "";
		return {
			id: find(/ ID="([^"]*)"/),
			issuer: find(/<saml:Issuer>([^<]*)</),
			answerUrl: find(/AssertionConsumerServiceURL="([^"]*)"/),
			forcesAuthentication: xml.includes('ForceAuthn="true"'),
		};
	}

	/** Returns the XML of the response for a person. */
	respond(
		asked: Asked,
		person: PersonAtSaml,
		changes: ResponseChanges = {},
	): string {
		const now = Date.now();
		const inResponseTo =
			changes.inResponseTo === undefined ? asked.id : changes.inResponseTo;
		const answers = inResponseTo ? ` InResponseTo="${inResponseTo}"` : "";
		const time = (at: Date | number) => new Date(at).toISOString();
		const notBefore = time(changes.notBefore ?? now - 1_000);
		const end = time(changes.notOnOrAfter ?? now + 300_000);
		const issuer = changes.issuer ?? this.entityId;
		const id = () => `_${crypto.randomUUID()}`;
		const attributes = Object.entries(person.attributes ?? {}).map(
			([name, values]) =>
				`<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join("")}</saml:Attribute>`,
		);
		const assertion = `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id()}" Version="2.0" IssueInstant="${time(now)}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${person.format ?? "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"}">${person.nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData Recipient="${changes.recipient ?? asked.answerUrl}" NotOnOrAfter="${end}"${answers}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${notBefore}" NotOnOrAfter="${end}"><saml:AudienceRestriction><saml:Audience>${changes.audience ?? asked.issuer}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${time(now)}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>${attributes.length > 0 ? `<saml:AttributeStatement>${attributes.join("")}</saml:AttributeStatement>` : ""}</saml:Assertion>`;
		const response = `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${id()}" Version="2.0" IssueInstant="${time(now)}" Destination="${changes.destination ?? asked.answerUrl}"${answers}><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${changes.status ?? SUCCESS}"/></samlp:Status>${changes.change?.(assertion) ?? assertion}</samlp:Response>`;
		const signs = changes.signs ?? "assertion";
		const inner =
			signs === "assertion" || signs === "both"
				? this.#sign(response, "Assertion", changes)
				: response;
		const outer =
			signs === "response" || signs === "both"
				? this.#sign(inner, "Response", changes)
				: inner;
		return changes.changeSigned?.(outer) ?? outer;
	}

	#sign(
		xml: string,
		name: string,
		{
			key = this.key,
			signatureAlgorithm = RSA_SHA256,
			digestAlgorithm = SHA256,
			inclusivePrefixes = [],
			signaturePrefix = "ds",
		}: ResponseChanges,
	): string {
		const path = `//*[local-name(.)='${name}']`;
		const signature = new SignedXml({
			privateKey: key.privateKey,
			publicCert: key.certificate,
			signatureAlgorithm,
			canonicalizationAlgorithm: EXCLUSIVE,
		});
		signature.addReference({
			xpath: path,
			transforms: [
				"http://www.w3.org/2000/09/xmldsig#enveloped-signature",
				EXCLUSIVE,
			],
			digestAlgorithm,
			inclusiveNamespacesPrefixList: inclusivePrefixes,
		});
		signature.computeSignature(xml, {
			prefix: signaturePrefix,
			location: {
				reference: `${path}/*[local-name(.)='Issuer']`,
				action: "after",
			},
		});
		return signature.getSignedXml();
	}
}

export interface SamlServer {
	provider: SamlProvider;
	origin: string;
	/** Chooses who is signed in, and what is wrong about the response. */
	signInAs: (person: PersonAtSaml, changes?: ResponseChanges) => void;
	close: () => Promise<void>;
}

/**
 * Starts a web server with the page of a SAML provider. The page has a button that sends the response
 * to the service, as the pages of real providers do. Its address is not on the site of the service.
 */
export async function startSamlServer(): Promise<SamlServer> {
	let next: { person: PersonAtSaml; changes: ResponseChanges } | undefined;
	const server = createServer((request, response) => {
		const asked = provider.read(new URL(request.url ?? "/", origin));
		const xml = next && provider.respond(asked, next.person, next.changes);
		const value = Buffer.from(xml ?? "").toString("base64");
		response.setHeader("content-type", "text/html; charset=utf-8");
		response.end(`<!doctype html><html lang="en"><head><title>Example Inc.</title>
<link rel="icon" href="data:,"></head><body><h1>Example Inc.</h1>
<form method="post" action="${asked.answerUrl}"><input type="hidden" name="SAMLResponse" value="${value}">
<button>Continue as Ada</button></form></body></html>`);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const provider = new SamlProvider(origin);
	return {
		provider,
		origin,
		signInAs: (person, changes = {}) => {
			next = { person, changes };
		},
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

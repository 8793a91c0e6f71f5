import { deflateRawSync } from "node:zlib";
import { ASSERTION, PROTOCOL } from "./signed-assertion.ts";

const POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";

/** How this service is known to a provider. */
export interface ServiceProvider {
	entityId: string;
	/** Address to which the browser brings the provider's answer. */
	answerUrl: string;
}

/** Returns the address that asks the provider to sign the person in (HTTP-Redirect binding). */
export function signInAddress(
	signInUrl: string,
	{ entityId, answerUrl }: ServiceProvider,
	{
		id,
		mustAuthenticate,
		at,
	}: { id: string; mustAuthenticate: boolean; at: Date },
): string {
	const request = `<samlp:AuthnRequest xmlns:samlp="${PROTOCOL}" xmlns:saml="${ASSERTION}" ID="${escapeXml(id)}" Version="2.0" IssueInstant="${at.toISOString()}" Destination="${escapeXml(signInUrl)}" AssertionConsumerServiceURL="${escapeXml(answerUrl)}" ProtocolBinding="${POST}"${mustAuthenticate ? ' ForceAuthn="true"' : ""}><saml:Issuer>${escapeXml(entityId)}</saml:Issuer></samlp:AuthnRequest>`;
	const url = new URL(signInUrl);
	url.searchParams.set(
		"SAMLRequest",
		deflateRawSync(request).toString("base64"),
	);
	return url.href;
}

/** Returns the metadata of this service for a provider. */
export function serviceMetadata({
	entityId,
	answerUrl,
}: ServiceProvider): string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escapeXml(entityId)}">
  <md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="${PROTOCOL}">
    <md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>
    <md:AssertionConsumerService Binding="${POST}" Location="${escapeXml(answerUrl)}" index="0" isDefault="true"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`;
}

function escapeXml(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;")
		.replaceAll('"', "&quot;");
}

import { isSecureAddress } from "../issuer.ts";
import { certificateIn, MAX_CERTIFICATES } from "./certificates.ts";
import {
	childrenNamed,
	elementsIn,
	isNamed,
	onlyChild,
	parseXml,
	textOf,
	UnsafeXml,
} from "./safe-xml.ts";
import { DSIG } from "./signed-assertion.ts";

const METADATA = "urn:oasis:names:tc:SAML:2.0:metadata";
const REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";

/** What a provider's metadata says about it. */
export interface SamlSettings {
	issuer: string;
	sign_in_url: string;
	certificates: string[];
}

/** Reads the metadata of an identity provider (SAML 2.0 Metadata). Throws an UnsafeXml. */
export function readMetadata(xml: string): SamlSettings {
	const root = parseXml(withoutComments(xml).trim());
	const entity = isNamed(root, METADATA, "EntitiesDescriptor")
		? onlyChild(root, METADATA, "EntityDescriptor")
		: root;
	if (!isNamed(entity, METADATA, "EntityDescriptor")) {
		throw new UnsafeXml("it is not metadata of SAML 2.0");
	}
	const provider = onlyChild(entity, METADATA, "IDPSSODescriptor");
	const issuer = entity.getAttribute("entityID") ?? "";
	if (issuer === "" || issuer.length > 500) {
		throw new UnsafeXml("its entityID must have 1 to 500 characters");
	}
	const signInUrl = childrenNamed(provider, METADATA, "SingleSignOnService")
		.filter((one) => one.getAttribute("Binding") === REDIRECT)
		.map((one) => one.getAttribute("Location") ?? "")
		.find((url) => url.length <= 2000 && isSecureAddress(url));
	if (!signInUrl) {
		throw new UnsafeXml(
			"it names no https address for signing in with the binding HTTP-Redirect",
		);
	}
	const certificates = childrenNamed(provider, METADATA, "KeyDescriptor")
		.filter((key) => key.getAttribute("use") !== "encryption")
		.flatMap((key) =>
			elementsIn(key).filter((one) => isNamed(one, DSIG, "X509Certificate")),
		)
		.map((one) => certificateIn(textOf(one)));
	const distinct = [...new Set(certificates)].filter(
		(one) => one !== undefined,
	);
	if (certificates.includes(undefined)) {
		throw new UnsafeXml(
			"one of its certificates is broken, or has no RSA key of at least 2048 bits",
		);
	}
	if (distinct.length === 0 || distinct.length > MAX_CERTIFICATES) {
		throw new UnsafeXml(
			`it must name 1 to ${MAX_CERTIFICATES} certificates for signatures`,
		);
	}
	return {
		issuer,
		sign_in_url: signInUrl,
		certificates: distinct,
	};
}

/** Some providers explain their metadata in comments. An administrator sees what was read. */
function withoutComments(xml: string): string {
	const [start = "", ...others] = xml.split("<!--");
	const kept = others.map((part) => {
		const end = part.indexOf("-->");
		return end < 0 ? `<!--${part}` : part.slice(end + "-->".length);
	});
	return start + kept.join("");
}

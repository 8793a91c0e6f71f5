import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { certificateIn } from "../../src/sign-in/saml/certificates.ts";
import { verifyResponse } from "../../src/sign-in/saml/verify-response.ts";

/**
 * A response of Keycloak 26.0.5, which signs with Apache Santuario. The other tests sign with the
 * library that also verifies.
 */
const XML = readFileSync(
	join(import.meta.dirname, "keycloak-response.xml"),
	"utf8",
).trim();
const find = (pattern: RegExp) => pattern.exec(XML)?.[1] ?? "";
const certificate = certificateIn(find(/X509Certificate>([^<]*)</)) ?? "";

const verify = (xml: string, now = "2026-11-26T02:14:00Z") =>
	verifyResponse(xml, {
		issuer: "http://localhost:28471/realms/staff",
		audience: `${find(/Recipient="([^"]*)"/)}/metadata`,
		recipient: find(/Recipient="([^"]*)"/),
		certificates: [certificate],
		now: new Date(now),
	});

test("a response of Keycloak is accepted, whose assertion and response are signed", () => {
	const { nameId, attributes, inResponseTo } = verify(XML);
	expect(nameId).toMatch(/^G-/);
	expect(attributes.get("email")).toEqual(["ada@example.com"]);
	expect(attributes.get("groups")).toEqual(["Security"]);
	expect(inResponseTo).toBe(find(/ InResponseTo="([^"]*)"/));
});

test("a response of Keycloak is refused when it was changed, or an hour later", () => {
	for (const [from, to] of [
		["ada@example.com", "eve@example.com"],
		["status:Success", "status:Success "],
		[">Security<", ">Admins<"],
	] as const) {
		expect(XML).toContain(from);
		expect(() => verify(XML.replace(from, to))).toThrow();
	}
	expect(() => verify(XML, "2026-11-26T03:14:00Z")).toThrow(
		expect.objectContaining({ code: "EXPIRED" }),
	);
});

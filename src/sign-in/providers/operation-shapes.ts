import { z } from "zod";
import type { Services } from "../../invoke.ts";
import { ROLES } from "../../principal.ts";
import { organizationId } from "../../records/list-pages.ts";
import { idSchema, lineSchema } from "../../records/text-schemas.ts";
import { isSecureAddress } from "../issuer.ts";
import {
	certificateIn,
	describeCertificate,
	MAX_CERTIFICATE,
	MAX_CERTIFICATES,
} from "../saml/certificates.ts";
import { serviceProviderOf } from "../saml/saml-source.ts";
import type { IdentityProviderRow } from "./identity-provider-store.ts";
import { CALLBACK_PATH } from "./sources.ts";

const MAX_GROUPS = 50;

const groupRoles = z.array(
	z.object({
		group: lineSchema(200).describe("Group, as the provider names it"),
		role: z.enum(ROLES),
	}),
);

export const identityProvider = z.object({
	id: z.string(),
	kind: z.enum(["OIDC", "SAML"]),
	name: z.string(),
	is_enabled: z.boolean(),
	issuer: z.string(),
	client_id: z.string().nullable(),
	sign_in_url: z.string().nullable(),
	sign_out_url: z.string().nullable(),
	certificates: z.array(
		z.object({
			pem: z.string(),
			fingerprint: z.string(),
			subject: z.string(),
			valid_until: z.string(),
		}),
	),
	trusts_addresses: z.boolean(),
	groups_claim: z.string(),
	role: z.enum(["viewer", "member"]).nullable(),
	group_roles: groupRoles,
	tested_at: z
		.string()
		.nullable()
		.describe("Last successful test; null: not tested with these settings"),
	callback_url: z
		.string()
		.describe(
			"Address to enter there: the redirect address, or with SAML the ACS",
		),
	entity_id: z
		.string()
		.nullable()
		.describe(
			"SAML: how this service is called; also the address of its metadata",
		),
	sign_in_path: z.string().describe("Path that leads people to the provider"),
});

/** Input fields of a provider. */
export const given = {
	name: lineSchema(60).describe("Name on the sign-in page"),
	issuer: lineSchema(500).describe(
		"Issuer (OIDC) or entity id (SAML), exactly as the provider's metadata spells it",
	),
	sign_in_url: lineSchema(2000)
		.refine(isSecureAddress, "must be an https address")
		.describe("SAML: address for signing in, with the binding HTTP-Redirect"),
	sign_out_url: lineSchema(2000)
		.refine(isSecureAddress, "must be an https address")
		.nullable()
		.describe("SAML: page of the provider on which people sign out there"),
	certificates: z
		.array(
			z
				.string()
				.max(MAX_CERTIFICATE, { abort: true })
				.refine(
					(text) => certificateIn(text) !== undefined,
					"must be an X.509 certificate in PEM, with an RSA key of at least 2048 bits",
				)
				.transform((text) => certificateIn(text) ?? ""),
		)
		.min(1)
		.max(MAX_CERTIFICATES)
		.describe("SAML: the provider's certificates; each may sign"),
	client_id: lineSchema(500),
	client_secret: lineSchema(1000).describe(
		"Secret that the provider gave to this service; never shown again",
	),
	trusts_addresses: z
		.boolean()
		.describe(
			"Addresses count as verified although the provider does not say so",
		),
	groups_claim: lineSchema(200).describe(
		"Claim or attribute with the person's groups",
	),
	role: z
		.enum(["viewer", "member"])
		.nullable()
		.describe(
			"Role of newcomers in no known group; null: they need an invitation",
		),
	group_roles: groupRoles
		.max(MAX_GROUPS)
		.refine(
			(list) => new Set(list.map(({ group }) => group)).size === list.length,
			"must name each group once",
		)
		.describe("Roles of newcomers by their groups; the highest counts"),
};

/** The input that names a provider. */
export const one = {
	organization_id: organizationId(),
	id: idSchema("identity_provider"),
};

/** Returns the map that is stored. */
export function groupRolesOf(
	list: z.output<typeof groupRoles>,
): Record<string, string> {
	return Object.fromEntries(list.map(({ group, role }) => [group, role]));
}

/** Returns a provider as administrators see it, without its secret. */
export function shown(
	row: IdentityProviderRow,
	{ baseUrl }: Pick<Services, "baseUrl">,
): z.input<typeof identityProvider> {
	const service = serviceProviderOf(baseUrl, row.id);
	const isSaml = row.kind === "SAML";
	return {
		id: row.id,
		kind: row.kind,
		name: row.name,
		is_enabled: row.is_enabled,
		issuer: row.issuer,
		client_id: row.client_id,
		sign_in_url: row.sign_in_url,
		sign_out_url: row.sign_out_url,
		certificates: row.certificates.map((pem) => ({
			pem,
			...describeCertificate(pem),
		})),
		trusts_addresses: row.trusts_addresses,
		groups_claim: row.groups_claim,
		role: row.role,
		group_roles: Object.entries(row.group_roles).map(([group, role]) => ({
			group,
			role,
		})),
		tested_at: row.tested_at && new Date(row.tested_at).toISOString(),
		callback_url: isSaml
			? service.answerUrl
			: `${baseUrl}${CALLBACK_PATH}/${row.id}`,
		entity_id: isSaml ? service.entityId : null,
		sign_in_path: `/api/sign-in-with-provider?provider=${row.id}`,
	};
}

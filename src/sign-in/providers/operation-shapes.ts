import { z } from "zod";
import type { Services } from "../../invoke.ts";
import { ROLES } from "../../principal.ts";
import { organizationId } from "../../records/list-pages.ts";
import { idSchema, lineSchema } from "../../records/text-schemas.ts";
import { issuerProblem } from "../issuer.ts";
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
	trusts_addresses: z.boolean(),
	groups_claim: z.string(),
	role: z.enum(["viewer", "member"]).nullable(),
	group_roles: groupRoles,
	tested_at: z
		.string()
		.nullable()
		.describe("Last successful test; null: not tested with these settings"),
	callback_url: z.string().describe("Redirect address to enter there"),
	sign_in_path: z.string().describe("Path that leads people to the provider"),
});

/** Input fields of a provider. */
export const given = {
	name: lineSchema(60).describe("Name on the sign-in page"),
	issuer: lineSchema(500)
		.superRefine((text, { addIssue }) => {
			const message = issuerProblem(text);
			if (message) addIssue({ code: "custom", message });
		})
		.describe("Issuer, exactly as the provider's metadata spells it"),
	client_id: lineSchema(500),
	client_secret: lineSchema(1000).describe(
		"Secret that the provider gave to this service; never shown again",
	),
	trusts_addresses: z
		.boolean()
		.describe(
			"Addresses count as verified although the provider does not say so",
		),
	groups_claim: lineSchema(200).describe("Claim with the person's groups"),
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
	return {
		id: row.id,
		kind: row.kind,
		name: row.name,
		is_enabled: row.is_enabled,
		issuer: row.issuer,
		client_id: row.client_id,
		trusts_addresses: row.trusts_addresses,
		groups_claim: row.groups_claim,
		role: row.role,
		group_roles: Object.entries(row.group_roles).map(([group, role]) => ({
			group,
			role,
		})),
		tested_at: row.tested_at && new Date(row.tested_at).toISOString(),
		callback_url: `${baseUrl}${CALLBACK_PATH}/${row.id}`,
		sign_in_path: `/api/sign-in-with-provider?provider=${row.id}`,
	};
}

import { z } from "zod";
import { enforceLimit } from "../../db/enforce-limit.ts";
import { AppError, badFields } from "../../errors.ts";
import { makeId } from "../../id.ts";
import { notFound } from "../../invoke.ts";
import { type Context, defineOperation } from "../../operation.ts";
import { organizationId } from "../../records/list-pages.ts";
import { requireFreshProof } from "../fresh-proof.ts";
import { requireOtherProvider } from "../only-provider/sign-in-rule.ts";
import { describeCertificate } from "../saml/certificates.ts";
import { sealText } from "../sealed-text.ts";
import { rejectForeignFields, requireFieldsOf } from "./fields-of-kind.ts";
import {
	COLUMNS,
	type IdentityProviderRow,
} from "./identity-provider-store.ts";
import {
	given,
	groupRolesOf,
	identityProvider,
	one,
	shown,
} from "./operation-shapes.ts";

const MAX_PROVIDERS = 10;

const admin = {
	toolset: "sign_in",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

export const listIdentityProviders = defineOperation({
	...admin,
	name: "listIdentityProviders",
	title: "List identity providers",
	description:
		"List the identity providers with which people sign in to an organization, and what each must know about this service.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ identity_providers: z.array(identityProvider) }),
	run: async ({ client, membership, services }) => {
		const { rows } = await client.query<IdentityProviderRow>(
			`select ${COLUMNS} from identity_providers where organization_id = $1 order by created_at, id`,
			[membership.organizationId],
		);
		return { identity_providers: rows.map((row) => shown(row, services)) };
	},
});

export const addIdentityProvider = defineOperation({
	...admin,
	name: "addIdentityProvider",
	title: "Add an identity provider",
	description:
		"Add an identity provider (OpenID Connect or SAML 2.0). It is off until somebody has tested it and switched it on.",
	input: z.strictObject({
		organization_id: organizationId(),
		kind: z.enum(["OIDC", "SAML"]),
		name: given.name,
		issuer: given.issuer,
		client_id: given.client_id.optional(),
		client_secret: given.client_secret.optional(),
		sign_in_url: given.sign_in_url.optional(),
		sign_out_url: given.sign_out_url.optional(),
		certificates: given.certificates.optional(),
		trusts_addresses: given.trusts_addresses.optional(),
		groups_claim: given.groups_claim.optional(),
		role: given.role.optional(),
		group_roles: given.group_roles.optional(),
	}),
	output: z.object({ identity_provider: identityProvider }),
	run: async (context, input) => {
		const { client, membership, services } = context;
		await requireFreshProof(context);
		requireFieldsOf(input.kind, input);
		await enforceLimit(client, {
			lock: `identity providers ${membership.organizationId}`,
			from: "identity_providers where organization_id = $1",
			values: [membership.organizationId],
			max: MAX_PROVIDERS,
			error: tooManyProviders,
		});
		const id = makeId(membership.organizationId, "identity_provider");
		const { rows } = await client.query<IdentityProviderRow>(
			`insert into identity_providers (
				organization_id, id, kind, name, issuer, client_id, client_secret, trusts_addresses,
				groups_claim, role, group_roles, sign_in_url, sign_out_url, certificates
			) values (
				$1, $2, $3, $4, $5, $6, $7, coalesce($8, false), coalesce($9, 'groups'), $10, $11, $12, $13,
				coalesce($14::text[], '{}')
			)
			returning ${COLUMNS}`,
			[
				membership.organizationId,
				id,
				input.kind,
				input.name,
				input.issuer,
				input.client_id,
				input.client_secret && seal(context, id, input.client_secret),
				input.trusts_addresses,
				input.groups_claim,
				input.role,
				groupRolesOf(input.group_roles ?? []),
				input.sign_in_url,
				input.sign_out_url,
				input.certificates,
			],
		);
		const added = rows[0] as IdentityProviderRow;
		noteChange(context, undefined, added);
		return { identity_provider: shown(added, services) };
	},
});

export const updateIdentityProvider = defineOperation({
	...admin,
	name: "updateIdentityProvider",
	title: "Change an identity provider",
	description:
		"Change an identity provider, or switch it on or off. It can be switched on after a successful test. Switching it off ends the sessions that began with it.",
	isIdempotent: true,
	input: z.strictObject({
		...one,
		name: given.name.optional(),
		client_id: given.client_id.optional(),
		client_secret: given.client_secret.optional(),
		sign_in_url: given.sign_in_url.optional(),
		sign_out_url: given.sign_out_url.optional(),
		certificates: given.certificates.optional(),
		trusts_addresses: given.trusts_addresses.optional(),
		groups_claim: given.groups_claim.optional(),
		role: given.role.optional(),
		group_roles: given.group_roles.optional(),
		is_enabled: z.boolean().optional(),
	}),
	output: z.object({ identity_provider: identityProvider }),
	run: async (context, input) => {
		const { client, services } = context;
		await requireFreshProof(context);
		const before = await lockProvider(context, input.id);
		rejectForeignFields(before.kind, input);
		const isOtherClient =
			input.client_id !== undefined && input.client_id !== before.client_id;
		const isEnabled = input.is_enabled ?? before.is_enabled;
		if (isEnabled && (isOtherClient || before.tested_at === null)) {
			throw badFields([
				{
					field: "is_enabled",
					message: isOtherClient
						? "must be false when client_id changes; test the provider, and then switch it on again"
						: "can be true only after a successful test of the provider",
				},
			]);
		}
		if (!isEnabled) await requireOtherProvider(context, before);
		const { rows } = await client.query<IdentityProviderRow>(
			`update identity_providers set
				name = coalesce($3, name), client_id = coalesce($4, client_id),
				client_secret = coalesce($5, client_secret),
				trusts_addresses = coalesce($6, trusts_addresses),
				groups_claim = coalesce($7, groups_claim),
				role = case when $8 then $9 else role end, group_roles = coalesce($10, group_roles),
				is_enabled = $11, tested_at = case when $12 then null else tested_at end,
				sign_in_url = coalesce($13, sign_in_url),
				sign_out_url = case when $14 then $15 else sign_out_url end,
				certificates = coalesce($16, certificates),
				updated_at = now()
			where organization_id = $1 and id = $2 returning ${COLUMNS}`,
			[
				before.organization_id,
				before.id,
				input.name,
				input.client_id,
				input.client_secret && seal(context, before.id, input.client_secret),
				input.trusts_addresses,
				input.groups_claim,
				input.role !== undefined,
				input.role,
				input.group_roles && groupRolesOf(input.group_roles),
				isEnabled,
				isOtherClient,
				input.sign_in_url,
				input.sign_out_url !== undefined,
				input.sign_out_url,
				input.certificates,
			],
		);
		const after = rows[0] as IdentityProviderRow;
		noteChange(context, before, after);
		return { identity_provider: shown(after, services) };
	},
});

export const deleteIdentityProvider = defineOperation({
	...admin,
	name: "deleteIdentityProvider",
	title: "Delete an identity provider",
	description:
		"Delete an identity provider. The sessions that began with it end, and the service forgets which accounts there belong to its users.",
	isDestructive: true,
	input: z.strictObject(one),
	output: z.object({ deleted_identity_provider_id: z.string() }),
	run: async (context, { id }) => {
		await requireFreshProof(context);
		const before = await lockProvider(context, id);
		await requireOtherProvider(context, before);
		await context.client.query(
			"delete from identity_providers where organization_id = $1 and id = $2",
			[before.organization_id, id],
		);
		noteChange(context, before, undefined);
		return { deleted_identity_provider_id: id };
	},
});

async function lockProvider(
	{ client, membership }: Context,
	id: string,
): Promise<IdentityProviderRow> {
	const { rows } = await client.query<IdentityProviderRow>(
		`select ${COLUMNS} from identity_providers where organization_id = $1 and id = $2 for update`,
		[membership.organizationId, id],
	);
	if (!rows[0]) throw notFound(id);
	return rows[0];
}

function tooManyProviders(): AppError {
	return new AppError(
		"bad_request",
		`the organization has ${MAX_PROVIDERS} identity providers, which is the maximum; delete one that is no longer needed`,
	);
}

function seal({ services }: Context, id: string, text: string): string {
	if (!services.secret) throw new Error("the service has no secret");
	return sealText(text, "client secret", id, { secret: services.secret });
}

const AUDITED = [
	"kind",
	"name",
	"issuer",
	"client_id",
	"sign_in_url",
	"sign_out_url",
	"certificates",
	"trusts_addresses",
	"groups_claim",
	"role",
	"group_roles",
	"is_enabled",
] as const;

/** Notes what changed. Of the client secret, the audit log says only that there is another one. */
function noteChange(
	context: Context,
	before: IdentityProviderRow | undefined,
	after: IdentityProviderRow | undefined,
): void {
	// A fingerprint says in fewer characters which certificate it is.
	const shorten = (row: IdentityProviderRow | undefined) =>
		row && {
			...row,
			certificates: row.certificates.map(
				(pem) => describeCertificate(pem).fingerprint,
			),
		};
	const [old, current] = [shorten(before), shorten(after)];
	const text = (value: unknown) => JSON.stringify(value ?? null);
	const fields = Object.fromEntries(
		AUDITED.filter((name) => text(old?.[name]) !== text(current?.[name])).map(
			(name) => [
				name,
				{
					...(old && { before: old[name] }),
					...(current && { after: current[name] }),
				},
			],
		),
	);
	const isNewSecret =
		before && after && before.client_secret !== after.client_secret;
	context.changed({
		kind: "identity_provider",
		id: (after ?? before)?.id ?? "",
		name: (after ?? before)?.name ?? null,
		fields: {
			...fields,
			...(isNewSecret && { client_secret: { after: "REPLACED" } }),
		},
	});
}

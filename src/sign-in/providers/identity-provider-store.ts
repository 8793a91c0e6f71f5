import type { Pool, PoolClient } from "pg";
import { organizationOfDomain } from "../../organizations/domains/domain-store.ts";
import type { Role } from "../../principal.ts";
import { domainOf } from "../../records/mail-address.ts";
import { openText, type Secrets, sealText } from "../sealed-text.ts";

/** An identity provider of an organization, as it is stored. */
export interface IdentityProviderRow {
	organization_id: string;
	id: string;
	kind: "OIDC" | "SAML";
	name: string;
	is_enabled: boolean;
	/** The issuer (OpenID Connect) or the entity id (SAML). */
	issuer: string;
	client_id: string | null;
	/** Encrypted. */
	client_secret: string | null;
	sign_in_url: string | null;
	sign_out_url: string | null;
	/** In PEM. */
	certificates: string[];
	trusts_addresses: boolean;
	groups_claim: string;
	role: "viewer" | "member" | null;
	group_roles: Record<string, Role>;
	tested_at: Date | null;
	updated_at: Date;
}

export const COLUMNS =
	"organization_id, id, kind, name, is_enabled, issuer, client_id, client_secret, sign_in_url, sign_out_url, certificates, trusts_addresses, groups_claim, role, group_roles, tested_at, updated_at";

/** Returns a provider by its id. `db` acts as assay_identity. */
export async function findProvider(
	db: Pick<Pool | PoolClient, "query">,
	id: string,
): Promise<IdentityProviderRow | undefined> {
	const { rows } = await db.query<IdentityProviderRow>(
		`select ${COLUMNS} from identity_providers where id = $1`,
		[id],
	);
	return rows[0];
}

/** Returns the secret of this service at the provider. Throws if it cannot be decrypted. */
export function clientSecretOf(
	{ id, client_secret }: IdentityProviderRow,
	secrets: Secrets,
): string {
	const opened = openText(client_secret ?? "", "client secret", id, secrets);
	if (opened) return opened.text;
	throw new Error(
		"the client secret cannot be decrypted, because the secret of this service was changed; enter the client secret again under Settings, Sign-in",
	);
}

/** Says which secret of the service decrypts the client secret of a provider. */
export function encryptionOf(
	{ id, client_secret }: IdentityProviderRow,
	secrets: Secrets,
): "CURRENT" | "PREVIOUS" | "UNREADABLE" {
	const opened = openText(client_secret ?? "", "client secret", id, secrets);
	if (!opened) return "UNREADABLE";
	return opened.isCurrent ? "CURRENT" : "PREVIOUS";
}

/**
 * Encrypts the client secret with the current secret of the service, if it is still encrypted with
 * the former one. `db` acts as assay_identity.
 */
export async function renewClientSecret(
	db: Pick<Pool | PoolClient, "query">,
	row: IdentityProviderRow,
	secrets: Secrets,
): Promise<void> {
	const { id, client_secret } = row;
	// A provider that speaks SAML has no client secret.
	if (client_secret === null || encryptionOf(row, secrets) !== "PREVIOUS") {
		return;
	}
	const sealed = sealText(
		clientSecretOf(row, secrets),
		"client secret",
		id,
		secrets,
	);
	// A secret that an administrator has just entered stays as it is.
	await db.query(
		"update identity_providers set client_secret = $2 where id = $1 and client_secret = $3",
		[id, sealed, client_secret],
	);
}

/**
 * Returns the id of the provider that an address leads to: the oldest one of the organization for
 * which the address's domain was verified. Nothing depends on whether an account has the address.
 * `db` acts as assay_identity.
 */
export async function findProviderOfAddress(
	db: Pick<Pool | PoolClient, "query">,
	email: string,
): Promise<string | undefined> {
	const organizationId = await organizationOfDomain(db, domainOf(email));
	if (organizationId === undefined) return undefined;
	const { rows } = await db.query<{ id: string }>(
		`select id from identity_providers where organization_id = $1 and is_enabled
		order by created_at, id limit 1`,
		[organizationId],
	);
	return rows[0]?.id;
}

/** Returns true if an address can lead to a provider. `db` acts as assay_identity. */
export async function hasProviderOfAddresses(
	db: Pick<Pool | PoolClient, "query">,
): Promise<boolean> {
	const { rows } = await db.query<{ found: boolean }>(
		`select exists (
			select from identity_providers p join organization_domains d
				on d.organization_id = p.organization_id and d.verified_at is not null
			where p.is_enabled
		) as found`,
	);
	return rows[0]?.found ?? false;
}

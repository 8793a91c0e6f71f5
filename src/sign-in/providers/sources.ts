import type { OidcConfig } from "../../config/read-oidc.ts";
import type { OutgoingRule } from "../../outgoing/outgoing-address.ts";
import type { EventParts } from "../account-events.ts";
import type { AuthParts } from "../better-auth.ts";
import type { Attempt } from "../oidc/attempt.ts";
import { type Found, findAccount, type Refusal } from "../oidc/find-account.ts";
import { OidcProvider } from "../oidc/provider.ts";
import type { Claims } from "../oidc/read-claims.ts";
import type { SamlAnswer } from "../saml/answer.ts";
import { askSaml } from "../saml/saml-source.ts";
import { findMember } from "./find-member.ts";
import {
	clientSecretOf,
	findProvider,
	type IdentityProviderRow,
	renewClientSecret,
} from "./identity-provider-store.ts";

/** The path to which a provider sends the browser back. It is registered at the provider. */
export const CALLBACK_PATH = "/api/sign-in-with-provider/callback";

/** An identity provider in use: how it is asked, and whom it vouches for. */
export interface Source {
	/** The provider of an organization. Undefined for the one of the installation. */
	row?: IdentityProviderRow;
	issuer: string;
	/** The `provider_id` of accounts that are linked to people at the provider. */
	linkedAs: string;
	/**
	 * Returns the address at the provider to which the browser goes. With `mustAuthenticate`, the
	 * provider shall ask for the password even of somebody who is signed in there.
	 */
	startUrl(attempt: Attempt, mustAuthenticate: boolean): Promise<string>;
	/**
	 * Reads the provider's answer, which is in the query or, with SAML, in a cookie. Throws if it is not
	 * what it must be.
	 */
	claimsOf(
		query: string,
		attempt: Attempt,
		cookieHeader: string | null,
	): Promise<Claims>;
	/** Verifies a response of a provider that speaks SAML. Throws if it must be refused. */
	receive?: (response: string) => SamlAnswer;
	/** Returns the account of the person, or the reason why there is none. */
	findAccount(claims: Claims): Promise<Found | Refusal>;
	/**
	 * Returns the address at the provider that ends the person's session there, if there is one.
	 * `idToken` is the one of the sign-in.
	 */
	signOutUrl(idToken: string | undefined): Promise<string | undefined>;
}

export interface Sources {
	/** Returns the provider with this id, or the installation's. Also returns one that is off. */
	find(id: string | undefined): Promise<Source | undefined>;
}

/** Largest number of providers whose metadata is kept. */
const MAX_KEPT = 200;

/** Makes the list of the providers in use. `config` is the one of the installation. */
export function makeSources(
	parts: AuthParts & EventParts,
	config: OidcConfig | undefined,
	rule: OutgoingRule,
): Sources {
	const { pool, baseUrl } = parts;
	const returnTo = `${baseUrl}/sign-in`;
	const kept = new Map<string, { updatedAt: number; oidc: OidcProvider }>();

	/** Returns the provider's client. The metadata that it has read stays, until the settings change. */
	function oidcOf(row: IdentityProviderRow): OidcProvider {
		const known = kept.get(row.id);
		const updatedAt = row.updated_at.getTime();
		if (known?.updatedAt === updatedAt) return known.oidc;
		const access = {
			issuer: row.issuer,
			clientId: row.client_id ?? "",
			clientSecret: clientSecretOf(row, parts),
			groupsClaim: row.groups_claim,
			usesGroups: Object.keys(row.group_roles).length > 0,
			trustsAddresses: row.trusts_addresses,
			rule,
		};
		const oidc = new OidcProvider(
			access,
			`${baseUrl}${CALLBACK_PATH}/${row.id}`,
		);
		kept.delete(row.id);
		kept.set(row.id, { updatedAt, oidc });
		const [oldest] = kept.keys();
		if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
		return oidc;
	}

	const askOidc = (
		oidc: OidcProvider,
	): Pick<Source, "startUrl" | "claimsOf" | "signOutUrl"> => ({
		startUrl: async (attempt, mustAuthenticate) =>
			(await oidc.authorizationUrl(attempt, mustAuthenticate)).href,
		claimsOf: (query, attempt) => oidc.claimsOf(query, attempt),
		signOutUrl: (idToken) => oidc.signOutUrl(returnTo, idToken),
	});

	const ofInstallation: Source | undefined = config && {
		issuer: config.issuer,
		linkedAs: config.issuer,
		...askOidc(
			new OidcProvider(
				{
					...config,
					usesGroups: (config.newcomers?.roleOfGroup.size ?? 0) > 0,
				},
				`${baseUrl}${CALLBACK_PATH}`,
			),
		),
		findAccount: (claims) => findAccount(parts, config, claims),
	};

	return {
		async find(id) {
			if (id === undefined) return ofInstallation;
			const row = await findProvider(pool, id);
			if (!row) return undefined;
			await renewClientSecret(pool, row, parts);
			return {
				row,
				issuer: row.issuer,
				linkedAs: row.id,
				...(row.kind === "SAML" ? askSaml(parts, row) : askOidc(oidcOf(row))),
				findAccount: (claims) => findMember(parts, row, claims),
			};
		},
	};
}

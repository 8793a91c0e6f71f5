import type { Client } from "pg";
import type { Config } from "../config/config.ts";
import { setRole } from "../db/roles.ts";
import { makeOutgoingRule } from "../outgoing/outgoing-address.ts";
import { OidcProvider } from "../sign-in/oidc/provider.ts";
import {
	COLUMNS,
	encryptionOf,
	type IdentityProviderRow,
} from "../sign-in/providers/identity-provider-store.ts";
import { findSecret } from "../sign-in/server-secret.ts";
import type { Finding } from "./doctor.ts";
import { counted } from "./output.ts";

/** Largest number of providers that are asked, and of those that a finding names. */
const MAX_ASKED = 50;
const MAX_NAMED = 5;

/**
 * Asks the identity providers that organizations have switched on for their metadata, and says which
 * client secrets the secret of the service decrypts.
 */
export async function examineProviders(
	client: Client,
	config: Config,
): Promise<Finding[]> {
	await client.query("begin");
	await client.query(setRole("identity", "transaction"));
	const { rows } = await client.query<IdentityProviderRow>(
		`select ${COLUMNS} from identity_providers where kind = 'OIDC' order by is_enabled desc, id`,
	);
	await client.query("rollback");
	if (rows.length === 0) return [];
	return [
		await examineAnswers(
			rows.filter(({ is_enabled }) => is_enabled),
			config,
		),
		await examineSecrets(rows, config),
	];
}

async function examineAnswers(
	rows: IdentityProviderRow[],
	config: Config,
): Promise<Finding> {
	const check = "identity providers of organizations";
	const asked = rows.slice(0, MAX_ASKED);
	const problems = (
		await Promise.all(asked.map((row) => problemOf(row, config)))
	).filter((one) => one !== undefined);
	if (problems.length === 0) {
		return {
			check,
			status: "ok",
			found: `${asked.length} of ${rows.length} were asked, and all of them answer`,
		};
	}
	const further = problems.length - MAX_NAMED;
	return {
		check,
		status: "warning",
		found: `${problems.length} of ${asked.length} do not answer with their metadata: ${problems.slice(0, MAX_NAMED).join("; ")}${further > 0 ? `; and ${further} more` : ""}`,
		advice:
			"tell the administrators of the organization; name a provider's private network in ASSAY_OUTGOING_NETWORKS, and a private certificate authority in NODE_EXTRA_CA_CERTS",
	};
}

/** Returns what is wrong with a provider's answer. Discovery also compares the issuer. */
async function problemOf(
	{ organization_id, issuer, client_id }: IdentityProviderRow,
	config: Config,
): Promise<string | undefined> {
	const provider = new OidcProvider(
		{
			issuer,
			clientId: client_id ?? "",
			// The metadata is public.
			clientSecret: "",
			rule: makeOutgoingRule(config.outgoingAllow),
		},
		config.baseUrl,
	);
	try {
		await provider.metadata();
		return undefined;
	} catch (error) {
		const { message, cause } = error as Error;
		const why = cause instanceof Error ? cause.message : message;
		return `${issuer} of organization ${organization_id} (${why})`;
	}
}

async function examineSecrets(
	rows: IdentityProviderRow[],
	config: Config,
): Promise<Finding> {
	const check = "client secrets of identity providers";
	const secrets = {
		secret: (await findSecret(config)) ?? "",
		previousSecret: config.previousSecret,
	};
	const found = rows.map((row) => encryptionOf(row, secrets));
	const count = (encryption: (typeof found)[number]) =>
		found.filter((one) => one === encryption).length;
	if (count("UNREADABLE") > 0) {
		return {
			check,
			status: "problem",
			found: `${count("UNREADABLE")} of ${counted(rows.length, "client secret")} cannot be decrypted, because the secret of the service was changed`,
			advice:
				"set ASSAY_SECRET_PREVIOUS to the former secret; if it is lost, administrators enter the client secrets again under Settings → Sign-in",
		};
	}
	if (count("PREVIOUS") > 0) {
		return {
			check,
			status: "ok",
			found: `${count("PREVIOUS")} of ${counted(rows.length, "client secret")} are still encrypted with ASSAY_SECRET_PREVIOUS; each moves to the new secret with the next sign-in at its provider`,
			advice:
				"keep ASSAY_SECRET_PREVIOUS until this number is 0, and then remove it",
		};
	}
	return {
		check,
		status: "ok",
		found: `the secret of the service decrypts all ${rows.length}`,
	};
}

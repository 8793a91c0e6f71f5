import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import { describeCertificate } from "../sign-in/saml/certificates.ts";
import { DAY_MS } from "../units.ts";
import type { Finding } from "./doctor.ts";

const WARNING_DAYS = 30;
/** Largest number of providers that a finding names. */
const MAX_NAMED = 10;

/** Warns of SAML providers in use whose last certificate ends soon. */
export async function examineSamlCertificates(
	client: Client,
	now = new Date(),
): Promise<Finding[]> {
	await client.query("begin");
	await client.query(setRole("identity", "transaction"));
	const { rows } = await client.query<{ id: string; certificates: string[] }>(
		"select id, certificates from identity_providers where kind = 'SAML' and is_enabled order by id",
	);
	await client.query("rollback");
	if (rows.length === 0) return [];
	const check = "certificates of SAML providers";
	const soon = new Date(now.getTime() + WARNING_DAYS * DAY_MS).toISOString();
	const ending = rows
		.map(({ id, certificates }) => ({ id, end: lastEndOf(certificates) }))
		.filter(({ end }) => end < soon);
	if (ending.length === 0) {
		const found = `the certificates are valid for ${WARNING_DAYS} days or more`;
		return [{ check, status: "ok", found }];
	}
	const named = ending
		.slice(0, MAX_NAMED)
		.map(({ id, end }) => `${id} on ${end.slice(0, 10)}`);
	const more = ending.length - named.length;
	return [
		{
			check,
			status: "warning",
			found: `the last certificate of a provider has expired or expires soon: ${named.join(", ")}${more > 0 ? `, and ${more} more` : ""}`,
			advice:
				"before the provider signs with another key, let an administrator of the organization read its new metadata under Settings → Sign-in → Change",
		},
	];
}

function lastEndOf(certificates: readonly string[]): string {
	const ends = certificates.map((pem) => describeCertificate(pem).valid_until);
	return ends.toSorted().at(-1) ?? "";
}

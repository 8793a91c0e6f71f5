import type { Pool } from "pg";
import { AppError } from "../errors.ts";
import { hashSecret, isWellFormedSecret } from "../tokens/secret.ts";

export interface FoundCredential {
	organizationId: string;
	credentialId: string;
	name: string;
}

/**
 * Reads the secret of a header "Bearer <secret>". Throws unauthorized if it has not the form of a
 * secret of ours. This needs no query.
 */
export function readCredential(header: string | undefined): string {
	const [scheme = "", secret = "", ...more] = (header ?? "").split(" ");
	const isSecret =
		/^bearer$/i.test(scheme) &&
		more.length === 0 &&
		isWellFormedSecret("scim", secret);
	if (isSecret) return secret;
	throw new AppError(
		"unauthorized",
		header
			? "malformed: the Authorization header must be `Bearer <SCIM credential>` with the whole credential (asy_scim_ and 46 letters and digits)"
			: "missing: send the header `Authorization: Bearer <SCIM credential>`",
	);
}

/** Finds the credential, or throws unauthorized. A revoked one is refused from the next request on. */
export async function findCredential(
	pool: Pool,
	secret: string,
	address: string | undefined,
): Promise<FoundCredential> {
	const { rows } = await pool.query<{
		organization_id: string;
		credential_id: string;
		name: string;
	}>("select * from authenticate_scim(decode($1, 'hex'), $2)", [
		hashSecret(secret),
		address ?? null,
	]);
	const [found] = rows;
	if (!found) {
		throw new AppError(
			"unauthorized",
			"invalid: the SCIM credential is unknown, revoked or expired; an administrator makes a new one under Settings, Sign-in",
		);
	}
	return {
		organizationId: found.organization_id,
		credentialId: found.credential_id,
		name: found.name,
	};
}

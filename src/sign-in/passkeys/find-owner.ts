import type { Pool } from "pg";
import { findPasskey } from "./passkey-store.ts";
import { relyingPartyId } from "./relying-party.ts";

/** Returns the id of the user who has the passkey in the body of a request, before it is checked. */
export async function findOwner(
	pool: Pool,
	baseUrl: string,
	{ id }: Record<string, unknown>,
): Promise<string | undefined> {
	const rpId = relyingPartyId(baseUrl);
	if (typeof id !== "string" || id.length > 1_400 || rpId === undefined) {
		return undefined;
	}
	return (await findPasskey(pool, id, rpId))?.userId;
}

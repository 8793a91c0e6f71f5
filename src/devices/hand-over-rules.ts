import type { PoolClient } from "pg";
import type { Context } from "../operation.ts";
import { changeRules, readRules } from "./check-rule-store.ts";
import { checkName } from "./device-record.ts";
import { lockPolicy, touchPolicy } from "./policy-operations.ts";

/** A check whose nonconformities a person owns. */
export interface OwnedRule {
	id: string;
	name: string | null;
}

/** Returns the rules of checks whose nonconformities the person owns. */
export async function readOwnedRules(
	client: PoolClient,
	organizationId: string,
	person: string,
): Promise<OwnedRule[]> {
	const rules = await readRules(client, organizationId);
	return [...rules].flatMap(([key, { owner_id }]) =>
		owner_id === person ? [{ id: key, name: checkName(key) }] : [],
	);
}

/**
 * Makes the person `to` the owner of the nonconformities that Assay opens for checks of `from`. Returns
 * how many rules changed.
 */
export async function handOverRules(
	context: Context,
	{ from, to }: { from: string; to: string },
): Promise<number> {
	const { client, membership, changed } = context;
	const { organizationId } = membership;
	// Otherwise each hand-over would add a policy with the defaults.
	if ((await readOwnedRules(client, organizationId, from)).length === 0)
		return 0;
	await lockPolicy(context, organizationId);
	const owned = await readOwnedRules(client, organizationId, from);
	if (owned.length === 0) return 0;
	const fields = await changeRules(
		client,
		organizationId,
		owned.map(({ id }) => ({ check_key: id, owner_id: to })),
	);
	await touchPolicy(context, organizationId);
	changed({ kind: "device_policy", id: organizationId, name: null, fields });
	return owned.length;
}

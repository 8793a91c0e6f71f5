import type { PoolClient } from "pg";
import { findCheckKey } from "../devices/check-keys.ts";
import type { AnyRecordKind } from "./kind.ts";
import type { Values } from "./values.ts";

/**
 * Replaces the device checks in the values by their keys as agents spell them. Throws bad_request
 * that names the field if no device has reported the check.
 */
export async function resolveChecks(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	values: Values,
): Promise<void> {
	for (const [name, { type }] of Object.entries(kind.fields)) {
		const given = values[name];
		if (type === "check" && typeof given === "string") {
			values[name] = await findCheckKey(client, organizationId, given, name);
		}
		if (type === "checks" && Array.isArray(given)) {
			const keys: string[] = [];
			for (const key of given) {
				keys.push(await findCheckKey(client, organizationId, key, name));
			}
			values[name] = [...new Set(keys)].sort();
		}
	}
}

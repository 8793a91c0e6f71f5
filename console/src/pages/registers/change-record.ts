import { ApiError } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import {
	recordQuery,
	updateRecord,
} from "../../parts/records/register-calls.ts";
import { queryClient } from "../../queries.ts";

/**
 * Changes a record, and returns it as it was just before and as it is now. If somebody has changed
 * the record since it was loaded, reads it again, so that an undo writes their values back.
 */
export async function changeRecord(
	kind: KindDescription,
	loaded: AnyRecord,
	values: Record<string, unknown>,
): Promise<{ before: AnyRecord; after: AnyRecord }> {
	const change = async (before: AnyRecord) => ({
		before,
		after: await updateRecord(kind, before.id, {
			...values,
			if_updated_at: before.updated_at,
		}),
	});
	try {
		return await change(loaded);
	} catch (error) {
		if (!(error instanceof ApiError) || error.code !== "conflict") throw error;
		return change(
			await queryClient.fetchQuery({
				...recordQuery(kind, loaded.id),
				staleTime: 0,
			}),
		);
	}
}

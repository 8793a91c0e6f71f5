import { useRef } from "react";
import { ApiError } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { type AnyRecord, countOf } from "../../kinds.ts";
import {
	recordQuery,
	updateRecord,
} from "../../parts/records/register-calls.ts";
import { queryClient } from "../../queries.ts";
import { givenFields, isSame } from "./form-values.ts";

/** A record as it was just before a change, and as it is now. */
interface Changed {
	before: AnyRecord;
	after: AnyRecord;
}

/**
 * Changes a record. If somebody has changed it since it was loaded, reads it again, so that an undo
 * writes their values back.
 */
async function changeRecord(
	kind: KindDescription,
	loaded: AnyRecord,
	values: Record<string, unknown>,
): Promise<Changed> {
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

/**
 * Returns the values that undo a change. The service may have changed more fields than somebody
 * gave: a treatment also changes the note of a risk that nobody had decided about.
 */
export function formerValues(
	kind: KindDescription,
	before: AnyRecord,
	after: AnyRecord,
): Record<string, unknown> {
	return Object.fromEntries(
		givenFields(kind)
			.filter(({ name }) => !isSame(before[name], after[name]))
			.map(({ name }) => [name, before[name]]),
	);
}

/**
 * Gives records the same values, and returns how to undo it, for a `BulkDialog`. `valuesOf` returns
 * the values for a record.
 */
export function useUndoableChange(
	kind: KindDescription,
	valuesOf: (record: AnyRecord) => Record<string, unknown>,
) {
	const changed = useRef(new Map<string, Changed>());
	return {
		request: async (record: AnyRecord) => {
			const result = await changeRecord(kind, record, valuesOf(record));
			changed.current.set(record.id, result);
		},
		/** Returns a record as it is after the change. */
		kept: (record: AnyRecord) =>
			changed.current.get(record.id)?.after ?? record,
		undo: (records: readonly AnyRecord[]) => ({
			rows: records,
			request: async ({ id }: AnyRecord) => {
				const { before, after } = changed.current.get(id) ?? {};
				if (!before || !after) return;
				await updateRecord(kind, id, {
					...formerValues(kind, before, after),
					if_updated_at: after.updated_at,
				});
			},
			done: (count: number) =>
				`${countOf(kind, count)} ${count === 1 ? "has its" : "have their"} former values again`,
		}),
	};
}

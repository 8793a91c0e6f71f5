import { z } from "zod";
import { endOfMillisecond } from "../devices/timestamps.ts";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "../records/as-of.ts";
import { cursorName } from "../records/cursor.ts";
import { pageCursor, pageShape, pageSize } from "../records/list-pages.ts";
import { findNames } from "../records/names-by-id.ts";
import { anyRecordInput, findIdOfAnyKind } from "../records/reference-ids.ts";
import { DETAILS, shorten } from "../records/result-rows.ts";
import { readEntries } from "./entry-pages.ts";
import { actorKind } from "./operations.ts";

const change = z.object({
	sequence: z
		.number()
		.nullable()
		.describe("Number of the entry in the audit log; null until it is sealed"),
	at: z.string(),
	actor_kind: actorKind(),
	actor_name: z.string().describe("Name of the actor at that time"),
	is_own: z.boolean().describe("True for a change of the caller"),
	operation: z.string(),
	changes: z
		.record(z.string(), z.unknown())
		.describe("{field: {before?, after?}} for each field that changed"),
});

type Row = Omit<z.input<typeof change>, "is_own"> & { actor_id: string | null };

/**
 * Returns the changes of one record from the audit log. Everybody who may read the record may also
 * read how it changed. The log's other entries and fields are for administrators: denied calls, API
 * tokens, clients and network addresses are about users and not about the record.
 */
export const getRecordHistory = defineOperation({
	name: "getRecordHistory",
	title: "Get a record's history",
	description:
		"Read how a record (id or NC-001) changed: who, when, before, after. Deleted: listAuditLog.",
	toolset: "history",
	access: "read",
	tenant: "id",
	input: z.strictObject({
		...anyRecordInput(),
		detail: z.enum(DETAILS).optional().describe("full: long texts uncut"),
		size: pageSize("Changes"),
		cursor: pageCursor(),
		...asOfShape,
	}),
	output: z.object({ changes: z.array(change), ...pageShape }),
	run: async (context, input) => {
		const { organizationId } = context.membership;
		const { detail, size, cursor, as_of } = input;
		// The record is the one of that time, which may have been deleted since.
		const then = await contextAsOf(context, as_of);
		const id = await findIdOfAnyKind(then, input.id);
		const [named] = await findNames(then.client, organizationId, [id]);
		if (!named) throw notFound(id);
		const { userId } = context.principal;
		const { rows, ...page } = await readEntries<Row>(
			context.client,
			{
				cursorOf: cursorName("getRecordHistory", [id, as_of]),
				columns:
					"t.at, t.actor_kind, t.actor_id, t.actor_name, t.operation, t.changes",
				conditions: [
					"t.organization_id = $1",
					"t.record_id = $2",
					"t.outcome = 'DONE'",
					"($3::timestamptz is null or t.at <= $3)",
				],
				values: [organizationId, id, as_of ? endOfMillisecond(as_of) : null],
			},
			{ size, cursor },
		);
		const changes = rows.map(({ actor_id, changes, ...row }) => ({
			...row,
			is_own: actor_id !== null && actor_id === userId,
			changes: detail === "brief" ? shortenAll(changes) : changes,
		}));
		return { changes, ...page };
	},
});

/** Cuts long texts in the changes, also in lists and in the ends of links. */
function shortenAll<Value>(value: Value): Value {
	if (typeof value === "string") return shorten(value) as Value;
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(shortenAll) as Value;
	return Object.fromEntries(
		Object.entries(value).map(([name, one]) => [name, shortenAll(one)]),
	) as Value;
}

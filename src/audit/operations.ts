import type { PoolClient } from "pg";
import { z } from "zod";
import { badFields } from "../errors.ts";
import { ID_KINDS, type IdKind, parseId } from "../id.ts";
import { defineOperation } from "../operation.ts";
import { cursorName } from "../records/cursor.ts";
import { rangeCheck } from "../records/filter.ts";
import {
	organizationId,
	pageCursor,
	pageShape,
	pageSize,
} from "../records/list-pages.ts";
import { detailSchema } from "../records/result-rows.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { wordsOf } from "../records/text-match.ts";
import { anyIdSchema, timeSchema } from "../records/text-schemas.ts";
import { readEntries, sealOf } from "./entry-pages.ts";
import { isByLink } from "./redaction.ts";

export const actorKind = () => z.enum(["USER", "TOKEN", "AGENT", "SYSTEM"]);

const entry = z.object({
	sequence: z
		.int()
		.nullable()
		.describe(
			"Number of the entry in its organization; null for a second, until it is sealed",
		),
	at: z.string(),
	actor_kind: actorKind(),
	actor_id: z.string().nullable(),
	actor_name: z.string().describe("Name of the actor at that time"),
	token_id: z.string().nullable(),
	token_name: z.string().nullable(),
	client: z.string().nullable().describe("Name that the client gave itself"),
	address: z.string().nullable(),
	operation: z.string(),
	outcome: z.enum(["DONE", "REFUSED"]),
	record_kind: z.string().nullable(),
	record_id: z.string().nullable(),
	record_name: z.string().nullable(),
	changes: z
		.record(z.string(), z.unknown())
		.describe("{field: {before?, after?}} for each field that changed"),
	import_id: z
		.string()
		.nullable()
		.describe("Import that changed the record, or whose rollback did"),
	hash: z
		.string()
		.nullable()
		.describe("SHA-256 over the entry and the previous hash, hexadecimal"),
});

/** An entry in a list. A brief row lacks what only a check of the log needs. */
const listedEntry = entry.partial({
	actor_id: true,
	token_id: true,
	address: true,
	import_id: true,
	hash: true,
});

const name = () =>
	z.string().regex(/^\w{1,100}$/, "must be a name such as addRisk or risk");
/**
 * The kinds of records that entries are about. A membership has no id of its own, so "member" is
 * not among ID_KINDS.
 */
const RECORD_KINDS = [
	...(Object.keys(ID_KINDS) as IdKind[]),
	"member",
] as const;

/**
 * Every filter, with its condition on an entry `t`. `p` is the placeholder of the filter's value.
 */
const FILTERS = {
	actor_kind: {
		schema: actorKind().describe(
			"USER: a signed-in user; TOKEN: an API token; AGENT: a device; SYSTEM: a command on the server",
		),
		sql: (p: string) => `t.actor_kind = ${p}`,
	},
	actor_id: {
		schema: anyIdSchema().describe("Who acted: a user, device or person"),
		sql: (p: string, value: unknown) =>
			parseId(String(value))?.kind === "people"
				? isByLink("t", `array[${p}]`)
				: `t.actor_id = ${p}`,
	},
	token_id: {
		schema: anyIdSchema().describe("API token that was used"),
		sql: (p: string) => `t.token_id = ${p}`,
	},
	operation: {
		schema: name().describe("Tool that was called, such as addRisk"),
		sql: (p: string) => `t.operation = ${p}`,
	},
	record_kind: {
		schema: z.enum(RECORD_KINDS).describe("Kind of record"),
		sql: (p: string) => `t.record_kind = ${p}`,
	},
	record_id: {
		schema: anyIdSchema().describe(
			"Record that changed; gives its whole history",
		),
		sql: (p: string) => `t.record_id = ${p}`,
	},
	sequence: {
		schema: z.int().min(1).describe("The entry with this number"),
		sql: (p: string) => `t.id = (
			select s.entry_id from audit_seals s where s.organization_id = $1 and s.sequence = ${p}
		)`,
	},
	import_id: {
		schema: anyIdSchema().describe("Import that changed the records"),
		sql: (p: string) => `t.import_id = ${p}`,
	},
	is_imported: {
		schema: z
			.boolean()
			.describe(
				"false: one entry for each import, without those of its records",
			),
		sql: (p: string) => `(t.import_id is not null) = ${p}`,
	},
	outcome: {
		schema: z
			.enum(["DONE", "REFUSED"])
			.describe("REFUSED: the role did not allow it"),
		sql: (p: string) => `t.outcome = ${p}`,
	},
	from: {
		bound: { of: "at", end: "least" } as const,
		schema: timeSchema().describe("At this time or later"),
		sql: (p: string) => `t.at >= ${p}::timestamptz`,
	},
	until: {
		bound: { of: "at", end: "greatest" } as const,
		schema: timeSchema().describe("Before this time"),
		sql: (p: string) => `t.at < ${p}::timestamptz`,
	},
};

// Removing accents takes about 10 µs for each text. Most texts are ASCII and do not need it.
const SEARCHED = `(
	select case when length(s.text) = octet_length(s.text) then lower(s.text) else search_fold(s.text) end
	from concat_ws(' ', t.actor_name, t.record_name, t.operation) s (text)
)`;

const filterShape = {
	query: z
		.string()
		.max(200)
		.optional()
		.describe(
			"Words that must all occur in the actor's name, the record's name or the operation",
		),
	...(Object.fromEntries(
		Object.entries(FILTERS).map(([key, { schema }]) => [
			key,
			schema.optional(),
		]),
	) as {
		[Key in keyof typeof FILTERS]: z.ZodOptional<
			(typeof FILTERS)[Key]["schema"]
		>;
	}),
};
const filterSchema = z
	.strictObject(filterShape)
	.superRefine(rangeCheck({ from: FILTERS.from, until: FILTERS.until }));

type Row = z.input<typeof entry>;

/**
 * Makes the operation listAuditLog. `operationNames` returns the names that new entries may have.
 */
export const makeListAuditLog = (operationNames: () => readonly string[]) =>
	defineOperation({
		name: "listAuditLog",
		title: "List the audit log",
		description:
			"Read who did what in an organization and when, newest first: every change with its fields before and after, and every call that a role did not allow. Entries cannot be changed or removed.",
		toolset: "audit_log",
		access: "admin",
		isReadOnly: true,
		tenant: "organization_id",
		input: z.strictObject({
			organization_id: organizationId(),
			size: pageSize("Entries"),
			cursor: pageCursor(),
			filter: filterSchema
				.optional()
				.meta(obvious("Only entries that match all of these")),
			detail: detailSchema(),
		}),
		output: z.object({
			audit_entries: z.array(listedEntry),
			...pageShape,
		}),
		run: async (
			{ client },
			{ organization_id, size, cursor, filter = {}, detail },
		) => {
			if (filter.operation !== undefined) {
				await requireEvent(
					client,
					organization_id,
					filter.operation,
					operationNames(),
				);
			}
			const values: unknown[] = [organization_id];
			const parameter = (value: unknown) => `$${values.push(value)}`;
			const conditions = ["t.organization_id = $1"];
			for (const word of wordsOf(filter.query ?? "")) {
				conditions.push(`${SEARCHED} like search_pattern(${parameter(word)})`);
			}
			for (const [key, { sql }] of Object.entries(FILTERS)) {
				const value = filter[key as keyof typeof FILTERS];
				if (value !== undefined) conditions.push(sql(parameter(value), value));
			}
			const { rows, ...page } = await readEntries<Row>(
				client,
				{
					cursorOf: cursorName("listAuditLog", [organization_id, filter]),
					columns: `t.at, t.actor_kind, t.actor_id, t.actor_name, t.token_id, t.token_name,
						t.client, t.address, t.operation, t.outcome, t.record_kind, t.record_id, t.record_name,
						t.changes, t.import_id, ${sealOf("encode(s.hash, 'hex')")} as hash`,
					conditions,
					values,
				},
				{ size, cursor },
			);
			return {
				audit_entries: detail === "brief" ? rows.map(toBrief) : rows,
				...page,
			};
		},
	});

function toBrief(entry: Row): z.input<typeof listedEntry> {
	const { actor_id, token_id, address, import_id, hash, ...brief } = entry;
	return brief;
}

/**
 * Throws bad_request if no operation and no entry has the name. Entries may have names that no
 * operation has, because commands, devices and earlier versions write such names.
 */
async function requireEvent(
	client: PoolClient,
	organization: string,
	name: string,
	names: readonly string[],
): Promise<void> {
	if (names.includes(name)) return;
	const { rowCount } = await client.query(
		"select from audit_entries where organization_id = $1 and operation = $2 limit 1",
		[organization, name],
	);
	if (rowCount) return;
	throw badFields([
		{
			field: "filter.operation",
			message: `there is no operation ${name}; the operations are ${names.join(", ")}`,
		},
	]);
}

import type { PoolClient, QueryConfig } from "pg";
import {
	endOfMillisecond,
	pastTimestampSchema,
} from "../devices/timestamps.ts";
import { badFields } from "../errors.ts";
import type { Context } from "../operation.ts";
import { tablesAsOf } from "./past-tables.ts";
import { obvious } from "./shown-in-tool-list.ts";

/** The input field of operations that can answer for a moment in the past. */
export const asOfShape = {
	as_of: pastTimestampSchema()
		.optional()
		.meta(obvious("Time in the past, RFC 3339 with offset; now by default")),
};

/**
 * Returns the context of an operation that reads the registers and links as they were at a moment.
 * Its client puts the rows of that moment in place of the tables that a statement names, so every
 * statement that reads the present can also read the past. It is only for reading, and SQL
 * functions still see the present. Without a moment, returns the context itself. Throws bad_request
 * if the states of that moment were not kept.
 */
export async function contextAsOf(
	context: Context,
	asOf: string | undefined,
): Promise<Context> {
	if (asOf === undefined) return context;
	const { client, membership } = context;
	const moment = endOfMillisecond(asOf);
	const { rows } = await client.query<{ since: string; is_known: boolean }>({
		name: "records_known_since",
		text: `select records_known_since as since, records_known_since <= $2 as is_known
			from organizations where id = $1`,
		values: [membership.organizationId, moment],
	});
	const [known] = rows;
	if (!known?.is_known) {
		const message = `must not be before ${known?.since}; earlier states of the records are not known`;
		throw badFields([{ field: "as_of", message }]);
	}
	return { ...context, membership, client: clientAsOf(client, moment) };
}

function clientAsOf(client: PoolClient, moment: string): PoolClient {
	const query = (statement: string | QueryConfig, values?: unknown[]) => {
		const { text, values: given = values } =
			typeof statement === "string" ? { text: statement } : statement;
		// Each moment makes another text, so the statement has no name.
		return client.query(textAsOf(text, moment), given);
	};
	return new Proxy(client, {
		get: (target, name) =>
			name === "query" ? query : Reflect.get(target, name),
	});
}

/** The people of the text index, which has only the names of today. */
const FOUND_PEOPLE = /find_records\('people', array\[[^\][]*\], \d+\)/g;

/** All people of the transaction's organization. A statement compares their names itself. */
const ALL_PEOPLE = `(
	select h.id from people h where h.organization_id = current_setting('assay.organization_id', true)
)`;

/**
 * Returns a statement that reads the rows of the moment instead of the tables that it names. Its
 * "now" is the moment and its "today" the day of the moment, so that nothing is overdue or expired
 * too early. It finds people by the names that they had.
 */
export function textAsOf(statement: string, moment: string): string {
	const text = statement
		.replaceAll(
			"organization_today()",
			`('${moment}'::timestamptz at time zone coalesce(
			(select z.time_zone from organizations z where z.id = current_setting('assay.organization_id', true)),
			'UTC'
		))::date`,
		)
		.replaceAll(/(?<!\w)now\(\)/g, `'${moment}'::timestamptz`)
		.replaceAll(FOUND_PEOPLE, ALL_PEOPLE);
	const parts = tablesAsOf
		.filter(({ table }) => new RegExp(`\\b${table}\\b`).test(text))
		.map(({ table, rowsAt }) => {
			return `${table} as not materialized (${rowsAt(`'${moment}'::timestamptz`)})`;
		});
	if (parts.length === 0) return text;
	const own = text.replace(/^\s*with\s/i, "");
	return `with ${parts.join(", ")}${own === text ? ` ${text}` : `, ${own}`}`;
}

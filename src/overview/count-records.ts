import type { PoolClient } from "pg";
import { z } from "zod";
import {
	DEVICES,
	FRESHNESS,
	REPORTING,
	statusAt,
} from "../devices/device-record.ts";
import { rejectPresent } from "../devices/devices-as-of.ts";
import { deviceListing, pastFilters } from "../devices/read-operations.ts";
import {
	endOfMillisecond,
	pastTimestampSchema,
} from "../devices/timestamps.ts";
import { badFields } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import {
	addFilters,
	rejectImpossible,
	resolveFilters,
} from "../records/filter.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import {
	type Listing,
	listInput,
	organizationId,
} from "../records/list-pages.ts";
import { findNames } from "../records/name-lookup.ts";
import { listingOf, peopleFields } from "../records/record-filters.ts";
import { matchWords, wordsOf } from "../records/text-match.ts";
import { recordKinds } from "../registers/all.ts";
import { parseInput } from "../validation.ts";

/** Largest number of groups that a count returns. The largest groups come first. */
const MAX_GROUPS = 100;

/** Records that can be counted: those of a list, by a column. */
interface Countable
	extends Pick<Listing, "from" | "orders" | "filters" | "people" | "repeated"> {
	/** SQL of the value of a row `t` by the field that a caller groups by. */
	groups: Record<string, string>;
}

const COUNTABLE: Record<string, Countable> = Object.fromEntries([
	...recordKinds.map((kind) => [kind.kind, countable(kind)] as const),
	[
		"device",
		{
			...deviceListing,
			from: DEVICES,
			groups: {
				status: "t.status",
				freshness: `(${FRESHNESS})`,
				reporting: `(${REPORTING})`,
				platform: "t.platform",
				owner_id: "t.owner_id",
				os_version: "t.os_version",
				agent_version: "t.agent_version",
			},
		},
	] as const,
]);

const KINDS = Object.keys(COUNTABLE) as [string, ...string[]];

/** The fields by which records of some kind can be counted. */
const GROUPS = [
	...new Set(
		Object.values(COUNTABLE).flatMap(({ groups }) => Object.keys(groups)),
	),
];

export const countRecords = defineOperation({
	name: "countRecords",
	title: "Count records",
	description:
		"Count the records of a kind that match a filter, all at once or by one of its fields (null: without a value). listPostureSummary counts devices by check.",
	toolset: "counts",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		kind: z.enum(KINDS).describe("Kind of record"),
		filter: z
			.record(z.string(), z.unknown())
			.optional()
			.describe("As in the list tool of the kind"),
		group_by: z.string().max(100).optional().describe(GROUPS.join(", ")),
		as_of: pastTimestampSchema()
			.optional()
			.describe("Devices as known at this time"),
	}),
	output: z.object({
		total: z.int(),
		groups: z
			.array(
				z.object({
					value: z.string().nullable(),
					name: z
						.string()
						.nullable()
						.optional()
						.describe("Name of the record that the value is the id of"),
					count: z.int(),
				}),
			)
			.describe(`The largest ${MAX_GROUPS} groups; empty without group_by`),
		omitted_groups: z.int(),
	}),
	run: async ({ client }, input) => {
		const { organization_id, kind, filter, group_by } = input;
		const counted = COUNTABLE[kind];
		if (!counted) throw new Error(`there is no kind ${kind}`);
		const column = columnOf(counted, kind, group_by);
		const { orders, filters } = counted;
		const given = parseInput(listInput(orders, filters), {
			organization_id,
			filter,
		});
		const rows =
			input.as_of === undefined
				? await count(client, counted, column, given)
				: await countPast(client, kind, group_by, input.as_of, given);
		const [first] = rows;
		if (!first) await rejectImpossible(client, filters, given);
		const grouped = group_by === undefined ? [] : rows;
		const names = group_by?.endsWith("_id")
			? await namesOf(client, organization_id, grouped)
			: undefined;
		return {
			total: first?.total ?? 0,
			groups: grouped.map(({ value, count }) => ({
				value,
				...(names && { name: names.get(value ?? "") ?? null }),
				count,
			})),
			omitted_groups: group_by && first ? first.groups - rows.length : 0,
		};
	},
});

function countable(kind: AnyRecordKind): Countable {
	const fields = Object.entries(kind.fields).filter(
		([name, { type, reference, join }]) =>
			type === "choice" ||
			(reference && !join) ||
			(type === "name" && kind.filters.includes(name)),
	);
	return {
		...listingOf(kind),
		from: `${kind.table} t`,
		people: peopleFields(kind),
		groups: Object.fromEntries(fields.map(([name]) => [name, `t.${name}`])),
	};
}

function columnOf(
	{ groups }: Countable,
	kind: string,
	groupBy: string | undefined,
): string {
	if (groupBy === undefined) return "null";
	const column = Object.hasOwn(groups, groupBy) ? groups[groupBy] : undefined;
	if (column) return column;
	const names = Object.keys(groups).join(", ");
	throw badFields([
		{
			field: "group_by",
			message: `must be one of ${names} for the kind ${kind}`,
		},
	]);
}

interface Group {
	value: string | null;
	count: number;
	/** Number of all records, and of all groups. */
	total: number;
	groups: number;
}

/** Counts devices as they were known at a time in the past. */
function countPast(
	client: PoolClient,
	kind: string,
	group_by: string | undefined,
	as_of: string,
	given: z.output<ReturnType<typeof listInput>>,
): Promise<Group[]> {
	if (kind !== "device") {
		const message = "is only for the kind device; leave it out";
		throw badFields([{ field: "as_of", message }]);
	}
	if (group_by === "freshness" || group_by === "reporting") {
		const message =
			"is known only for the present; leave out this field or as_of";
		throw badFields([{ field: "group_by", message }]);
	}
	rejectPresent(given);
	const moment = endOfMillisecond(as_of);
	const { groups } = COUNTABLE.device as Countable;
	const column =
		group_by === "status" ? STATUS_AS_OF : (groups[group_by ?? ""] ?? "null");
	const past = { ...(COUNTABLE.device as Countable), filters: pastFilters };
	const filter = { as_of: moment, ...given.filter };
	return count(client, past, column, { ...given, filter } as typeof given);
}

/** The status at the moment, which is the first parameter after the organization. */
const STATUS_AS_OF = statusAt("$2::timestamptz");

async function count(
	client: PoolClient,
	{ from, filters, people, repeated }: Countable,
	column: string,
	given: z.output<ReturnType<typeof listInput>>,
): Promise<Group[]> {
	const values: unknown[] = [given.organization_id];
	const parameter = (value: unknown) => `$${values.push(value)}`;
	const conditions = ["t.organization_id = $1"];
	const filter = await resolveFilters(
		client,
		filters,
		given.organization_id,
		given.filter ?? {},
	);
	addFilters(conditions, parameter, filters, filter);
	const words = wordsOf(given.filter?.query ?? "");
	const inWords = await matchWords(client, words, { people, repeated });
	conditions.push(...inWords.conditions(parameter));
	const { rows } = await client.query<Group>(
		`select g.value, g.count,
			(sum(g.count) over ())::int as total, (count(*) over ())::int as groups
		from (
			select (${column})::text as value, count(*)::int as count
			from ${from}
			where ${conditions.join(" and ")}
			group by 1
		) g
		order by g.count desc, g.value
		limit ${MAX_GROUPS}`,
		values,
	);
	return rows;
}

async function namesOf(
	client: PoolClient,
	organization: string,
	rows: readonly Group[],
): Promise<ReadonlyMap<string, string | null>> {
	const ids = rows.map(({ value }) => value).filter((id) => id !== null);
	const found = await findNames(client, organization, ids);
	return new Map(found.map(({ id, name }) => [id, name]));
}

import type { PoolClient } from "pg";
import { z } from "zod";
import { CHECK_KEYS_TEXT, findCheckKey } from "../devices/check-keys.ts";
import { deviceListing, pastFilters } from "../devices/device-listing.ts";
import { DEVICES } from "../devices/device-record.ts";
import { rejectPresent } from "../devices/devices-as-of.ts";
import {
	endOfMillisecond,
	pastTimestampSchema,
} from "../devices/timestamps.ts";
import { badFields } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { canBeArchived, IN_USE } from "../records/archived-field.ts";
import { contextAsOf } from "../records/as-of.ts";
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
import { findNames } from "../records/names-by-id.ts";
import { listingOf, peopleFields } from "../records/record-filters.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { matchWords, wordsOf } from "../records/text-match.ts";
import { recordKinds } from "../registers/all.ts";
import { parseInput } from "../validation.ts";
import { type Column, deviceColumns } from "./device-columns.ts";

/** Largest number of groups that a count returns. The largest groups come first. */
const MAX_GROUPS = 100;

/** Records that can be counted: those of a list, by a column. */
interface Countable
	extends Pick<Listing, "from" | "orders" | "filters" | "people" | "repeated"> {
	/** The columns by the fields that a caller can group by. */
	groups: Record<string, Column>;
	/** Condition that holds unless the caller filters by `archived`. */
	byDefault?: string;
}

const COUNTABLE: Record<string, Countable> = Object.fromEntries([
	...recordKinds.map((kind) => [kind.kind, countable(kind)] as const),
	[
		"device",
		{
			...deviceListing,
			from: DEVICES,
			groups: deviceColumns(),
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
		"Count records that match a filter, all or by a field (null: empty); check_state needs filter.check. listPostureSummary counts devices by check.",
	toolset: "counts",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		kind: z.enum(KINDS).meta(obvious("Kind of record")),
		filter: z
			.record(z.string(), z.unknown())
			.optional()
			.describe(
				`As in the kind's list tool; a device's checks are ${CHECK_KEYS_TEXT}, or an agent's own`,
			),
		group_by: z.string().max(100).optional().describe(GROUPS.join(", ")),
		as_of: pastTimestampSchema()
			.optional()
			.describe("Records and devices as known at this time"),
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
	run: async (context, input) => {
		const { organization_id, kind, filter, group_by } = input;
		const isDevice = kind === "device";
		const { client } = isDevice
			? context
			: await contextAsOf(context, input.as_of);
		const counted = COUNTABLE[kind];
		if (!counted) throw new Error(`there is no kind ${kind}`);
		requireGroup(counted, kind, group_by);
		const { orders, filters } = counted;
		const given = parseInput(listInput(orders, filters), {
			organization_id,
			filter,
		});
		const rows = isDevice
			? await countDevices(client, group_by, input.as_of, given)
			: await countOthers(client, counted, group_by, given);
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

/** Counts the records that a list shows with these filters. The filters are not checked. */
export async function countListed(
	client: PoolClient,
	organization_id: string,
	kind: AnyRecordKind["kind"],
	filter: Record<string, unknown>,
): Promise<number> {
	const counted = COUNTABLE[kind];
	if (!counted) throw new Error(`there is no kind ${kind}`);
	const given = { organization_id, filter };
	const [row] = await countOthers(client, counted, undefined, given);
	return row?.total ?? 0;
}

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
		...(canBeArchived(kind) && { byDefault: IN_USE }),
		groups: Object.fromEntries(
			fields.map(([name]) => [name, { value: `t.${name}`, join: "" }]),
		),
	};
}

function requireGroup(
	{ groups }: Countable,
	kind: string,
	groupBy: string | undefined,
): void {
	if (groupBy === undefined || Object.hasOwn(groups, groupBy)) return;
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

type Given = z.output<ReturnType<typeof listInput>>;

/** Fields of devices that had other values in the past. The others are those of the present. */
const CHANGING = ["status", "compliance", "check_state"];

const ALL: Column = { value: "null", join: "" };

function countOthers(
	client: PoolClient,
	counted: Countable,
	group_by: string | undefined,
	given: Given,
): Promise<Group[]> {
	const column = counted.groups[group_by ?? ""] ?? ALL;
	return count(client, counted, column, given, [given.organization_id]);
}

/** Counts devices, now or as they were known at a time in the past. */
async function countDevices(
	client: PoolClient,
	group_by: string | undefined,
	as_of: string | undefined,
	given: Given,
): Promise<Group[]> {
	const { organization_id } = given;
	const values: unknown[] = [organization_id];
	const parameter = (value: unknown) => `$${values.push(value)}`;
	const filter: Record<string, unknown> = { ...given.filter };
	let at: string | undefined;
	if (as_of !== undefined) {
		if (group_by === "freshness" || group_by === "reporting") {
			const message =
				"is known only for the present; leave out this field or as_of";
			throw badFields([{ field: "group_by", message }]);
		}
		rejectPresent(given);
		filter.as_of = endOfMillisecond(as_of);
		// PostgreSQL rejects a parameter that the statement does not use.
		if (CHANGING.includes(group_by ?? ""))
			at = `${parameter(filter.as_of)}::timestamptz`;
	}
	let check: string | undefined;
	if (group_by === "check_state") {
		check = `${parameter(await checkOf(client, organization_id, filter.check))}::text`;
		if (filter.check_state === undefined) delete filter.check;
	}
	const counted = {
		...(COUNTABLE.device as Countable),
		...(as_of !== undefined && { filters: pastFilters }),
	};
	const column = deviceColumns(at, check)[group_by ?? ""] ?? ALL;
	return count(client, counted, column, { ...given, filter }, values);
}

/** Returns the key of the check whose states are counted. */
async function checkOf(
	client: PoolClient,
	organizationId: string,
	check: unknown,
): Promise<string> {
	if (typeof check === "string")
		return findCheckKey(client, organizationId, check, "filter.check");
	const message = "is required with group_by check_state";
	throw badFields([{ field: "filter.check", message }]);
}

/** Counts records by a column. `values` are the parameters that the column uses. */
async function count(
	client: PoolClient,
	{ from, filters, people, repeated, byDefault }: Countable,
	{ value, join }: Column,
	given: Given,
	values: unknown[],
): Promise<Group[]> {
	const parameter = (value: unknown) => `$${values.push(value)}`;
	const conditions = ["t.organization_id = $1"];
	const filter = await resolveFilters(
		client,
		filters,
		given.organization_id,
		given.filter ?? {},
	);
	if (byDefault && filter.archived === undefined) conditions.push(byDefault);
	addFilters(conditions, parameter, filters, filter, "count");
	const words = wordsOf(given.filter?.query ?? "");
	const inWords = await matchWords(client, words, { people, repeated });
	conditions.push(...inWords.conditions(parameter));
	const { rows } = await client.query<Group>(
		`select g.value, g.count,
			(sum(g.count) over ())::int as total, (count(*) over ())::int as groups
		from (
			select (${value})::text as value, count(*)::int as count
			from ${from} ${join}
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

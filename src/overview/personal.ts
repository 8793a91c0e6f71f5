import type { PoolClient } from "pg";
import { z } from "zod";
import {
	claimedDevice,
	MAX_CLAIMS,
	readClaimedDevices,
} from "../devices/owner-claims.ts";
import { readWaiting, waiting } from "../documents/versions.ts";
import { findPeopleOf } from "../organizations/person-of-member.ts";
import { dueDates } from "../records/due-dates.ts";
import { nameSql } from "../records/record-name.ts";
import { discussion, readDiscussion } from "./discussion.ts";
import { failingCheck, findFailingChecks } from "./failing-checks.ts";
import { coverages, readCoverages } from "./framework-coverages.ts";
import { MAX_NAMED } from "./max-named.ts";
import {
	ownFailingChecks,
	readOwnFailingChecks,
} from "./own-failing-checks.ts";

/** The days that "this week" means, from today on. */
const WEEK_DAYS = 7;

export const personalShape = {
	mine: z
		.object({
			person_id: z.string(),
			overdue: z.int(),
			this_week: z.int().describe(`Due within ${WEEK_DAYS} days`),
			open_tasks: z
				.int()
				.describe("Tasks that are not done, also with a later or no deadline"),
			devices: z.int(),
			failing_checks: ownFailingChecks,
			claimed_devices: z
				.array(claimedDevice)
				.describe(
					`Devices without an owner whose installers named the person, at most ${MAX_CLAIMS}`,
				),
			has_more_claimed_devices: z.boolean(),
			waiting,
			counts: z
				.array(
					z.object({
						kind: z.string(),
						field: z.string(),
						person: z.string().describe("The field with the person"),
						overdue: z.int(),
						this_week: z.int(),
					}),
				)
				.describe("The same by kind and date"),
			records: z
				.array(
					z.object({
						kind: z.string(),
						id: z.string(),
						name: z.string().nullable(),
						field: z.string().describe("The date that is meant"),
						due: z.string(),
					}),
				)
				.describe(`Overdue or due this week, at most ${MAX_NAMED}`),
		})
		.nullable()
		.describe(
			"Open work of the person with the caller's e-mail address; null: there is no such person",
		),
	newly_failing: z
		.array(failingCheck)
		.describe(
			`Checks of ONLINE devices that began to fail within 24 hours, without exceptions, the latest ${MAX_NAMED}`,
		),
	discussion,
	coverage: coverages,
};

/** Returns the part of the overview that is about the caller, and what is new. */
export async function readPersonal(
	client: PoolClient,
	organization: string,
	userId: string | null,
	today: string,
): Promise<z.input<z.ZodObject<typeof personalShape>>> {
	const [mine, newlyFailing, discussed, coverage] = await Promise.all([
		readMine(client, organization, userId, today),
		findFailingChecks(client, organization, "NEWEST"),
		readDiscussion(client, organization, userId),
		readCoverages(client, organization),
	]);
	return {
		mine,
		newly_failing: newlyFailing,
		discussion: discussed,
		coverage,
	};
}

interface Counts {
	kind: string;
	field: string;
	person: string;
	overdue: number;
	this_week: number;
}

interface Due {
	kind: string;
	id: string;
	name: string | null;
	field: string;
	due: string;
}

async function readMine(
	client: PoolClient,
	organization: string,
	userId: string | null,
	today: string,
) {
	const people = await findPeopleOf(client, organization, userId);
	const [person] = people;
	if (person === undefined) return null;
	const dueOf = dueDates.map(
		({ kind, date, person: field, open }) => `
			select '${kind.kind}' as kind, t.id, left(${nameSql(kind, "t")}, 1000) as name,
				'${date}' as field, '${field}' as person, t.${date} as due
			from ${kind.table} t
			where t.organization_id = $1 and t.${field} = $2 and ${open}
				and t.${date} <= $3::date + ${WEEK_DAYS}`,
	);
	const { rows } = await client.query<{
		overdue: number;
		this_week: number;
		open_tasks: number;
		devices: number;
		counts: Counts[];
		records: Due[];
	}>({
		name: "overview.mine",
		text: `
			with due as materialized (${dueOf.join(" union all ")})
			select
				(select count(*)::int from due d where d.due < $3::date) as overdue,
				(select count(*)::int from due d where d.due >= $3::date) as this_week,
				(
					select count(*)::int from tasks t
					where t.organization_id = $1 and t.assigned_to_id = $2 and t.state <> 'DONE'
				) as open_tasks,
				(
					select count(*)::int from devices d
					where d.organization_id = $1 and d.owner_id = $2 and d.status = 'ACTIVE'
				) as devices,
				(
					select coalesce(jsonb_agg(x), '[]')
					from (
						select d.kind, d.field, d.person,
							(count(*) filter (where d.due < $3::date))::int as overdue,
							(count(*) filter (where d.due >= $3::date))::int as this_week
						from due d
						group by d.kind, d.field, d.person
						order by overdue desc, this_week desc, d.kind, d.field
					) x
				) as counts,
				(
					select coalesce(jsonb_agg(x), '[]')
					from (select d.kind, d.id, d.name, d.field, d.due from due d order by d.due, d.id, d.field limit ${MAX_NAMED}) x
				) as records`,
		values: [organization, person, today],
	});
	const [row] = rows;
	const claimed = await readClaimedDevices(client, organization, person);
	const waiting = await readWaiting(client, organization, people);
	const failing = await readOwnFailingChecks(client, organization, person);
	return row
		? {
				person_id: person,
				...row,
				failing_checks: failing,
				claimed_devices: claimed.devices,
				waiting,
				has_more_claimed_devices: claimed.hasMore,
			}
		: null;
}

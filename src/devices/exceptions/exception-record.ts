import { z } from "zod";
import { notFound } from "../../invoke.ts";
import type { Context } from "../../operation.ts";
import { checkName } from "../device-record.ts";
import { PLATFORMS } from "../terms.ts";
import {
	EXCEPTION_STATUS,
	EXCEPTION_STATUSES,
	SCOPES,
} from "./exception-status.ts";

const person = z
	.object({ user_id: z.string().nullable(), name: z.string().nullable() })
	.nullable();

export const deviceException = z.object({
	id: z.string(),
	organization_id: z.string(),
	check_key: z.string(),
	check_name: z.string().nullable(),
	scope: z.enum(SCOPES),
	device_id: z.string().nullable(),
	device_name: z.string().nullable(),
	group_id: z.string().nullable(),
	group_name: z.string().nullable(),
	platform: z.enum(PLATFORMS).nullable(),
	reason: z.string(),
	status: z
		.enum(EXCEPTION_STATUSES)
		.describe("IN_FORCE excuses; SCHEDULED: approved, starts later"),
	starts_at: z.string(),
	ends_at: z.string(),
	requested_by: person,
	requested_by_person_id: z
		.string()
		.nullable()
		.describe("Person who asked for it without an account"),
	link_copied_by_id: z
		.string()
		.nullable()
		.describe("User who copied the link by which the person asked"),
	decided_by: person,
	decided_at: z.string().nullable(),
	decision_note: z.string().nullable(),
	needs_two_people: z
		.boolean()
		.describe("The policy demanded two people when it was requested"),
	is_self_approved: z
		.boolean()
		.describe("The user who requested it or copied its link approved it"),
	created_at: z.string(),
	updated_at: z.string(),
});

export type DeviceException = z.output<typeof deviceException>;
type Row = Omit<DeviceException, "check_name">;

/** The columns of an exception `t`. */
export const EXCEPTION_COLUMNS = `
	t.id, t.organization_id, t.check_key, t.scope, t.device_id,
	(
		select coalesce(d.name, d.hostname) from devices d
		where d.organization_id = t.organization_id and d.id = t.device_id
	) as device_name,
	t.group_id,
	(
		select g.name from device_groups g
		where g.organization_id = t.organization_id and g.id = t.group_id
	) as group_name,
	t.platform, t.reason, ${EXCEPTION_STATUS} as status, t.starts_at, t.ends_at,
	jsonb_build_object('user_id', t.requested_by_id, 'name', coalesce(
		t.requested_by_name,
		(
			select p.full_name from people p
			where p.organization_id = t.organization_id and p.id = t.requested_by_person_id
		)
	)) as requested_by,
	t.requested_by_person_id, t.link_copied_by_id,
	case when t.decision is not null then
		jsonb_build_object('user_id', t.decided_by_id, 'name', t.decided_by_name)
	end as decided_by,
	t.decided_at, t.decision_note, t.needs_two_people, t.is_self_approved, t.created_at, t.updated_at`;

export const withCheckName = (row: Row): DeviceException => ({
	...row,
	check_name: checkName(row.check_key),
});

/** Returns the exception, locked if the caller changes it. Throws not_found if there is none. */
export async function readException(
	{
		client,
		membership,
	}: Pick<Context, "client"> & {
		membership: Pick<Context["membership"], "organizationId">;
	},
	id: string,
	lock: "" | "for update of t" = "",
): Promise<DeviceException> {
	const { rows } = await client.query<Row>(
		`select ${EXCEPTION_COLUMNS} from device_exceptions t
		where t.organization_id = $1 and t.id = $2 ${lock}`,
		[membership.organizationId, id],
	);
	if (!rows[0]) throw notFound(id);
	return withCheckName(rows[0]);
}

/** Returns what the events of an exception say. They contain ids and codes only. */
export const eventData = ({
	check_key,
	scope,
	device_id,
	group_id,
	platform,
	starts_at,
	ends_at,
	requested_by,
	requested_by_person_id,
}: DeviceException) => ({
	check_key,
	scope,
	...(device_id && { device_id }),
	...(group_id && { group_id }),
	...(platform && { platform }),
	starts_at,
	ends_at,
	requested_by_id: requested_by?.user_id ?? null,
	requested_by_person_id,
});

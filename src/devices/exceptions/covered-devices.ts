import type { PoolClient } from "pg";
import { z } from "zod";
import { byTime, type ListInput, readPage } from "../../records/list-pages.ts";
import { postureStatus } from "../device-record.ts";

/** A time for which an exception excused a device. */
export const coveredDevice = z.object({
	device_id: z.string(),
	device_name: z.string().nullable(),
	status: postureStatus.describe("What the device reported meanwhile"),
	from: z.string(),
	until: z.string().nullable().describe("null: it still does"),
});
type Covered = z.output<typeof coveredDevice>;

/** The first observation of the device with another status than the span `s`. */
const NEXT_SINCE = `(
	select x.since from posture_spans x
	where x.organization_id = s.organization_id and x.device_id = s.device_id
		and x.check_key = s.check_key and x.since > s.since
	order by x.since limit 1
)`;

/**
 * The times for which exceptions of the transaction's organization excused a device, one row for
 * each time that the device failed or could not tell. They follow from the history of the checks,
 * so nothing has to store them. The devices of a group have a row for each time that they belonged
 * to it.
 */
const COVERED = `(
	select
		y.exception_id, y.organization_id, y.device_id as id, y.device_id, y.status, y.from_at, y.name, y.ended_at,
		nullif(least(y.ended_at, y.ends_at), 'infinity') as until
	from (
		select
			e.id as exception_id, s.organization_id, s.device_id, s.status,
			coalesce(d.name, d.hostname) as name,
			greatest(s.since, e.starts_at, e.decided_at, m.since) as from_at,
			least(
				coalesce(${NEXT_SINCE}, 'infinity'), coalesce(m.until, 'infinity'),
				coalesce(d.revoked_at, 'infinity')
			) as ended_at,
			case when e.ends_at <= now() then e.ends_at else 'infinity' end as ends_at
		from device_exceptions e
		join posture_spans s on s.organization_id = e.organization_id and s.check_key = e.check_key
			and s.status in ('FAIL', 'UNKNOWN') and s.since < least(e.ends_at, now())
		join devices d on d.organization_id = s.organization_id and d.id = s.device_id
		left join device_exception_members m on m.organization_id = e.organization_id
			and m.exception_id = e.id and m.device_id = s.device_id
		where e.organization_id = current_setting('assay.organization_id', true) and e.decision = 'APPROVED'
			and case e.scope
				when 'DEVICE' then s.device_id = e.device_id
				when 'PLATFORM' then d.platform = e.platform
				when 'GROUP' then m.device_id is not null
				else true
			end
	) y
	where y.from_at < least(y.ended_at, y.ends_at) and y.from_at <= now()
) t`;

const orders = { from: byTime("from_at") };

/** Reads a page of the times for which an exception excused a device, the latest first. */
export async function readCovered(
	client: PoolClient,
	exceptionId: string,
	page: Pick<ListInput, "size" | "cursor">,
) {
	const { rows, ...rest } = await readPage<Covered>(
		client,
		{
			tool: "getDeviceException",
			columns: `t.id, t.device_id, t.name as device_name, t.status, t.from_at as "from", t.until`,
			from: COVERED,
			within: { sql: "t.exception_id = $1", value: exceptionId },
			orders,
			filters: {},
		},
		{ ...page, order_by: { field: "from" } },
	);
	return { covered: rows, ...rest };
}

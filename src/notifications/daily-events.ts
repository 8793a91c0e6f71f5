import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { IS_LATE } from "../documents/late-signatures.ts";
import { isConnectionTrouble } from "../errors.ts";
import type { EventType } from "../events/types.ts";
import { type FirstLooks, type Poller, startPoller } from "../jobs/poller.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { IN_USE } from "../records/archived-field.ts";
import { orInfinity } from "../records/date-or-infinity.ts";
import { DUE_SOON_DAYS, dueDates } from "../records/due-dates.ts";

const POLL_MS = 60_000;

/** Most ids of records that an event has for each list. */
const MAX_IDS = 5;

/** The events that an organization gets at most once a day. */
export const DAILY_EVENTS = [
	"work.overdue",
	"reviews.due",
	"signatures.missing",
] as const satisfies readonly EventType[];

export type DailyEvent = (typeof DAILY_EVENTS)[number];

/** The records of one register in a daily event. */
export interface DailyList {
	kind: string;
	/** The date that is meant, or `signature`. */
	field: string;
	count: number;
	overdue: number;
	/** The missing signatures of all these documents. Null for the other events. */
	signatures: number | null;
	/** The first records by date. */
	record_ids: string[];
	/** Address of the list with exactly these records. */
	url: string;
}

/** The content of a daily event. */
export interface DailyData {
	date: string;
	/** The sum of the counts of the lists. */
	count: number;
	/** Last day of the reviews that the event counts, and of the work. */
	until: string;
	lists: DailyList[];
}

/** SQL for the last day that an event counts. Work counts when its day has passed. */
const UNTIL: Record<DailyEvent, string> = {
	"work.overdue": `${TODAY} - 1`,
	"reviews.due": `${TODAY} + ${DUE_SOON_DAYS}`,
	"signatures.missing": TODAY,
};

/** SQL for the lists of each event in the organization $1, with the query of their addresses. */
const LISTS = [
	...dueDates.map(({ kind, date, open, only, isWork }) => {
		const type: DailyEvent = isWork ? "work.overdue" : "reviews.due";
		// The index for ordering by this date has the same expression.
		const indexed = orInfinity(date, "date");
		const rows = `${kind.table} t
			where t.organization_id = $1 and ${indexed} <= ${UNTIL[type]} and ${open}`;
		return `select '${type}' as type, '${kind.kind}' as kind, '${date}' as field,
				c.count, c.overdue, null::int as signatures,
				array(select t.id from ${rows} order by ${indexed}, t.id limit ${MAX_IDS}) as record_ids,
				${isWork ? "'due=overdue'" : `'${only ? `${only.field}=${only.value}&` : ""}${date}_until=' || to_char(${UNTIL[type]}, 'YYYY-MM-DD')`} as query
			from (
				select count(*)::int as count,
					(count(*) filter (where t.${date} < ${TODAY}))::int as overdue
				from ${rows}
			) c`;
	}),
	`select 'signatures.missing', 'document', 'signature', count(*)::int, count(*)::int,
			sum(d.signatures)::int,
			(array_agg(d.id order by d.requested_at, d.id))[1:${MAX_IDS}], 'lacks_signatures=true'
		from (
			select t.id, count(*) as signatures, min(s.requested_at) as requested_at
			from document_signatures s
			join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
			join documents t on t.organization_id = v.organization_id and t.id = v.document_id
			where s.organization_id = $1 and ${IS_LATE} and v.status = 'PUBLISHED' and ${IN_USE}
			group by t.id
		) d`,
].join(" union all ");

/**
 * Stores the events of today. An event that has nothing to tell counts as handled. Its row only says
 * that somebody has looked. A unique index lets each event be stored once, however many processes
 * there are.
 */
const STORE = `
	insert into events (organization_id, type, record_id, data, handled_at)
	select $1::text, w.type, $1::text, jsonb_build_object(
			'date', to_char(${TODAY}, 'YYYY-MM-DD'),
			'until', case w.type
				${DAILY_EVENTS.map((type) => `when '${type}' then ${UNTIL[type]}`).join(" ")}
			end,
			'count', coalesce(sum(l.count), 0),
			'lists', coalesce(jsonb_agg(jsonb_build_object(
				'kind', l.kind, 'field', l.field, 'count', l.count, 'overdue', l.overdue,
				'signatures', l.signatures, 'record_ids', l.record_ids,
				'url', $3::text || '/o/' || $1::text || '/r/' || l.kind || '?' || l.query
			)) filter (where l.kind is not null), '[]')
		), case when count(l.kind) = 0 then now() end
	from unnest($2::text[]) w (type)
	left join (${LISTS}) l on l.type = w.type and l.count > 0
	group by w.type
	on conflict do nothing`;

/**
 * Makes the daily events after 7:00 in the time zone of each organization, if a channel or a webhook
 * wants one of them. Only such organizations are looked at, with one statement each, because
 * row-level security lets a statement read one organization.
 */
export function startDailyEvents(
	pool: Pool,
	baseUrl: string,
	log: Logger,
	firstLooks?: FirstLooks,
): Poller {
	return startPoller(
		"daily events",
		POLL_MS,
		async () => {
			const { rows } = await pool.query<{ id: string }>(
				"select id from organizations_with_daily_events() as id",
			);
			let done = 0;
			for (const { id } of rows) {
				await withTenant(pool, id, (client) =>
					storeDailyEvents(client, id, baseUrl),
				).then(
					() => done++,
					(err) => {
						// The other organizations must not wait for what is wrong with this one.
						if (isConnectionTrouble(err)) throw err;
						log.error(
							{ err, organization: id },
							"the daily events of an organization have to wait",
						);
					},
				);
			}
			return done > 0;
		},
		log,
		firstLooks,
	);
}

export async function storeDailyEvents(
	client: PoolClient,
	organizationId: string,
	baseUrl: string,
): Promise<void> {
	await client.query({
		name: "daily_events",
		text: STORE,
		values: [organizationId, DAILY_EVENTS, baseUrl],
	});
}

/** Returns true for an event that has the form of `DailyData`. */
export const isDaily = (type: EventType): type is DailyEvent =>
	(DAILY_EVENTS as readonly string[]).includes(type);

import type { PoolClient } from "pg";
import {
	checkName,
	DEVICE_COLUMNS,
	DEVICES,
	type Device,
	type DeviceRow,
} from "./device-record.ts";
import { readCheckStates, withStates } from "./read-check-states.ts";
import { CHECK_KEYS, type Evidence } from "./terms.ts";
import { visibleValue } from "./visible-text.ts";

/** Returns the device with its postures and their evidence, or undefined if it does not exist. */
export async function findDevice(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<Device | undefined> {
	const [{ rows }, postures, states] = await Promise.all([
		client.query<DeviceRow>({
			name: "get.device",
			text: `select ${DEVICE_COLUMNS} from ${DEVICES} where t.organization_id = $1 and t.id = $2`,
			values: [organizationId, id],
		}),
		readPostures(client, organizationId, [id], {
			isList: false,
			withEvidence: true,
		}),
		readCheckStates(client, organizationId, [id]),
	]);
	return rows[0] && withStates(toDevice(rows[0], postures), states);
}

/** Adds its postures to a device. */
export function toDevice<Row extends { id: string }>(
	row: Row,
	postures: PosturesOf,
): Row & { postures: PostureRow[]; omitted_checks: number } {
	const { shown, omitted } = postures.get(row.id) ?? { shown: [], omitted: 0 };
	return { ...row, postures: shown, omitted_checks: omitted };
}

/** A posture without its state by the policy. */
type PostureRow = Omit<
	Device["postures"][number],
	"check_state" | "in_grace_until"
>;

/** The latest status of each check, by the id of the device. */
export type PosturesOf = Map<string, { shown: PostureRow[]; omitted: number }>;

/**
 * Largest number of a device's non-canonical checks that a tool's result shows, in a list and for a
 * single device.
 */
const MAX_SHOWN = { inLists: 20, alone: 200 } as const;

/** Number of these non-canonical checks that include their evidence. */
const WITH_EVIDENCE = 20;

/**
 * Longest evidence, as JSON text, that the results of tools include. Our own agent sends no longer
 * evidence.
 */
const MAX_EVIDENCE_LENGTH = 4096;

/**
 * Reads the current state of all checks of these devices, or with `asOf` the last one that was
 * known at that time. This takes one statement, however many devices there are and however long
 * their history is. One device cannot make the result large or slow: the statement reads only the
 * first non-canonical checks and leaves out evidence that is too long. The evidence comes from the
 * raw report that last confirmed the state. It is null if the agent sent none, or if retention has
 * removed the report.
 */
export async function readPostures(
	client: PoolClient,
	organizationId: string,
	deviceIds: string[],
	options: { isList: boolean; withEvidence?: boolean; asOf?: string },
): Promise<PosturesOf> {
	const { isList, withEvidence, asOf } = options;
	const [name, text] =
		asOf !== undefined
			? ["postures.as_of", POSTURES_AS_OF]
			: withEvidence
				? ["postures.evidence", POSTURES_WITH_EVIDENCE]
				: ["postures", POSTURES];
	const { rows } = await client.query({
		name,
		text,
		values: [
			organizationId,
			deviceIds,
			CHECK_KEYS,
			isList ? MAX_SHOWN.inLists : MAX_SHOWN.alone,
			...(asOf !== undefined
				? [asOf]
				: withEvidence
					? [WITH_EVIDENCE, MAX_EVIDENCE_LENGTH]
					: []),
		],
	});
	const postures: PosturesOf = new Map();
	for (const row of rows) {
		let ofDevice = postures.get(row.device_id);
		if (!ofDevice) {
			ofDevice = { shown: [], omitted: row.omitted };
			postures.set(row.device_id, ofDevice);
		}
		ofDevice.shown.push({
			check_key: row.check_key,
			check_name: checkName(row.check_key),
			status: row.status,
			since: row.since,
			observed_at: row.last_observed_at,
			...(withEvidence && {
				evidence: visibleValue(row.evidence) as Evidence | null,
			}),
			...(row.evidence_is_omitted && { evidence_is_omitted: true }),
		});
	}
	return postures;
}

// For each device, the canonical checks and then the first of the other checks, ordered by key.
// Both parts use the index of current spans.
const SHOWN = `
	unnest($2::text[]) d (id)
	cross join lateral (
		(
			select s.*, 0::bigint as n
			from posture_spans s
			where s.organization_id = $1 and s.device_id = d.id and s.is_current
				and s.check_key = any($3::text[])
		)
		union all
		(
			select o.*, row_number() over (order by o.check_key) as n
			from (
				select s.*
				from posture_spans s
				where s.organization_id = $1 and s.device_id = d.id and s.is_current
					and s.check_key <> all($3::text[])
				order by s.check_key
				limit $4
			) o
		)
	) s
	cross join lateral (
		select greatest(0, count(*) - $4)::int as omitted
		from posture_spans o
		where o.organization_id = $1 and o.device_id = d.id and o.is_current
			and o.check_key <> all($3::text[])
	) c`;

const POSTURES = `
	select s.device_id, s.check_key, s.status, s.since, s.last_observed_at, c.omitted
	from ${SHOWN}
	order by s.device_id, s.check_key`;

// Every check that was ever observed has a current span. It leads to the span at the moment.
const POSTURES_AS_OF = `
	select s.device_id, s.check_key, a.status, a.since,
		least(a.last_observed_at, $5::timestamptz) as last_observed_at, c.omitted
	from ${SHOWN}
	cross join lateral (
		select a.status, a.since, a.last_observed_at from posture_spans a
		where a.organization_id = s.organization_id and a.device_id = s.device_id
			and a.check_key = s.check_key and a.since <= $5::timestamptz
		order by a.since desc limit 1
	) a
	order by s.device_id, s.check_key`;

// A device's clock may be up to five minutes ahead. A report may therefore be received that long
// before the time that it gives for an observation. With this bound, PostgreSQL does not read older
// partitions. Earlier releases had no limit on the length of a key. They stored a long key in the
// history as its beginning and its SHA-256, and the query compares it in that form too.
const POSTURES_WITH_EVIDENCE = `
	select
		s.device_id, s.check_key, s.status, s.since, s.last_observed_at, c.omitted,
		case when length(r.evidence::text) <= $6 then r.evidence end as evidence,
		s.n > $5 or coalesce(length(r.evidence::text) > $6, false) as evidence_is_omitted
	from ${SHOWN}
	left join lateral (
		select e.result -> 'evidence' as evidence
		from find_posture_report(
			s.organization_id, s.device_id, s.last_report_id, s.last_observed_at - interval '6 minutes'
		) r, jsonb_array_elements(r.results) with ordinality e (result, n)
		where s.n <= $5
			and (
				e.result ->> 'check_key' = s.check_key
				or length(s.check_key) > 400 and right(s.check_key, 64)
					= encode(sha256(convert_to(e.result ->> 'check_key', 'UTF8')), 'hex')
			)
		order by (e.result ->> 'observed_at')::timestamptz = s.last_observed_at desc, r.received_at, e.n
		limit 1
	) r on true
	order by s.device_id, s.check_key`;

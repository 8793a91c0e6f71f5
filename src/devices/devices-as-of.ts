import type { PoolClient } from "pg";
import { textArray } from "../db/array.ts";
import { badFields, type FieldIssue } from "../errors.ts";
import type { Filter } from "../records/filter.ts";
import { checkKeysOf } from "./check-keys.ts";
import { stateFilters } from "./check-state-filters.ts";
import { lastSpans } from "./check-states.ts";
import { readPostures, toDevice } from "./device-postures.ts";
import {
	DEVICES,
	type Device,
	type DeviceRow,
	type PastDevice,
	staleAfter,
	statusAt,
} from "./device-record.ts";
import { readCheckStates, withStates } from "./read-check-states.ts";
import { silencesAt } from "./silences.ts";
import type { PostureStatus } from "./terms.ts";

/** SQL for the items of a parameter: the moment comes first, and then the values of the filter. */
const moment = (parameter: string) => `(${parameter}::text[])[1]::timestamptz`;
const values = (parameter: string) => `(${parameter}::text[])[2:]`;

const withMoment =
	(toValues: (value: unknown, given: Record<string, unknown>) => string[]) =>
	(value: unknown, given: Record<string, unknown>) =>
		textArray([String(given.as_of), ...toValues(value, given)]);

const keysOf = (value: unknown) => checkKeysOf(String(value));

/** Selects the devices whose last spans `s` that began by the moment had one of the statuses. */
const hadStatus = (
	status: string,
	parameter: string,
	where: string,
) => `t.id = any(array(
	select s.device_id::text from posture_spans s
	where s.organization_id = $1 and s.status in (${status}) and s.since <= ${moment(parameter)}
		and ${where}
		-- A span that is current or reaches the moment was the last one, without a look at the others.
		and (s.is_current or s.last_observed_at >= ${moment(parameter)} or not exists (
			select from posture_spans n
			where n.organization_id = s.organization_id and n.device_id = s.device_id
				and n.check_key = s.check_key and n.since > s.since and n.since <= ${moment(parameter)}
		))
))`;

/** Returns a filter by the status that a check had. The parameter ends with its keys. */
const byCheck = (
	...statuses: PostureStatus[]
): Pick<Filter, "sql" | "toParameter"> => ({
	sql: (p) =>
		hadStatus(
			statuses.map((status) => `'${status}'`).join(", "),
			p,
			`s.check_key = any(${values(p)})`,
		),
	toParameter: withMoment(keysOf),
});

/** The filters whose conditions differ at a moment in the past. */
const CHANGED: Record<string, Pick<Filter, "sql" | "toParameter">> = {
	status: {
		sql: (p) => `${statusAt(moment(p))} = any(${values(p)})`,
		toParameter: withMoment((value) => [value].flat().map(String)),
	},
	failing_check: byCheck("FAIL"),
	unknown_check: byCheck("UNKNOWN"),
	not_passing_check: byCheck("FAIL", "UNKNOWN"),
	passing_check: {
		// Most devices match, so walking them in the list's order soon fills a page.
		sql: (p) => `(
			select s.status from posture_spans s
			where s.organization_id = $1 and s.device_id = t.id
				and s.check_key = any(${values(p)}) and s.since <= ${moment(p)}
			order by s.since desc limit 1
		) = 'PASS'`,
		toParameter: withMoment(keysOf),
	},
	failing_since_before: {
		sql: (p) =>
			hadStatus(
				"'FAIL'",
				p,
				`s.since < (${p}::text[])[2]::timestamptz
				and (cardinality(${p}::text[]) = 2 or s.check_key = any((${p}::text[])[3:]))`,
			),
		toParameter: withMoment((value, { failing_check: check }) => [
			String(value),
			...(check === undefined ? [] : keysOf(check)),
		]),
	},
	...stateFilters("as_of"),
	min_failing: {
		// Reads the whole history once. Looking at each span that failed takes longer, because many
		// were followed by others.
		sql: (p) => `t.id = any(array(
			select s.device_id::text from ${lastSpans(moment(p))} s
			where s.status = 'FAIL'
			group by s.device_id having count(*) >= (${p}::text[])[2]::int
		))`,
		toParameter: withMoment((value) => [String(value)]),
	},
};

/** Returns the filters of the list of devices for a moment in the past, and `as_of` itself. */
export function filtersAsOf(
	filters: Record<string, Filter>,
): Record<string, Filter> {
	const changed = Object.entries(filters).map(([name, filter]) => [
		name,
		{ ...filter, ...CHANGED[name] },
	]);
	return {
		...Object.fromEntries(changed),
		as_of: {
			schema: undefined as never,
			sql: (parameter) =>
				`${statusAt(`${parameter}::timestamptz`)} is not null`,
		},
	};
}

/** Throws bad_request for filters that are known only for the present. */
export function rejectPresent(input: {
	include_evidence?: boolean | undefined;
	order_by?: { field: string } | undefined;
	filter?: object | undefined;
}): void {
	const fields: string[] = [];
	if (input.include_evidence) fields.push("include_evidence");
	const order = input.order_by?.field ?? "";
	if (["last_seen_at", "failing_since"].includes(order)) {
		fields.push("order_by.field");
	}
	for (const name of [
		"freshness",
		"reporting",
		"conflict",
		"awaits_approval",
	]) {
		if (input.filter && name in input.filter) fields.push(`filter.${name}`);
	}
	const issues = fields.map(
		(field): FieldIssue => ({
			field,
			message: "is known only for the present; leave out this field or as_of",
		}),
	);
	if (issues.length > 0) throw badFields(issues);
}

/** The facts that come from the agent. A device that was PENDING had no agent. */
const NOT_REPORTED_YET = {
	hardware_uuid: null,
	serial_number: null,
	hostname: null,
	platform: null,
	os_version: null,
	agent_version: null,
	agent_name: null,
} as const satisfies Partial<PastDevice>;

/**
 * Returns devices as they were at the moment: their status, and the last state of each check known
 * by then. Names, owners and systems are those of today, but a device that was PENDING has no
 * system. The past freshness, conflicts, heartbeat
 * and report are not known. `is_stale` says whether the device had gone silent.
 */
export async function readDevicesAsOf(
	client: PoolClient,
	organizationId: string,
	rows: DeviceRow[],
	asOf: string,
): Promise<PastDevice[]> {
	const ids = rows.map(({ id }) => id);
	const [postures, states, checks] = await Promise.all([
		readPostures(client, organizationId, ids, { isList: true, asOf }),
		readStates(client, organizationId, ids, asOf),
		readCheckStates(client, organizationId, ids, asOf),
	]);
	return rows.flatMap((row) => {
		const {
			last_seen_at: _,
			last_reported_at: __,
			conflicts: ___,
			duplicate_of: _______,
			freshness: ____,
			reporting: _____,
			awaits_approval: ______,
			...kept
		} = row;
		const state = states.get(row.id);
		if (!state) return [];
		const then = {
			...(state.status === "PENDING" && NOT_REPORTED_YET),
			...(state.status !== "REVOKED" && { revoked_at: null }),
		};
		return [
			withStates({ ...toDevice(kept, postures), ...state, ...then }, checks),
		];
	});
}

interface State {
	status: Device["status"];
	failing_count: number;
	is_stale: boolean;
}

async function readStates(
	client: PoolClient,
	organizationId: string,
	ids: string[],
	asOf: string,
): Promise<Map<string, State>> {
	const { rows } = await client.query<State & { id: string }>({
		name: "devices.as_of",
		text: `
			select
				t.id, ${statusAt("$3::timestamptz")} as status, known.failing as failing_count,
				known.at is null or known.at < $3::timestamptz
					- ${staleAfter("o.posture_interval_seconds")} as is_stale
			from ${DEVICES}
			left join ${silencesAt("$3::timestamptz", "$2::text[]")} quiet on quiet.device_id = t.id
			cross join lateral (
				select
					max(least(x.last_observed_at, $3, quiet.since)) as at,
					(count(*) filter (where x.status = 'FAIL'))::int as failing
				from posture_spans c
				cross join lateral (
					select x.status, x.last_observed_at from posture_spans x
					where x.organization_id = c.organization_id and x.device_id = c.device_id
						and x.check_key = c.check_key and x.since <= $3
					order by x.since desc limit 1
				) x
				where c.organization_id = $1 and c.device_id = t.id and c.is_current
			) known
			where t.organization_id = $1 and t.id = any($2::text[])`,
		values: [organizationId, ids, asOf],
	});
	return new Map(rows.map(({ id, ...state }) => [id, state]));
}

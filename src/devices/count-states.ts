import type { PoolClient } from "pg";
import { z } from "zod";
import {
	CHECK_STATES,
	type CheckState,
	COMPLIANCES,
	type Compliance,
} from "./check-states.ts";
import { fleetStates } from "./fleet-states.ts";
import type { PostureStatus } from "./terms.ts";

const counts = <const Name extends string>(names: readonly Name[]) =>
	z.object(
		Object.fromEntries(names.map((name) => [name, z.int()])) as Record<
			Name,
			z.ZodInt
		>,
	);

/** The number of ACTIVE devices in each state of a check. */
export const stateCounts = () => counts(CHECK_STATES);
/** The number of ACTIVE devices by their state as a whole. */
export const complianceCounts = () => counts(COMPLIANCES);

export type StateCounts = Record<CheckState, number>;
export type ComplianceCounts = Record<Compliance, number>;

/** The numbers of ACTIVE devices. */
export interface FleetCounts {
	active: number;
	/** Devices that are not ONLINE or no longer report. */
	stale: number;
	/** ONLINE devices that no longer report. */
	notReporting: number;
	statuses: StatusCount[];
	compliance: ComplianceCounts;
	/** COMPLIANT devices that an exception excuses from a check. */
	compliantByException: number;
	/** The keys of the checks that the policy requires of a device. */
	requiredChecks: string[];
	/** Returns the counts of a check, whether or not the policy requires it. */
	ofCheck: (key: string) => StateCounts;
}

/** The number of devices that report a status of a check. */
export interface StatusCount {
	check_key: string;
	status: PostureStatus;
	is_stale: boolean;
	/** True if an exception excuses the devices from the check. */
	is_excepted: boolean;
	devices: number;
}

/** The counts as JSON arrays. An array without rows is null. */
export interface CountRow {
	totals: [isOnline: boolean, isStale: boolean, devices: number][] | null;
	statuses: [string, PostureStatus, boolean, boolean, number][] | null;
	states: [string, CheckState, number][] | null;
	compliance: [Compliance, isExcused: boolean, number][] | null;
}

/** Selects the counts of a query as a JSON array of arrays. */
const counted = (columns: string, from: string) => `(
	select jsonb_agg(jsonb_build_array(${columns}, x.devices))
	from (
		select ${columns}, sum(x.devices)::int as devices from (${from}) x group by ${columns}
	) x
)`;

const PATTERNS = "join pattern p on p.n = c.n";

/** The counts that an expression over `fleetStates` selects, for one statement with all of them. */
export const COUNTS = `
	${counted("x.is_online, x.is_stale", "select * from pattern")} as totals,
	${counted(
		"x.check_key, x.status, x.is_stale, x.is_excepted",
		`select c.*, c.state = 'EXCEPTED' as is_excepted, p.is_stale, p.devices
		from reported c ${PATTERNS}`,
	)} as statuses,
	${counted("x.check_key, x.state", `select c.*, p.devices from required c ${PATTERNS}`)} as states,
	${counted(
		"x.compliance, x.is_excused",
		`select c.*, p.devices from judged c ${PATTERNS}`,
	)} as compliance`;

/**
 * Counts the ACTIVE devices by check, status and state, now or at a time in the past. `more` are
 * further common table expressions and columns of the same statement; the result has these columns.
 */
export async function countFleet<More extends object = object>(
	client: PoolClient,
	organizationId: string,
	asOf?: string,
	more?: { name: string; with: string; columns: string },
): Promise<FleetCounts & { more: More }> {
	const at = asOf === undefined ? undefined : "$2::timestamptz";
	const { rows } = await client.query<CountRow & More>({
		name: `count_fleet${more ? `.${more.name}` : ""}${at ? ".as_of" : ""}`,
		text: `
			with ${fleetStates(at)} ${more ? `, ${more.with}` : ""}
			select ${COUNTS} ${more ? `, ${more.columns}` : ""}`,
		values: asOf === undefined ? [organizationId] : [organizationId, asOf],
	});
	const [row] = rows;
	if (!row) throw new Error("the statement returned no row");
	return { ...readCounts(row), more: row };
}

export function readCounts(row: CountRow): FleetCounts {
	const checks = new Map<string, StateCounts>();
	for (const [key, state, devices] of row.states ?? []) {
		const counts = checks.get(key) ?? zeros(CHECK_STATES);
		counts[state] += devices;
		checks.set(key, counts);
	}
	const totals = row.totals ?? [];
	const sumOf = (wanted: (isOnline: boolean, isStale: boolean) => boolean) =>
		totals
			.filter(([isOnline, isStale]) => wanted(isOnline, isStale))
			.reduce((sum, [, , devices]) => sum + devices, 0);
	const active = sumOf(() => true);
	const judged = row.compliance ?? [];
	const compliance = zeros(COMPLIANCES);
	for (const [name, , devices] of judged) compliance[name] += devices;
	return {
		active,
		stale: sumOf((_, isStale) => isStale),
		notReporting: sumOf((isOnline, isStale) => isOnline && isStale),
		statuses: (row.statuses ?? []).map(
			([check_key, status, is_stale, is_excepted, devices]) => ({
				check_key,
				status,
				is_stale,
				is_excepted,
				devices,
			}),
		),
		compliance,
		compliantByException: judged
			.filter(([name, isExcused]) => name === "COMPLIANT" && isExcused)
			.reduce((sum, [, , devices]) => sum + devices, 0),
		requiredChecks: [...checks.keys()].sort(),
		ofCheck: (key) => {
			const counts = { ...(checks.get(key) ?? zeros(CHECK_STATES)) };
			// The check does not concern the devices without another state.
			counts.NOT_APPLICABLE += active - sum(counts);
			return counts;
		},
	};
}

const sum = (counts: Record<string, number>) =>
	Object.values(counts).reduce((total, count) => total + count, 0);

const zeros = <Name extends string>(names: readonly Name[]) =>
	Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;

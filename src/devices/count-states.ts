import type { PoolClient } from "pg";
import { z } from "zod";
import {
	CHECK_STATES,
	type CheckState,
	COMPLIANCE,
	COMPLIANCES,
	type Compliance,
	checkStates,
} from "./check-states.ts";
import { statusAt } from "./device-record.ts";

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

export interface FleetStates {
	active: number;
	compliance: ComplianceCounts;
	/** Returns the counts of a check, whether or not the policy requires it. */
	ofCheck: (key: string) => StateCounts;
}

interface Row {
	check_key: string | null;
	state: string | null;
	devices: number;
}

/** Counts the ACTIVE devices by state, now or at a time in the past. */
export async function countStates(
	client: PoolClient,
	organizationId: string,
	asOf?: string,
): Promise<FleetStates> {
	const at = asOf === undefined ? undefined : "$2::timestamptz";
	const isActive = at ? `${statusAt(at)} = 'ACTIVE'` : "t.status = 'ACTIVE'";
	const { rows } = await client.query<Row>({
		name: asOf === undefined ? "count_states" : "count_states.as_of",
		text: `
			with states as materialized (
				select c.device_id, c.check_key, c.state from (${checkStates({ at })}) c
			)
			select c.check_key, c.state, count(*)::int as devices from states c group by 1, 2
			union all
			select null, x.compliance, count(*)::int
			from (select ${COMPLIANCE} as compliance from states c group by c.device_id) x
			group by 2
			union all
			select null, null, count(*)::int from devices t
			where t.organization_id = $1 and ${isActive}`,
		values: asOf === undefined ? [organizationId] : [organizationId, asOf],
	});
	const checks = new Map<string, StateCounts>();
	const compliance = zeros(COMPLIANCES);
	let active = 0;
	for (const { check_key, state, devices } of rows) {
		if (check_key !== null) {
			const counts = checks.get(check_key) ?? zeros(CHECK_STATES);
			counts[state as CheckState] = devices;
			checks.set(check_key, counts);
		} else if (state !== null) compliance[state as Compliance] = devices;
		else active = devices;
	}
	compliance.UNKNOWN += active - sum(compliance);
	return {
		active,
		compliance,
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

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

/** The state of a device for a check that the policy requires of it. */
interface StateOfCheck {
	check_state: CheckState;
	/** End of the grace, if the state is IN_GRACE. */
	in_grace_until?: string;
	/** The exception and its end, if the state is EXCEPTED. */
	exception_id?: string;
	excepted_until?: string;
}

export interface StatesOfDevice {
	compliance: Compliance;
	/** True if the device is COMPLIANT and an exception excuses it from a check. */
	compliant_by_exception: boolean;
	/** The states by check. The device is NOT_APPLICABLE for a check that is missing here. */
	checks: Map<string, StateOfCheck>;
}

interface Row {
	device_id: string;
	compliance: Compliance;
	checks: [
		key: string,
		state: CheckState,
		graceUntil: string,
		exceptionId: string,
		exceptedUntil: string,
	][];
}

/** Reads the states of these devices, now or at a time in the past. */
export async function readCheckStates(
	client: PoolClient,
	organizationId: string,
	deviceIds: string[],
	asOf?: string,
): Promise<Map<string, StatesOfDevice>> {
	const states = checkStates({
		ids: "$2::text[]",
		at: asOf === undefined ? undefined : "$3::timestamptz",
	});
	const { rows } = await client.query<Row>({
		name: asOf === undefined ? "check_states" : "check_states.as_of",
		text: `
			select c.device_id, ${COMPLIANCE} as compliance, jsonb_agg(jsonb_build_array(
				c.check_key, c.state,
				to_char(c.grace_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
				c.exception_id, c.excepted_until
			)) as checks
			from (${states}) c
			group by c.device_id`,
		values: [organizationId, deviceIds, ...(asOf === undefined ? [] : [asOf])],
	});
	return new Map(
		rows.map(({ device_id, compliance, checks }) => [
			device_id,
			{
				compliance,
				compliant_by_exception:
					compliance === "COMPLIANT" &&
					checks.some(([, state]) => state === "EXCEPTED"),
				checks: new Map(
					checks.map(([key, state, graceUntil, exceptionId, exceptedUntil]) => [
						key,
						{
							check_state: state,
							...(state === "IN_GRACE" && { in_grace_until: graceUntil }),
							...(state === "EXCEPTED" && {
								exception_id: exceptionId,
								excepted_until: exceptedUntil,
							}),
						},
					]),
				),
			},
		]),
	);
}

interface Unjudged {
	id: string;
	status: string;
	postures: { check_key: string }[];
}

/** Adds its states to an ACTIVE device. Other devices have none. */
export function withStates<Row extends Unjudged>(
	row: Row,
	states: Map<string, StatesOfDevice>,
): Omit<Row, "postures"> & {
	compliance: Compliance | null;
	compliant_by_exception: boolean;
	missing_checks: string[];
	postures: (Row["postures"][number] & {
		check_state: CheckState | null;
		in_grace_until?: string;
		exception_id?: string;
		excepted_until?: string;
	})[];
} {
	const found = states.get(row.id);
	const stateOf = (key: string) =>
		row.status === "ACTIVE"
			? (found?.checks.get(key) ?? NOT_REQUIRED)
			: { check_state: null };
	return {
		...row,
		// Without a required check, nothing is proved.
		compliance:
			row.status === "ACTIVE" ? (found?.compliance ?? "UNKNOWN") : null,
		compliant_by_exception:
			row.status === "ACTIVE" && (found?.compliant_by_exception ?? false),
		missing_checks: [...(found?.checks ?? [])]
			.filter(([, { check_state }]) => check_state === "NOT_REPORTED")
			.map(([key]) => key)
			.sort(),
		postures: row.postures.map((posture: Row["postures"][number]) => ({
			...posture,
			...stateOf(posture.check_key),
		})),
	};
}

const NOT_REQUIRED: StateOfCheck = { check_state: "NOT_APPLICABLE" };

/** The fields of a device that `withStates` adds. */
export const complianceShape = {
	compliance: z
		.enum(COMPLIANCES)
		.nullable()
		.describe(
			"The worst of its checks: NONCOMPLIANT: one is FAILING; UNKNOWN: one is UNKNOWN, STALE or NOT_REPORTED; null: not ACTIVE",
		),
	compliant_by_exception: z
		.boolean()
		.describe("COMPLIANT, and an exception excuses a check"),
	missing_checks: z
		.array(z.string())
		.describe("Required checks that it never reported"),
};

/** The fields of a posture that `withStates` adds. */
export const checkStateShape = {
	check_state: z
		.enum(CHECK_STATES)
		.nullable()
		.describe(
			"The status by the device policy; NOT_APPLICABLE: also when not required; null: not ACTIVE",
		),
	in_grace_until: z.string().optional(),
	exception_id: z.string().optional(),
	excepted_until: z.string().optional(),
};

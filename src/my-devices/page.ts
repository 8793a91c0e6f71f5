import type { Pool } from "pg";
import type { CheckState } from "../devices/check-states.ts";
import { readPostures, toDevice } from "../devices/device-postures.ts";
import {
	checkName,
	DEVICE_COLUMNS,
	DEVICES,
	type DeviceRow,
} from "../devices/device-record.ts";
import { readDeviceThresholds } from "../devices/device-thresholds.ts";
import { readCheckStates, withStates } from "../devices/read-check-states.ts";
import {
	type Explanation,
	explain,
} from "../devices/remediation/remediation.ts";
import type { Thresholds } from "../devices/thresholds.ts";
import { type MyException, readMyExceptions } from "./request-exception.ts";
import { openVisit } from "./visit.ts";

/** Most devices of a person that the page shows. */
const MAX_DEVICES = 20;

export type MyDevices = Awaited<ReturnType<typeof readMyDevices>>;
export type MyDevice = MyDevices["devices"][number];

export interface MyCheck extends Explanation {
	check_key: string;
	check_name: string | null;
	/** Null if the device has never reported the check. */
	status: string | null;
	state: CheckState | null;
	since: string | null;
	in_grace_until?: string;
	/** End of the exception in force, also of one for more than this device. */
	excepted_until?: string;
	/** The newest exception for this device that somebody asked for and that has not ended. */
	exception?: MyException;
	evidence: Record<string, unknown> | null;
}

/**
 * Returns what the page shows to the person of this session: the devices that are theirs at this
 * moment. A claimed owner is no owner. Throws unauthorized if the session has ended.
 */
export async function readMyDevices(appPool: Pool, session: string) {
	return openVisit(appPool, session, async (client, visit) => {
		const { organization_id: organizationId } = visit;
		const { rows } = await client.query<DeviceRow>(
			`select ${DEVICE_COLUMNS} from ${DEVICES}
			where t.organization_id = $1 and t.owner_id = $2 and t.status <> 'REVOKED'
			order by coalesce(t.name, t.hostname), t.id limit $3`,
			[organizationId, visit.people_id, MAX_DEVICES + 1],
		);
		const shown = rows.slice(0, MAX_DEVICES);
		const ids = shown.map(({ id }) => id);
		const postures = await readPostures(client, organizationId, ids, {
			isList: false,
			withEvidence: true,
		});
		const states = await readCheckStates(client, organizationId, ids);
		const exceptions = await readMyExceptions(client, visit, ids);
		const limits = await readDeviceThresholds(client, organizationId, ids);
		return {
			person_name: visit.full_name,
			organization_name: visit.organization_name,
			time_zone: visit.time_zone,
			is_copied_link: visit.is_copied,
			session_ends_at: visit.session_ends_at,
			has_more_devices: rows.length > MAX_DEVICES,
			devices: shown.map((row) =>
				toMyDevice(
					withStates(toDevice(row, postures), states),
					exceptions,
					limits.get(row.id),
				),
			),
		};
	});
}

type Judged = ReturnType<
	typeof withStates<ReturnType<typeof toDevice<DeviceRow>>>
>;

/**
 * Leaves out what the person does not need, such as hardware numbers. The evidence stays, because
 * the advice refers to it, and people may see what their devices report.
 */
function toMyDevice(
	device: Judged,
	exceptions: Map<string, MyException>,
	policy: Thresholds | undefined,
) {
	const { id, status, platform, os_version, last_seen_at } = device;
	const exceptionOf = (checkKey: string) => {
		const exception = exceptions.get(`${id} ${checkKey}`);
		return exception && { exception };
	};
	const checks: MyCheck[] = [
		...device.postures.map((posture) => ({
			check_key: posture.check_key,
			check_name: posture.check_name,
			status: posture.status,
			state: posture.check_state,
			since: posture.since,
			evidence: posture.evidence ?? null,
			...(posture.in_grace_until && {
				in_grace_until: posture.in_grace_until,
			}),
			...(posture.excepted_until && {
				excepted_until: posture.excepted_until,
			}),
			...exceptionOf(posture.check_key),
			...explain({ ...posture, platform }, device.postures, policy),
		})),
		...device.missing_checks.map((check_key) => ({
			check_key,
			check_name: checkName(check_key),
			status: null,
			state: "NOT_REPORTED" as const,
			since: null,
			evidence: null,
		})),
	];
	return {
		id,
		name: device.name ?? device.hostname,
		status,
		platform,
		os_version,
		last_seen_at,
		compliance: device.compliance,
		compliant_by_exception: device.compliant_by_exception,
		is_reporting:
			device.freshness === "ONLINE" && device.reporting === "REPORTING",
		checks,
	};
}

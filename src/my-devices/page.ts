import type { Pool, PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import type { CheckState } from "../devices/check-states.ts";
import { readPostures, toDevice } from "../devices/device-postures.ts";
import {
	checkName,
	DEVICE_COLUMNS,
	DEVICES,
	type DeviceRow,
} from "../devices/device-record.ts";
import { readCheckStates, withStates } from "../devices/read-check-states.ts";
import {
	type Explanation,
	explain,
} from "../devices/remediation/remediation.ts";
import { AppError } from "../errors.ts";
import { findMyDevicesLink, IS_STAFF } from "./links.ts";

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
	evidence: Record<string, unknown> | null;
}

/** The person whose page is open. */
interface Visit {
	organization_id: string;
	organization_name: string;
	people_id: string;
	full_name: string;
	is_copied: boolean;
	session_ends_at: string;
}

/**
 * Returns what the page shows to the person of this session: the devices that are theirs at this
 * moment. A claimed owner is no owner. Throws unauthorized if the session has ended.
 */
export async function readMyDevices(appPool: Pool, session: string) {
	const found = await findMyDevicesLink(appPool, session);
	if (!found) throw ended();
	return withTenant(appPool, found.organization_id, async (client) => {
		const visit = await findVisit(client, found);
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
		return {
			person_name: visit.full_name,
			organization_name: visit.organization_name,
			is_copied_link: visit.is_copied,
			session_ends_at: visit.session_ends_at,
			has_more_devices: rows.length > MAX_DEVICES,
			devices: shown.map((row) =>
				toMyDevice(withStates(toDevice(row, postures), states)),
			),
		};
	});
}

async function findVisit(
	client: PoolClient,
	{ organization_id, id }: { organization_id: string; id: string },
): Promise<Visit> {
	const { rows } = await client.query<Visit>(
		`select l.organization_id, o.name as organization_name, l.people_id, p.full_name, l.is_copied,
			l.session_ends_at
		from my_devices_links l
		join organizations o on o.id = l.organization_id
		join people p on p.organization_id = l.organization_id and p.id = l.people_id
		where l.organization_id = $1 and l.id = $2 and l.session_ends_at > now() and ${IS_STAFF}`,
		[organization_id, id],
	);
	if (!rows[0]) throw ended();
	return rows[0];
}

type Judged = ReturnType<
	typeof withStates<ReturnType<typeof toDevice<DeviceRow>>>
>;

/**
 * Leaves out what the person does not need, such as hardware numbers. The evidence stays, because
 * the advice refers to it, and people may see what their devices report.
 */
function toMyDevice(device: Judged) {
	const { id, status, platform, os_version, last_seen_at } = device;
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
			...explain({ ...posture, platform }),
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
		is_reporting:
			device.freshness === "ONLINE" && device.reporting === "REPORTING",
		checks,
	};
}

function ended(): AppError {
	return new AppError(
		"unauthorized",
		"this page has closed; open the newest link to your devices, or ask for a new one",
	);
}

import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import { KEY_STATE, KEY_WARNING } from "../devices/enrollment-key-record.ts";
import type { Finding } from "./doctor.ts";
import { counted, printable } from "./output.ts";

/** Looks for devices whose keys the database does not know. */
export async function examineUnknownKeys(client: Client): Promise<Finding> {
	const check = "device keys";
	await client.query("begin");
	await client.query(setRole("app", "transaction"));
	const { rows } = await client.query<{
		reason: string;
		waits_until: Date | null;
		knocking: number;
	}>("select reason, waits_until, knocking from unknown_key_state()");
	await client.query("rollback");
	const [state] = rows;
	const devices = state?.knocking ?? 0;
	if (!state || devices === 0) {
		return {
			check,
			status: "ok",
			found: "no device uses an unknown key",
		};
	}
	const found = `${counted(devices, "device")} ${devices === 1 ? "uses" : "use"} unknown keys and ${devices === 1 ? "gets" : "get"} 503`;
	if (state.reason === "NEVER_HELD") {
		return {
			check,
			status: "problem",
			found: `${found}, because this database has never held a device`,
			advice:
				"this is probably the wrong database; check DATABASE_URL, or ASSAY_DATA_DIR and whether its volume is mounted",
		};
	}
	return {
		check,
		status: "warning",
		found: `${found} until ${state.waits_until?.toISOString()}`,
		advice:
			"assay device unknown-keys lists them; assay device adopt accepts them, and --reject makes them enroll again (docs/backup.md)",
	};
}

/** Most enrollment keys that the finding names. */
const MAX_KEYS = 5;

interface EndingKey {
	name: string;
	organization_id: string;
	organization: string;
	state: string;
	day: string;
	max_devices: number;
	left: number;
}

/** Looks for enrollment keys that run out, and for those that ended in the last 14 days. */
export async function examineEnrollmentKeys(client: Client): Promise<Finding> {
	const check = "enrollment keys";
	await client.query("begin");
	await client.query(setRole("agent", "transaction"));
	const { rows: usable } = await client.query<{ count: number }>(
		`select count(*)::int from enrollment_keys t
		where ${KEY_STATE} in ('OPEN', 'RUNNING_OUT')`,
	);
	const { rows: keys } = await client.query<EndingKey>(
		`select
			t.name, t.organization_id, o.name as organization, ${KEY_STATE} as state,
			to_char(t.expires_at at time zone o.time_zone, 'YYYY-MM-DD') as day,
			t.max_devices, t.max_devices - t.used as left
		from enrollment_keys t
		join organizations o on o.id = t.organization_id
		where ${KEY_WARNING} is not null
		order by ${KEY_WARNING} desc, t.expires_at, t.id`,
	);
	await client.query("rollback");
	if (keys.length === 0) {
		return {
			check,
			status: "ok",
			found: `${counted(usable[0]?.count ?? 0, "enrollment key")} can be used, and none runs out soon`,
		};
	}
	const named = keys.slice(0, MAX_KEYS).map(describeKey);
	const further = keys.length - named.length;
	if (further > 0) named.push(`${counted(further, "further key")}`);
	return {
		check,
		status: "warning",
		found: named.join("; "),
		advice: `assay enrollment-key list --org ${keys[0]?.organization_id} shows them; make a new one if a rollout goes on, and revoke those that nobody needs`,
	};
}

function describeKey(key: EndingKey): string {
	return printable(
		`the key "${key.name}" of ${key.organization} (${key.organization_id}) ${howKeyEnds(key)}`,
	);
}

function howKeyEnds({ state, day, max_devices, left }: EndingKey): string {
	if (state === "EXPIRED") return `expired on ${day}`;
	if (state === "USED_UP")
		return `is used up by ${counted(max_devices, "device")}`;
	return `expires on ${day}, with ${left} of ${counted(max_devices, "device")} left`;
}

import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import type { Finding } from "./doctor.ts";
import { counted } from "./output.ts";

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
	const knocking = state?.knocking ?? 0;
	if (!state || knocking === 0) {
		return {
			check,
			status: "ok",
			found: "no device uses an unknown key",
		};
	}
	const knock = `${counted(knocking, "device")} ${knocking === 1 ? "uses" : "use"} unknown keys and ${knocking === 1 ? "gets" : "get"} 503`;
	if (state.reason === "NEVER_HELD") {
		return {
			check,
			status: "problem",
			found: `${knock}, because this database has never held a device`,
			advice:
				"this is probably the wrong database; check DATABASE_URL, or ASSAY_DATA_DIR and whether its volume is mounted",
		};
	}
	return {
		check,
		status: "warning",
		found: `${knock} until ${state.waits_until?.toISOString()}`,
		advice:
			"assay device unknown-keys lists them; assay device adopt accepts them, and --reject makes them enroll again (docs/backup.md)",
	};
}

/** Looks for enrollment keys that run out, and for those that ended lately. */
export async function examineEnrollmentKeys(client: Client): Promise<Finding> {
	const check = "enrollment keys";
	await client.query("begin");
	await client.query(setRole("app", "transaction"));
	const { rows } = await client.query<{
		usable: number;
		running_out: number;
		ended: number;
	}>(
		"select usable::int, running_out::int, ended::int from count_enrollment_key_states()",
	);
	await client.query("rollback");
	const { usable = 0, running_out: out = 0, ended = 0 } = rows[0] ?? {};
	const found = [
		out > 0 &&
			`${counted(out, "enrollment key")} ${out === 1 ? "expires or is" : "expire or are"} used up soon`,
		ended > 0 &&
			`${counted(ended, "enrollment key")} expired or ${ended === 1 ? "was" : "were"} used up in the last 14 days`,
	].filter((text) => text !== false);
	if (found.length === 0) {
		return {
			check,
			status: "ok",
			found: `${counted(usable, "enrollment key")} can be used, and none runs out soon`,
		};
	}
	return {
		check,
		status: "warning",
		found: found.join("; "),
		advice:
			"assay enrollment-key list --org <id> shows them; make a new one if a rollout goes on, and revoke those that nobody needs",
	};
}

import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import { readMaintenance } from "../load/maintenance.ts";
import type { Finding } from "./doctor.ts";
import { printable } from "./output.ts";

/** Warns if the service turns everybody away, because somebody may have forgotten to end that. */
export async function examineMaintenance(client: Client): Promise<Finding> {
	const check = "maintenance";
	await client.query("begin");
	await client.query(setRole("app", "transaction"));
	const state = await readMaintenance(client);
	await client.query("rollback");
	if (!state) return { check, status: "ok", found: "not in maintenance" };
	return {
		check,
		status: "warning",
		found: `the service has turned everybody away since ${state.began_at.toISOString()}: ${printable(state.message)}`,
		advice: "assay maintenance end lets everybody in again",
	};
}

import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import type { Finding } from "./doctor.ts";
import { counted } from "./output.ts";

/** Says what the archive of raw reports still lacks. */
export async function examineArchive(client: Client): Promise<Finding> {
	const check = "archive";
	await client.query("begin read only");
	await client.query(setRole("app", "transaction"));
	const { rows } = await client.query<{ months: number; devices: number }>(
		"select months::integer, devices::integer from read_archive_backlog()",
	);
	await client.query("rollback");
	const { months = 0, devices = 0 } = rows[0] ?? {};
	if (months === 0 && devices === 0) {
		return {
			check,
			status: "ok",
			found: "all packed months of reports are archived",
		};
	}
	return {
		check,
		status: "warning",
		found: `the archive lacks ${counted(months, "packed month")}, and changes of ${counted(devices, "device")}; no month is dropped before it is archived`,
		advice:
			"the service archives every hour while it runs; if it could not, its log says why",
	};
}

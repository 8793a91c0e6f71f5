import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import type { Finding } from "./doctor.ts";
import { counted } from "./output.ts";

/** Says what the archive of raw reports still lacks. */
export async function examineArchive(client: Client): Promise<Finding> {
	const check = "archive";
	await client.query("begin read only");
	await client.query(setRole("app", "transaction"));
	const { rows } = await client.query<{
		months: number;
		devices: number;
		files: number;
	}>(
		"select months::integer, devices::integer, files::integer from read_archive_state()",
	);
	await client.query("rollback");
	const { months = 0, devices = 0, files = 0 } = rows[0] ?? {};
	if (months === 0 && devices === 0 && files === 0) {
		return {
			check,
			status: "ok",
			found: "all packed months of reports are archived",
		};
	}
	return {
		check,
		status: "warning",
		found: [
			`the archive lacks ${counted(months, "packed month")}, and changes of ${counted(devices, "device")}`,
			files > 0 &&
				`${counted(files, "file")} of deleted organizations ${files === 1 ? "is" : "are"} still there`,
			"no month is dropped before it is archived",
		]
			.filter(Boolean)
			.join("; "),
		advice:
			'the service works on the archive every hour while it runs; if it could not, its log says why: search it for "posture reports could not be archived"',
	};
}

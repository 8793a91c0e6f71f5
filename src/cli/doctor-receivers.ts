import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import { readReceiverCounts } from "../metrics/receivers.ts";
import { DISABLED_AFTER_DAYS } from "../outgoing/disabled-after.ts";
import type { Finding } from "./doctor.ts";
import { counted } from "./output.ts";

/** Reports webhooks and chats that fail, or that the service has disabled. */
export async function examineReceivers(client: Client): Promise<Finding> {
	const check = "webhooks and chats";
	await client.query("begin");
	await client.query(setRole("app", "transaction"));
	const counts = await readReceiverCounts(client);
	await client.query("rollback");
	const found = counts.flatMap(({ kind, failing, disabled }) => [
		...(failing > 0
			? [`${counted(failing, kind)} ${failing === 1 ? "fails" : "fail"}`]
			: []),
		...(disabled > 0
			? [
					`${counted(disabled, kind)} ${disabled === 1 ? "was" : "were"} disabled after ${DISABLED_AFTER_DAYS} days of failures`,
				]
			: []),
	]);
	if (found.length === 0) {
		return { check, status: "ok", found: "no webhook and no chat fails" };
	}
	return {
		check,
		status: "warning",
		found: found.join(", "),
		advice:
			"administrators see the answers under Settings → Webhooks and Settings → Notifications; they correct the receiver and enable it again, or delete it",
	};
}

import { enqueue } from "../../agent/queue.ts";
import { makeId, makeOrganizationId } from "../../src/id.ts";

// This program adds reports to a queue until queue.test.ts kills it.
const [folder = ""] = process.argv.slice(2);
const organization = makeOrganizationId();
for (;;) {
	const report_id = makeId(organization, "device_posture_report");
	const report = {
		report_id,
		dropped_total: 0,
		results: [
			{
				check_key: "OS_VERSION",
				status: "PASS" as const,
				evidence: { text: "x".repeat(100_000) },
				observed_at: new Date().toISOString(),
				correlation_id: report_id,
			},
		],
	};
	await enqueue(folder, report, false);
	process.stdout.write("queued\n");
}

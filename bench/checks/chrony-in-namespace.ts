import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkTimeSync } from "../../agent/checks/linux/time-sync.ts";
import { host, print, whileRuns } from "./in-namespace.ts";

// This program runs in namespaces of its own. It judges a real chrony without rtcsync.

const folder = mkdtempSync(join(tmpdir(), "checks-"));
try {
	const config = join(folder, "chrony.conf");
	writeFileSync(config, `local stratum 8\npidfile ${folder}/chronyd.pid\n`);
	await whileRuns("chronyd", ["-n", "-x", "-f", config], async () => {
		const { status, evidence } = await checkTimeSync(host);
		const isElsewhere = evidence.reason === "container";
		print(
			"TIME_SYNC",
			"chrony without rtcsync",
			status,
			isElsewhere ? "NOT_APPLICABLE" : "PASS",
		);
	});
} finally {
	rmSync(folder, { recursive: true });
}

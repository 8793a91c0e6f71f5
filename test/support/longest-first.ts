import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The test files that end the shared service of their process. They start before it exists, because
 * the next file that shares it would have to start it again.
 */
export const ENDING_SHARED = [
	"audit/rejected-calls",
	"db/pool-sessions",
	"db/statements",
	"load/batch",
	"overview/board-summary",
];

/**
 * The test files that take the longest, in descending order. If a long file started last, it would
 * keep one worker busy after the others have finished. Files that are not listed start after these.
 */
const LONGEST = [
	"cli/start",
	"cli/replace",
	"cli/signals",
	"demo/demo",
	"backup/organization-file",
	"cli/doctor-hang",
	"db/own-roles",
	"csv/concurrent-exports",
	"devices/enrollment-key-floods",
	"demo/early-end",
	"metrics/metrics",
	"backup/backup",
	"db/embedded-kills",
	"db/failover",
	"retention/delete-organizations",
	"backup/rejected",
	"agent/updates",
	"devices/check-state-counts",
	"backup/packed-reports",
	"db/embedded-sharing",
	"policy/random-input",
	"db/statements",
	"http/all-doors-fuzz",
	"db/read-replica",
	"cli/backup",
	"backup/rehearsal",
	"http/slow-exports",
	"http/slow-export-rights",
	"db/migration-locks",
	"db/embedded-root",
	"tracing/tracing",
	"records/list-plans",
	"devices/unknown-keys",
	"devices/first-reports",
	"load/outage-log",
	"cli/doctor-roles",
	"cli/audit",
	"csv/import-registers",
	"records/contradicting-orders",
	"db/enforce-limit",
	"agent/program",
	"cli/access",
	"agent/build",
	"http/redaction",
	"backup/s3-upload",
	"records/lists",
	"db/replicas",
	"archive/archive",
	"agent/run",
	"devices/queues",
	"organizations/silent-name-server",
	"http/download-rights",
	"console/workbook-bombs",
	"db/migration-log",
	"tokens/usage",
	"db/migrate",
	"backup/keyed-seal",
	"db/postgres-tls-server",
];

const FIRST = [...ENDING_SHARED, ...LONGEST];

/** Orders the test files so that those that end the shared service and the longest ones start first. */
export class LongestFirst extends BaseSequencer {
	override async sort(
		files: TestSpecification[],
	): Promise<TestSpecification[]> {
		const others = await super.sort(files);
		const rank = ({ moduleId }: TestSpecification) => {
			const at = FIRST.findIndex((name) =>
				moduleId.endsWith(`/test/${name}.test.ts`),
			);
			return at < 0 ? FIRST.length : at;
		};
		return others.sort((a, b) => rank(a) - rank(b));
	}
}

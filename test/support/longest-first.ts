import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The test files that take the longest, in descending order. If a long file started last, it would
 * keep one worker busy after the others have finished. Files that are not listed start after these.
 */
const LONGEST = [
	"backup/organization-file",
	"cli/start",
	"cli/signals",
	"demo/demo",
	"demo/early-end",
	"retention/delete-organizations",
	"db/own-roles",
	"cli/doctor-hang",
	"csv/export-turns",
	"db/failover",
	"devices/enrollment-key-floods",
	"backup/rejected",
	"cli/replace",
	"cli/backup",
	"backup/packed-reports",
	"backup/backup",
	"db/embedded-kills",
	"metrics/metrics",
	"db/embedded-sharing",
	"agent/updates",
	"backup/upgrade",
	"backup/rehearsal",
	"retention/packing",
	"cli/doctor-roles",
	"backup/encryption",
	"archive/archive",
	"devices/unknown-keys",
	"tracing/tracing",
	"devices/first-reports",
	"load/outage-log",
	"backup/files",
	"http/all-doors-fuzz",
	"db/embedded-root",
	"cli/audit",
	"csv/import-registers",
	"agent/run",
	"devices/queues",
	"organizations/domains",
	"http/download-rights",
	"agent/program",
	"console/workbook-bombs",
	"db/migration-log",
	"policy/random-input",
	"records/lists",
	"backup/unknown-keys",
	"tokens/usage",
	"db/migrate",
	"backup/keyed-seal",
	"backup/s3-upload",
	"db/postgres-tls-server",
	"cli/access",
];

/** Orders the test files so that the longest ones start first. */
export class LongestFirst extends BaseSequencer {
	override async sort(
		files: TestSpecification[],
	): Promise<TestSpecification[]> {
		const others = await super.sort(files);
		const rank = ({ moduleId }: TestSpecification) => {
			const at = LONGEST.findIndex((name) =>
				moduleId.endsWith(`/test/${name}.test.ts`),
			);
			return at < 0 ? LONGEST.length : at;
		};
		return others.sort((a, b) => rank(a) - rank(b));
	}
}

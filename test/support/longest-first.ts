import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The test files that take the longest, in descending order. If a long file started last, it would
 * keep one worker busy after the others have finished. Files that are not listed start after these.
 */
const LONGEST = [
	"cli/start",
	"cli/signals",
	"db/failover",
	"demo/demo",
	"db/embedded-sharing",
	"db/embedded-kills",
	"db/embedded-root",
	"csv/import",
	"csv/export-turns",
	"policy/random-input",
	"records/lists",
	"backup/rejected",
	"tracing/tracing",
	"cli/audit",
	"devices/enrollment-keys",
	"devices/unknown-keys",
	"devices/queues",
	"http/all-doors-fuzz",
	"tokens/usage",
	"devices/check-state-counts",
	"load/fair-shares",
	"devices/device-limits",
	"agent/run",
	"backup/backup",
	"notifications/device-alerts",
	"my-devices/my-devices",
	"privacy/privacy",
	"oauth/oauth",
	"metrics/metrics",
	"mcp/conformance",
	"policy/permissions",
	"cli/backup",
	"load/overload",
	"http/body-budgets",
	"records/query",
	"db/embedded",
	"backup/upgrade",
	"agent/program",
	"agent/linux-hostile",
	"sign-in/attacks-on-sign-in",
	"sign-in/password-reset",
	"load/sign-in-queue",
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

import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The test files that take the longest, in descending order. If a long file started last, it would
 * keep one worker busy after the others have finished. Files that are not listed start after these.
 */
const LONGEST = [
	"cli/start",
	"db/failover",
	"demo/demo",
	"db/embedded-sharing",
	"db/embedded-kills",
	"db/embedded-root",
	"backup/rejected",
	"tracing/tracing",
	"cli/audit",
	"csv/export-turns",
	"webhooks/webhooks",
	"devices/queues",
	"csv/import",
	"devices/enrollment-keys",
	"agent/run",
	"policy/random-input",
	"http/agent-api-fuzz",
	"backup/backup",
	"http/all-doors-fuzz",
	"mail/mail",
	"records/reassign",
	"devices/unknown-keys",
	"metrics/metrics",
	"mcp/conformance",
	"policy/permissions",
	"tokens/usage",
	"cli/backup",
	"load/overload",
	"http/body-budgets",
	"records/query",
	"db/embedded",
	"backup/upgrade",
	"agent/program",
	"agent/linux-hostile",
	"load/sign-in-queue",
	"records/lists",
	"privacy/privacy",
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

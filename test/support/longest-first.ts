import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, the longest first. A long file that started last would keep one
 * worker busy after the others have finished. A file that is not listed starts after these.
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
	"devices/queues",
	"csv/import",
	"agent/run",
	"policy/random-input",
	"http/agent-api-fuzz",
	"backup/backup",
	"http/all-doors-fuzz",
	"metrics/metrics",
	"mcp/conformance",
	"tokens/usage",
	"cli/backup",
	"load/overload",
	"db/embedded",
	"backup/upgrade",
	"agent/program",
	"records/lists",
	"privacy/privacy",
];

/** Starts the longest files first. */
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

import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Writes the paths of the test files that failed, one a line, into the file that FAILED_FILES names.
 * `.ci/run` runs them once more. An error outside of tests counts as a failure of the file in which
 * it happened. If Vitest cannot tell that file, this writes nothing, because no file would show
 * whether the error happens again.
 */
export default class FailedFiles implements Reporter {
	onTestRunEnd(
		modules: readonly TestModule[],
		errors: readonly SerializedError[],
	): void {
		const failed = new Set<string>();
		for (const module of modules) {
			// A file whose process ended too early is still pending.
			if (!/^(passed|skipped)$/.test(module.state())) {
				failed.add(module.moduleId);
			}
		}
		for (const { VITEST_TEST_PATH: path } of errors) {
			if (typeof path !== "string") return;
			failed.add(path);
		}
		const { FAILED_FILES } = process.env;
		if (!FAILED_FILES || failed.size === 0) return;
		const lines = [...failed].map((path) => `${relative(".", path)}\n`);
		writeFileSync(FAILED_FILES, lines.join(""));
	}
}

import { defineConfig } from "vitest/config";
import { SELDOM } from "../support/projects.ts";

/**
 * Configures the browser tests. They are separate from the others, because they need a browser and
 * the built console.
 */
export default defineConfig({
	test: {
		projects: [
			{
				extends: true,
				test: {
					name: "everyday",
					include: ["test/browser/**/*.test.ts"],
					exclude: SELDOM,
				},
			},
			{ extends: true, test: { name: "seldom", include: SELDOM } },
		],
		globalSetup: ["test/support/setup.ts", "test/browser/setup.ts"],
		setupFiles: [
			"test/support/cheap-hashes.ts",
			"test/support/keep-compiled.ts",
		],
		pool: "forks",
		// Node loads the files itself, as it does for the program, instead of Vite.
		// No test replaces modules, so Vitest need not read them either. This saves 0.4 s of each worker.
		experimental: { viteModuleRunner: false, nodeLoader: false },
		// Each file has its own database and does not need a process of its own. Loading the code again
		// for each file took a tenth of the time.
		isolate: false,
		// Each worker has its own browser, and waits for it a tenth of the time.
		maxWorkers: 3,
		// A busy machine may take long to show the expected state, and the default timeout is only a
		// second.
		expect: { poll: { timeout: 60_000 } },
		testTimeout: 240_000,
		hookTimeout: 240_000,
	},
});

import { defineConfig } from "vitest/config";

/** Separate from the other tests, because it needs a browser and the built console. */
export default defineConfig({
	test: {
		include: ["test/browser/**/*.test.ts"],
		globalSetup: ["test/support/setup.ts", "test/browser/setup.ts"],
		setupFiles: "test/support/cheap-hashes.ts",
		pool: "forks",
		// Each file has its own database and needs no process of its own. Loading the code again for
		// each file took a tenth of the time.
		isolate: false,
		// Each worker has its own browser.
		maxWorkers: 2,
		// A busy machine may take long to show the expected state, and the default gives up after a
		// second.
		expect: { poll: { timeout: 20_000 } },
		testTimeout: 240_000,
		hookTimeout: 240_000,
	},
});

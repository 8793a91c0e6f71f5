import { defineConfig } from "vitest/config";

/** Apart from the other tests: it takes a browser and the built console. */
export default defineConfig({
	test: {
		include: ["test/browser/**/*.test.ts"],
		globalSetup: ["test/support/setup.ts", "test/browser/setup.ts"],
		setupFiles: "test/support/cheap-hashes.ts",
		pool: "forks",
		// Each file has a database of its own and needs no process of its own: to load the code again
		// for each took a tenth of the time.
		isolate: false,
		// Each has a browser of its own.
		maxWorkers: 2,
		// What is waited for comes when a busy machine gets to it; the default gives up after a second.
		expect: { poll: { timeout: 20_000 } },
		testTimeout: 240_000,
		hookTimeout: 240_000,
	},
});

import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		// npm run test:browser
		exclude: ["test/browser/**"],
		globalSetup: "test/support/setup.ts",
		setupFiles: "test/support/cheap-hashes.ts",
		pool: "forks",
		// Each file has a database of its own and needs no process of its own: to load the code again
		// for each took a tenth of the time.
		isolate: false,
		// They wait for databases and processes more than they compute.
		maxWorkers: 3,
		// What is waited for comes when a busy machine gets to it; the default gives up after a second.
		expect: { poll: { timeout: 20_000 } },
		// Ends what hangs: where ten others wait for each core, starting and stopping programs took 50 s.
		testTimeout: 180_000,
		hookTimeout: 180_000,
	},
});

import { defineConfig } from "vitest/config";

/** Apart from the other tests: it takes a browser and the built console. */
export default defineConfig({
	test: {
		include: ["test/browser/**/*.test.ts"],
		globalSetup: ["test/setup.ts", "test/browser/setup.ts"],
		pool: "forks",
		// Each has a browser of its own.
		maxWorkers: 2,
		// A machine too busy for a click within its time is no finding; what fails twice is one.
		retry: 1,
		testTimeout: 60_000,
		hookTimeout: 120_000,
	},
});

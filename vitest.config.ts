import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		// npm run test:browser
		exclude: ["test/browser/**"],
		globalSetup: "test/setup.ts",
		pool: "forks",
		// They wait for databases and processes more than they compute.
		maxWorkers: 3,
		testTimeout: 60_000,
		hookTimeout: 60_000,
	},
});

import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";
import { BROWSER, EXHAUSTIVE, PROCESSES } from "./test/support/projects.ts";

export default defineConfig({
	test: {
		projects: [
			{
				extends: true,
				test: {
					name: "service",
					include: ["test/**/*.test.ts"],
					exclude: [...BROWSER, ...PROCESSES, ...EXHAUSTIVE],
				},
			},
			{ extends: true, test: { name: "exhaustive", include: EXHAUSTIVE } },
			{ extends: true, test: { name: "processes", include: PROCESSES } },
		],
		globalSetup: "test/support/setup.ts",
		setupFiles: [
			"test/support/cheap-hashes.ts",
			"test/support/keep-compiled.ts",
		],
		pool: "forks",
		// Node loads the files itself, as it does for the program, instead of Vite.
		// No test replaces modules, so Vitest need not read them either. This saves 0.4 s of each worker.
		experimental: { viteModuleRunner: false, nodeLoader: false },
		// Each file has a database of its own and needs no process of its own. Loading the code again
		// for each file took a tenth of the time.
		isolate: false,
		// Test files wait for databases and processes more than they compute. Those of the service wait
		// less, so `npm test` has three workers.
		maxWorkers: 6,
		sequence: { sequencer: LongestFirst },
		// A busy machine may need long for what a test waits for. The default is one second.
		expect: { poll: { timeout: 60_000 } },
		// Ends what hangs. Starting and stopping programs took 50 s while ten other processes waited
		// for each core. No test has a shorter limit of its own.
		testTimeout: 180_000,
		hookTimeout: 180_000,
	},
});

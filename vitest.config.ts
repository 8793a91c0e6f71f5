import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

/**
 * The test files that mostly start programs or database servers of their own. They need half of the
 * time of all tests, and few changes concern them.
 */
const PROCESSES = [
	"test/agent/{build,check-requests,program,program-install,run,system-host}.test.ts",
	"test/backup/*.test.ts",
	"test/cli/*.test.ts",
	"test/db/{embedded*,failover,migrate,missing-database,outage,own-roles,pool-login,postgres-tls-server,read-replica,replicas}.test.ts",
	"test/demo/*.test.ts",
	"test/deploy/sbom.test.ts",
	"test/http/redaction.test.ts",
	"test/load/outage-log.test.ts",
	"test/{mcp,oauth}/conformance.test.ts",
	"test/metrics/*.test.ts",
	"test/tracing/*.test.ts",
];
const BROWSER = "test/browser/**";

export default defineConfig({
	test: {
		projects: [
			{
				extends: true,
				test: {
					name: "service",
					include: ["test/**/*.test.ts"],
					exclude: [BROWSER, ...PROCESSES],
				},
			},
			{ extends: true, test: { name: "processes", include: PROCESSES } },
		],
		globalSetup: "test/support/setup.ts",
		setupFiles: [
			"test/support/cheap-hashes.ts",
			"test/support/keep-compiled.ts",
		],
		pool: "forks",
		// Node loads the files itself, as it does for the program, instead of Vite.
		experimental: { viteModuleRunner: false },
		// Each file has a database of its own and needs no process of its own. Loading the code again
		// for each file took a tenth of the time.
		isolate: false,
		// Test files wait for databases and processes more than they compute.
		maxWorkers: 4,
		sequence: { sequencer: LongestFirst },
		// A busy machine may need long for what a test waits for. The default is one second.
		expect: { poll: { timeout: 60_000 } },
		// Ends what hangs. Starting and stopping programs took 50 s while ten other processes waited
		// for each core. No test has a shorter limit of its own.
		testTimeout: 180_000,
		hookTimeout: 180_000,
	},
});

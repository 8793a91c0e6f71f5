import { defineConfig } from "vitest/config";

// Runs the tests of the checks with recordings, which need no database.
export default defineConfig({
	test: {
		root: new URL("../..", import.meta.url).pathname,
		include: ["test/agent/{linux,macos,windows,freebsd}-*.test.ts"],
		exclude: ["test/agent/*-{hostile,facts,rights}.test.ts"],
		setupFiles: "bench/checks/record-verdicts.ts",
		pool: "forks",
		isolate: false,
		maxWorkers: 2,
		testTimeout: 180_000,
		reporters: ["dot"],
	},
});

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
	CONNECTIONS_NEEDED,
	MAX_CONNECTIONS,
	POOL_SIZES,
	PROCESSES_BY_DEFAULT,
} from "../../src/db/connections.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/**
 * Files whose pools are not part of the count: those of commands, those to a replica, and those of
 * audit packages, which MAX_ORGANIZATION_FILES counts.
 */
const NOT_COUNTED =
	/^src\/(cli|backup|privacy|audit-package|db\/pool\.ts|db\/read-replica\.ts)/;

test("every pool that the service makes is counted once", () => {
	const sizes = globSync("src/**/*.ts", { cwd: root })
		.filter((path) => !NOT_COUNTED.test(path))
		.flatMap((path) => [
			...read(path).matchAll(
				/(?:\bmakePool|new Pool)\([^{]*\{[^}]*?\bmax(?:: ([\w.]+))?,?([^}]*)/g,
			),
		])
		// Only commands use the role that reads every audit log.
		.filter(([, , rest]) => !rest?.includes('role: "audit"'))
		.map(([, size]) => size);
	expect(sizes.toSorted()).toEqual(
		Object.keys(POOL_SIZES)
			.map((pool) => `POOL_SIZES.${pool}`)
			.toSorted(),
	);
});

test("the guides give the numbers of connections that the code has", () => {
	expect(read("docs/scaling.md")).toContain(
		`\`default_pool_size\` to ${MAX_CONNECTIONS} for each process, plus ${CONNECTIONS_NEEDED - MAX_CONNECTIONS} for commands`,
	);
	expect(read("docs/scaling.md")).toContain(
		`at most ${MAX_CONNECTIONS}. Pools`,
	);
	expect(read("docs/watching.md")).toContain(
		`a limit below ${CONNECTIONS_NEEDED},`,
	);
});

test("four processes fit into the connections that PostgreSQL allows by default", () => {
	expect(PROCESSES_BY_DEFAULT).toBe(4);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configOfCopy } from "../../src/cli/copy.ts";
import { readConfig } from "../../src/config/config.ts";
import { SETTINGS, type Setting } from "../../src/config/settings.ts";

const guide = readFileSync(
	join(import.meta.dirname, "../../docs/backup.md"),
	"utf8",
).replaceAll("\\\n", "");

/** Returns the words after a command of the guide. */
const wordsAfter = (command: string) =>
	guide.match(new RegExp(`${command} (ASSAY_DATA_DIR.*)`))?.[1]?.split(/\s+/);

test("the settings with which the guide looks at a backup lead to no database of the service", () => {
	const databases = Object.entries(SETTINGS as Record<string, Setting>)
		.filter(([name]) => name.startsWith("DATABASE_"))
		.flatMap(([name, { canBeInFile }]) =>
			canBeInFile ? [name, `${name}_FILE`] : [name],
		);
	expect(databases.length).toBeGreaterThan(3);
	const look = Object.fromEntries(
		(wordsAfter("export") ?? []).map((word) => word.split("=")),
	);
	expect(Object.keys(look)).toEqual(["ASSAY_DATA_DIR", ...databases]);
	expect(wordsAfter("unset")).toEqual(Object.keys(look));
	const service = {
		ASSAY_DATA_DIR: "/var/lib/assay",
		DATABASE_URL: "postgres://assay@primary/assay",
		DATABASE_REPLICA_URL: "postgres://assay@standby/assay",
	};
	expect(readConfig({ ...service, ...look })).toMatchObject({
		dataDir: "/var/lib/assay/look",
		databaseUrl: undefined,
		replicaUrl: undefined,
	});
});

test("a copy with a database of its own does not read from the replica of the service", () => {
	const config = readConfig({
		DATABASE_URL: "postgres://assay@primary/copy",
		DATABASE_REPLICA_URL: "postgres://assay@standby/assay",
	});
	expect(config.replicaUrl).toBeDefined();
	expect(configOfCopy(config).replicaUrl).toBeUndefined();
});

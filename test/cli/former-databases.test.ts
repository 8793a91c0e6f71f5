import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { examineFormerDatabases } from "../../src/cli/doctor-disk.ts";
import { readConfig } from "../../src/config/config.ts";
import { COMMAND } from "../../src/version.ts";
import { makeFolder } from "../support/folder.ts";

const NOW = Date.now();

/** Returns the end of the name of a database that was put aside some days ago. */
const before = (days: number) =>
	`.before-${new Date(NOW - days * 86_400_000).toISOString().slice(0, 19).replaceAll(":", "")}`;

test("doctor names former databases with their sizes, wherever they are, and warns of one that is older than a week", async () => {
	const folder = await makeFolder("assay-former-");
	onTestFinished(() => rm(folder, { recursive: true }));
	const data = join(folder, "data");
	const make = (directory: string) => {
		mkdirSync(join(directory, "base"), { recursive: true });
		const file = join(directory, "base", "1");
		writeFileSync(file, "");
		// The file has holes and takes no space.
		truncateSync(file, 200_000_000);
	};
	// Its file names another folder, because PostgreSQL's user could not enter the data folder.
	const outside = join(folder, "outside");
	make(`${outside}${before(30)}`);
	make(join(data, `postgres${before(8)}`));
	make(join(data, `postgres${before(6)}`));
	make(join(data, "postgres"));
	// Somebody made this one, and assay cannot tell what it is.
	make(join(data, "postgres.before-upgrade"));
	const file = join(data, `postgres.json${before(30)}`);
	writeFileSync(file, JSON.stringify({ directory: outside }));
	// The database of this one was deleted.
	writeFileSync(
		join(data, `postgres.json${before(40)}`),
		JSON.stringify({ directory: "postgres" }),
	);

	const config = readConfig({ ASSAY_DATA_DIR: data });
	const is = (
		status: string,
		directory: string,
		days: number,
		...files: string[]
	) => ({
		check: "former database",
		status,
		found: `${directory} (0.2 GB) is the database that \`${COMMAND} restore --replace\` put aside ${days} days ago`,
		advice: `if nobody needs it any more, delete it: rm -r ${[directory, ...files].join(" ")}`,
	});
	expect(await examineFormerDatabases(config)).toEqual([
		is("warning", `${outside}${before(30)}`, 30, file),
		is("warning", join(data, `postgres${before(8)}`), 8),
		is("ok", join(data, `postgres${before(6)}`), 6),
	]);
	expect(
		await examineFormerDatabases(
			readConfig({
				ASSAY_DATA_DIR: data,
				DATABASE_URL: "postgres://assay@localhost/assay",
			}),
		),
	).toEqual([]);
});

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PROGRAM = join(import.meta.dirname, "../../bin/assay.js");
export const DEVICES = 12;

/** Starts a demonstration that makes its folder in `parent`. */
export function startDemo(parent: string): ChildProcess {
	const inherited = Object.entries(process.env).filter(
		([name]) => !name.startsWith("ASSAY_"),
	);
	return spawn(
		process.execPath,
		[PROGRAM, "demo", "--json", "--port=0", `--devices=${DEVICES}`],
		{
			// A demonstration must not use a database that somebody has configured.
			env: {
				...Object.fromEntries(inherited),
				TMPDIR: parent,
				DATABASE_URL: "postgres://127.0.0.1:9/none",
			},
			stdio: ["ignore", "pipe", "pipe"],
		},
	);
}

/** Returns the names of the folders that demonstrations have made in `parent`. */
export const demoFolders = (parent: string) =>
	readdirSync(parent).filter((name) => name.startsWith("assay-demo-"));

/** Returns the process of the database server of a demonstration. */
export const postmasterOf = (demoFolder: string) =>
	Number.parseInt(
		readFileSync(join(demoFolder, "data/postgres/postmaster.pid"), "utf8"),
		10,
	);

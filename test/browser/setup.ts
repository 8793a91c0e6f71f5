import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ensureConsole } from "../../console/ensure-build.ts";
import { makeFolder } from "../support/folder.ts";
import { AXE_FILE, AXE_PATH } from "./axe-file.ts";

declare module "vitest" {
	interface ProvidedContext {
		/** The folder of the built console. */
		consoleFolder: string;
	}
}

/**
 * Builds the console once for the whole run and copies it, because a later build from changed
 * sources would replace this one.
 */
export default async function setup(project: TestProject) {
	const tell = (line: string) => process.stdout.write(`${line}\n`);
	const folder = await makeFolder("assay-console-");
	await cp(await ensureConsole(tell), folder, { recursive: true });
	await cp(AXE_FILE, join(folder, AXE_PATH));
	project.provide("consoleFolder", folder);
	return () => rm(folder, { recursive: true, force: true });
}

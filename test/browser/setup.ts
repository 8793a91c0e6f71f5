import type { TestProject } from "vitest/node";
import { ensureConsole } from "../../src/console-build.ts";

declare module "vitest" {
	interface ProvidedContext {
		/** The folder of the built console. */
		consoleFolder: string;
	}
}

/** The console as it is now, built once for the whole run. */
export default async function setup(project: TestProject) {
	const tell = (line: string) => process.stdout.write(`${line}\n`);
	project.provide("consoleFolder", await ensureConsole(tell));
}

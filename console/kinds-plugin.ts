import type { Plugin } from "vite";
import { operations } from "../src/operations.ts";
import { recordKinds } from "../src/registers/all.ts";
import { toolsetsOf } from "../src/tokens/scopes.ts";
import { describeKind } from "./describe-kind.ts";

const NAME = "virtual:kinds";
const RESOLVED = `\0${NAME}`;

/**
 * Provides `virtual:kinds`, which holds the registers and the toolsets as the server defines them.
 * The build generates this module, so each field is defined in one place and no server code reaches
 * the browser.
 */
export function kindsPlugin(): Plugin {
	return {
		name: "assay-kinds",
		resolveId: (id) => (id === NAME ? RESOLVED : undefined),
		load: (id) =>
			id === RESOLVED
				? [
						`export const kinds = ${JSON.stringify(recordKinds.map(describeKind))};`,
						`export const toolsets = ${JSON.stringify(toolsetsOf(operations))};`,
					].join("\n")
				: undefined,
	};
}

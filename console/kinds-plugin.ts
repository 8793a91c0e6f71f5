import type { Plugin } from "vite";
import { operations } from "../src/operations.ts";
import { recordKinds } from "../src/registers/all.ts";
import { toolsetsOf } from "../src/tokens/scopes.ts";
import { describeKind } from "./describe-kind.ts";

const NAME = "virtual:kinds";
const RESOLVED = `\0${NAME}`;

/**
 * Provides `virtual:kinds`: the registers and the toolsets as the server defines them. The build of
 * the console makes it, so a field is spelt in one place and no code of the server reaches the
 * browser.
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

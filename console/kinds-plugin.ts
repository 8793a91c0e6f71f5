import type { Plugin } from "vite";
import { operations } from "../src/operations.ts";
import { recordKinds } from "../src/registers/all.ts";
import { toolsetsOf } from "../src/tokens/scopes.ts";
import { describeToolsets } from "../src/tokens/toolset-descriptions.ts";
import { describeKind } from "./describe-kind.ts";

/**
 * The modules, by their names. The toolsets have one of their own, because the first page needs the
 * registers and not the texts about toolsets.
 */
const MODULES = new Map([
	[
		"virtual:kinds",
		() =>
			`export const kinds = ${JSON.stringify(recordKinds.map(describeKind))};`,
	],
	[
		"virtual:toolsets",
		() => {
			const descriptions = describeToolsets();
			const reading = describeToolsets(true);
			const reads = toolsetsOf(
				operations.filter(({ isReadOnly }) => isReadOnly),
			);
			const toolsets = toolsetsOf(operations).map((name) => ({
				name,
				description: descriptions.get(name) ?? "",
				...(reads.includes(name) && { reading: reading.get(name) }),
			}));
			return `export const toolsets = ${JSON.stringify(toolsets)};`;
		},
	],
]);

/**
 * Provides `virtual:kinds` and `virtual:toolsets`, which hold the registers and the toolsets as the
 * server defines them. The build generates these modules, so each field is defined in one place and
 * no server code reaches the browser.
 */
export function kindsPlugin(): Plugin {
	return {
		name: "assay-kinds",
		resolveId: (id) => (MODULES.has(id) ? `\0${id}` : undefined),
		load: (id) =>
			id.startsWith("\0") ? MODULES.get(id.slice(1))?.() : undefined,
	};
}

import { join } from "node:path";
import type { Plugin } from "vite";

/** Functions that Mantine calls for each element, and the files with faster ones that do the same. */
const FASTER: Record<string, string> = {
	"core/Box/style-props/extract-style-props/extract-style-props":
		"extract-style-props.ts",
	"core/Box/get-box-mod/get-box-mod": "get-box-mod.ts",
	"core/styles-api/use-styles/get-class-name/resolve-class-names/resolve-class-names":
		"resolve-class-names.ts",
	"core/utils/filter-props/filter-props": "filter-props.ts",
	"components/Portal/OptionalPortal": "optional-portal.tsx",
};

/**
 * Replaces functions of Mantine that take a noticeable part of each page. Fails if a new version has
 * them elsewhere. `test/console/mantine.test.ts` compares their results with Mantine's own.
 */
export function mantinePlugin(): Plugin {
	const missing = new Set(Object.keys(FASTER));
	return {
		name: "assay-mantine",
		transform: {
			filter: { id: /@mantine\/core\/esm\/(?:core|components\/Portal)\// },
			handler(_, id) {
				const path = /esm\/(.+)\.mjs$/.exec(id)?.[1] ?? "";
				const file = FASTER[path];
				if (!file) return undefined;
				missing.delete(path);
				const url = JSON.stringify(join(import.meta.dirname, "mantine", file));
				return { code: `export * from ${url};`, map: null };
			},
		},
		buildEnd(error) {
			if (error || missing.size === 0) return;
			this.error(`not found in Mantine: ${[...missing].join(", ")}`);
		},
	};
}

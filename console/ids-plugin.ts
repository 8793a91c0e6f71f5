import type { Plugin } from "vite";

const MODULE = /@mantine\/hooks\/esm\/use-id\/use-id\.mjs$/;

/**
 * Mantine gives each input, menu and tooltip a random id after it has rendered, so that it renders
 * twice. Its reason is pages with several React roots. The console has one, so the id that React
 * gives is already the only one of its kind.
 */
const USE_ID = `import { useId as useReactId } from "react";
export function useId(staticId) {
	const id = useReactId();
	return typeof staticId === "string" ? staticId : "mantine-" + id;
}`;

/** Replaces Mantine's `useId`. Fails if a new version of Mantine has it elsewhere. */
export function idsPlugin(): Plugin {
	let isFound = false;
	return {
		name: "assay-ids",
		transform: {
			filter: { id: MODULE },
			handler() {
				isFound = true;
				return { code: USE_ID, map: null };
			},
		},
		buildEnd(error) {
			if (!error && !isFound) this.error("Mantine's use-id.mjs was not found");
		},
	};
}

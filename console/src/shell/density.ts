import { useSyncExternalStore } from "react";

const STORED = "assay-density";

/** How much room the rows of lists take. */
export type Density = "comfortable" | "compact";

/** The color-scheme script sets the attribute before the first paint, and styles.css reads it. */
const shown = (): Density =>
	document.documentElement.dataset.density === "compact"
		? "compact"
		: "comfortable";

/** The controls that show the density. They agree because each one follows every change. */
const listeners = new Set<() => void>();

function listen(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

/** Returns the density and a function that changes it in this browser. */
export function useDensity(): [Density, (density: Density) => void] {
	return [useSyncExternalStore(listen, shown), choose];
}

function choose(density: Density): void {
	document.documentElement.dataset.density = density;
	for (const listener of listeners) listener();
	try {
		localStorage.setItem(STORED, density);
	} catch {
		// The browser blocks the storage, so the choice lasts until the page is left.
	}
}

import { useState } from "react";

const STORED = "assay-density";

/** How much room the rows of lists take. */
export type Density = "comfortable" | "compact";

/** The color-scheme script sets the attribute before the first paint, and styles.css reads it. */
const shown = (): Density =>
	document.documentElement.dataset.density === "compact"
		? "compact"
		: "comfortable";

/** Returns the density and a function that changes it in this browser. */
export function useDensity(): [Density, (density: Density) => void] {
	const [density, setDensity] = useState(shown);
	return [
		density,
		(chosen) => {
			document.documentElement.dataset.density = chosen;
			setDensity(chosen);
			try {
				localStorage.setItem(STORED, chosen);
			} catch {
				// The browser blocks the storage, so the choice lasts until the page is left.
			}
		},
	];
}

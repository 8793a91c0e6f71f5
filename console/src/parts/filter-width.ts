import type { CSSProperties } from "react";

/**
 * Returns the properties of a filter that is at least `px` wide, and as wide as its value needs.
 * The rules are in styles.css.
 */
export const filterWidth = (px: number) => ({
	className: "filter",
	style: { "--filter-width": `${px}px` } as CSSProperties,
});

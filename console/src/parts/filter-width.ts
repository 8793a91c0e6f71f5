import type { CSSProperties } from "react";

/**
 * Returns the properties of a filter that is at least `px` wide, and as wide as its value needs.
 * The rules are in styles.css.
 */
export const filterWidth = (px: number) => ({
	className: "filter",
	style: { "--filter-width": `${px}px` } as CSSProperties,
});

/**
 * Returns the properties of a filter without a label above it. Its placeholder is the name of its
 * field. While it is set, the name stands on its frame.
 */
export const namedFilter = (name: string, px: number) => ({
	"aria-label": name,
	placeholder: name,
	className: "filter",
	style: {
		"--filter-width": `${px}px`,
		"--filter-name": JSON.stringify(name),
	} as CSSProperties,
});

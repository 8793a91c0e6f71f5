import type { CSSProperties, HTMLAttributes } from "react";
import classes from "./columns.module.css";

type Spacing = "xs" | "sm" | "md" | "lg" | "xl";

/**
 * Shows its children in columns. Their number depends on the width of the window, as in Mantine's
 * SimpleGrid. That adds a style sheet to the page for each grid, and the browser then looks through
 * the styles of all elements again.
 */
export function Columns({
	as: Element = "div",
	cols,
	spacing = "md",
	verticalSpacing = spacing,
	...others
}: HTMLAttributes<HTMLElement> & {
	as?: "div" | "dl" | "section";
	/** The number of columns from each width on. */
	cols: { base: number; xs?: number; sm?: number; md?: number; lg?: number };
	spacing?: Spacing;
	verticalSpacing?: Spacing;
}) {
	const { base, xs = base, sm = xs, md = sm, lg = md } = cols;
	return (
		<Element
			{...others}
			className={classes.columns ?? ""}
			style={
				{
					"--columns-base": base,
					"--columns-xs": xs,
					"--columns-sm": sm,
					"--columns-md": md,
					"--columns-lg": lg,
					gap: `var(--mantine-spacing-${verticalSpacing}) var(--mantine-spacing-${spacing})`,
				} as CSSProperties
			}
		/>
	);
}

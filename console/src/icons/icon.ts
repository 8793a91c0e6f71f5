import { type ComponentType, createElement, type SVGProps } from "react";

interface IconProps extends SVGProps<SVGSVGElement> {
	/** Width and height in pixels. */
	size?: number | undefined;
}

export type Icon = ComponentType<IconProps>;

const LINES = {
	fill: "none",
	stroke: "currentColor",
	strokeWidth: 2,
	strokeLinecap: "round",
	strokeLinejoin: "round",
} as const;

/** Makes an icon of lines. `d` is that of an SVG path in a square of 24 by 24. */
export function outline(d: string): Icon {
	return makeIcon(LINES, d);
}

/** Makes an icon of areas. */
export function filled(d: string): Icon {
	return makeIcon({ fill: "currentColor" }, d);
}

function makeIcon(look: SVGProps<SVGSVGElement>, d: string): Icon {
	return ({ size = 24, ...rest }) =>
		createElement(
			"svg",
			{ width: size, height: size, viewBox: "0 0 24 24", ...look, ...rest },
			createElement("path", { d }),
		);
}

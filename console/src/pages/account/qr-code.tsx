import { encode } from "uqr";

/**
 * Draws a QR code, dark on light in both color schemes, because many scanners cannot read other
 * colors.
 */
export function QrCode({ text, label }: { text: string; label: string }) {
	const { data, size } = encode(text, { ecc: "M", border: 4 });
	const path = data
		.flatMap((row, y) =>
			row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")),
		)
		.join("");
	return (
		<svg
			role="img"
			aria-label={label}
			viewBox={`0 0 ${size} ${size}`}
			width={208}
			height={208}
			shapeRendering="crispEdges"
			style={{ background: "#fff", borderRadius: 4, flexShrink: 0 }}
		>
			<path d={path} fill="#000" />
		</svg>
	);
}

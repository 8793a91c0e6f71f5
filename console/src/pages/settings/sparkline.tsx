import type { DayOfUse } from "./token-words.tsx";

const WIDTH = 90;
const HEIGHT = 20;
const GAP = 1;

/**
 * Draws the calls of each day within the width of a table cell. The numbers are beside it as text.
 */
export function Sparkline({ days }: { days: DayOfUse[] }) {
	const most = Math.max(1, ...days.map(({ calls }) => calls));
	const width = WIDTH / days.length;
	return (
		<svg width={WIDTH} height={HEIGHT} aria-hidden="true">
			{days.map(({ day, calls }, index) => {
				const height = calls === 0 ? 1 : Math.max(2, (calls / most) * HEIGHT);
				return (
					<rect
						key={day}
						x={index * width}
						y={HEIGHT - height}
						width={width - GAP}
						height={height}
						fill={
							calls === 0
								? "var(--mantine-color-default-border)"
								: "var(--mantine-color-indigo-6)"
						}
					/>
				);
			})}
		</svg>
	);
}

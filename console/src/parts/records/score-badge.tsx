import classes from "../plain-badge.module.css";
import { PlainBadge } from "../plain-badge.tsx";
import { bandOf } from "./risk-scores.ts";

/** Shows the score of a risk and its band, as a number, a word and a color. */
export function ScoreBadge({ score }: { score: number }) {
	const {
		background = "gray",
		color = "white",
		label = "Unknown",
	} = bandOf(score) ?? {};
	return (
		<PlainBadge
			label={label}
			paddingLeft={0}
			left={
				<span className={classes.score} style={{ background, color }}>
					{score}
				</span>
			}
		/>
	);
}

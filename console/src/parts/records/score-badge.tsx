import { Badge, Box } from "@mantine/core";
import { bandOf } from "./risk-scores.ts";

/** Shows the score of a risk and its band, as a number, a word and a color. */
export function ScoreBadge({ score }: { score: number }) {
	const band = bandOf(score);
	return (
		<Badge
			variant="default"
			tt="none"
			fw={500}
			pl={0}
			// Without it, a narrow column of a table would cut off the word.
			miw="max-content"
			leftSection={
				<Box
					component="span"
					bg={band?.background ?? "gray"}
					c={band?.color ?? "white"}
					px={6}
					miw={26}
					ta="center"
					fw={600}
					style={{
						display: "inline-block",
						lineHeight: "20px",
						borderRadius: "999px 0 0 999px",
						fontVariantNumeric: "tabular-nums",
					}}
				>
					{score}
				</Box>
			}
		>
			{band?.label ?? "Unknown"}
		</Badge>
	);
}

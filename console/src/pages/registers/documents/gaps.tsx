import { Alert } from "@mantine/core";
import { gapsIn } from "./find-gaps.ts";

/** Warns of gaps that would be part of the published text. Shows nothing if there are none. */
export function Gaps({ text }: { text: string }) {
	const gaps = gapsIn(text);
	if (gaps.length === 0) return null;
	const [shown, more] = [gaps.slice(0, 8), gaps.length - 8];
	return (
		<Alert
			color="yellow"
			variant="outline"
			mb="sm"
			title={gaps.length === 1 ? "There is a gap" : `${gaps.length} gaps`}
		>
			The text still says {shown.join(", ")}
			{more > 0 && ` and ${more} more`}. Fill in what stands in brackets first.
		</Alert>
	);
}

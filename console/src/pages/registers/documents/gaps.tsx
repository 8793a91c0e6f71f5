import { Alert } from "@mantine/core";
import { gapsIn } from "./find-gaps.ts";

/** Warns about gaps that would be published with the text. Shows nothing if there are none. */
export function Gaps({ text }: { text: string }) {
	const gaps = gapsIn(text);
	if (gaps.length === 0) return null;
	const [shown, more] = [gaps.slice(0, 8), gaps.length - 8];
	return (
		<Alert
			color="yellow"
			variant="outline"
			mb="sm"
			title={
				gaps.length === 1
					? "The text has a gap"
					: `The text has ${gaps.length} gaps`
			}
		>
			It still says {shown.join(", ")}
			{more > 0 && ` and ${more} more`}. Fill in what stands in brackets first.
		</Alert>
	);
}

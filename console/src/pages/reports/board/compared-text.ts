import { formatDay } from "../../../parts/days.ts";
import type { Board } from "./board.ts";

/** Says which day the summary compares with, and why it is not the day that the reader chose. */
export function comparedText({
	comparedWith,
	wanted,
}: Pick<Board, "comparedWith" | "wanted">): string {
	if (comparedWith === null)
		return "not compared, because no records before today are known";
	const day = `compared with ${formatDay(comparedWith)}`;
	return comparedWith > wanted
		? `${day}, the first day whose records are known`
		: day;
}

/** Explains the mark on a bar. */
export const markInWords = (comparedWith: string) =>
	`The line on a bar is the figure of ${formatDay(comparedWith)}.`;

/** Parses JSON with one value a line. */
export const parseLines = <T>(text: string): T[] =>
	text
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => JSON.parse(line) as T);

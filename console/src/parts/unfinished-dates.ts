/**
 * Returns errors for dates and times in the area that are only partly filled in, because the browser
 * reports their value as empty.
 */
export function unfinishedDates(
	area: HTMLElement | null | undefined,
): Record<string, string> {
	const inputs =
		area?.querySelectorAll<HTMLInputElement>("input[data-path]") ?? [];
	return Object.fromEntries(
		[...inputs]
			.filter(({ validity }) => validity.badInput)
			.map(({ dataset, type }) => [
				dataset.path ?? "",
				type === "date"
					? "Complete the date or clear it."
					: "Complete the date and the time, or clear both.",
			]),
	);
}

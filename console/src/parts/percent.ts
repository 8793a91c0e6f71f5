/** Says why 99.96% is shown as 99.9%. */
export const ROUNDED =
	"Percentages are rounded down to one decimal, so 100% means all.";

/** Returns a percentage in words, such as "66.6%". */
export const percentInWords = (value: number) => `${value.toLocaleString()}%`;

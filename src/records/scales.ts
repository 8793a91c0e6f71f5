/** The meanings of the five steps of a scale, beginning with 1. */
export const LIKELIHOODS = [
	"Rare",
	"Unlikely",
	"Possible",
	"Likely",
	"Almost certain",
] as const;
export const IMPACTS = [
	"Negligible",
	"Minor",
	"Moderate",
	"Major",
	"Severe",
] as const;

/** Returns true for a scale from 1 to 5. A score, the product of two scales, is not one. */
export function isScale({
	type,
	min,
	max,
}: {
	type: string;
	min?: unknown;
	max?: unknown;
}): boolean {
	return type === "integer" && min === 1 && max === 5;
}

/** Returns the words for the steps of the scale that a field uses. */
export function scaleOf(fieldName: string): readonly string[] {
	return fieldName.endsWith("impact") ? IMPACTS : LIKELIHOODS;
}

/** Returns the label of a step, such as "2 Unlikely". */
export function stepLabel(fieldName: string, step: number): string {
	return `${step} ${scaleOf(fieldName)[step - 1] ?? ""}`;
}

/** Returns the steps of the scale that a field uses, as choices. */
export function stepsOf(fieldName: string): { value: string; label: string }[] {
	return scaleOf(fieldName).map((_, index) => ({
		value: String(index + 1),
		label: stepLabel(fieldName, index + 1),
	}));
}

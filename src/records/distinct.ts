/**
 * Arguments of `refine` for a list in which no value may stand twice, such as
 * `z.array(idSchema("people")).refine(...DISTINCT)`.
 */
export const DISTINCT = [
	(values: readonly unknown[]): boolean =>
		new Set(values).size === values.length,
	"must not contain the same value twice",
] as const;

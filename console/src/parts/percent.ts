/** Returns a percentage in words, such as "66.6%". */
export const percentInWords = (value: number) => `${value.toLocaleString()}%`;

/** Shortest password, in characters. */
export const MIN_PASSWORD = 12;

/** Longest password, in characters. */
export const MAX_PASSWORD = 128;

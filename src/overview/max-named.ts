/** Largest number of records that a part of the overview names. */
export const MAX_NAMED = 10;

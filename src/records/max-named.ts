/** Most names of records that one call returns. */
export const MAX_NAMED = 1000;

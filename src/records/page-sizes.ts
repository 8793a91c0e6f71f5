/** Default page size of a list: the number of records if the caller names none. */
export const DEFAULT_PAGE_SIZE = 20;

/** Largest page of a list that a caller may ask for. docs/security.md and docs/mcp.md name it too. */
export const MAX_PAGE_SIZE = 100;

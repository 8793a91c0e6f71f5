/** Age in days from which an API token counts as old and should be rotated. */
export const OLD_TOKEN_DAYS = 90;

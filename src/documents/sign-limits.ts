/** Days for which a link can be used: since the request to sign, the last reminder, or the copy. */
export const SIGN_DAYS = 30;

/**
 * Hours that must have passed since the request to sign, or since the last reminder, before all are
 * reminded, or those whom the caller chooses.
 */
export const HOURS_BETWEEN = { ofAll: 24, ofChosen: 1 };

/** Largest number of people that one call asks to sign. */
export const MAX_ASKED = 1000;

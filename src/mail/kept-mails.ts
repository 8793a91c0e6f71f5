/**
 * Number of days for which administrators can see what became of a mail or a delivery.
 * docs/privacy.md and docs/webhooks.md name them too.
 */
export const MAIL_DAYS = 30;

/** Most mails of an organization that the page of mails lists. */
export const MAX_LISTED_MAILS = 100;

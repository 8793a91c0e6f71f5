/** Days between closing an organization and deleting it. */
export const GRACE_DAYS = 14;

/** Days for which the link of an invitation works. */
export const INVITATION_DAYS = 7;

/** Days of the audit log that say how a member signs in. */
export const WAYS_DAYS = 90;

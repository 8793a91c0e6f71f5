/** Largest number of emergency accounts of an organization. */
export const MAX_EMERGENCY_ACCOUNTS = 5;

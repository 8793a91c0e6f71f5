/** Minutes after a comment in which its author may correct it. */
export const CORRECTION_MINUTES = 15;

/** Days for which deliveries are also signed with the former secret after a rotation. */
export const OVERLAP_DAYS = 7;

/** Most risks whose measures one call returns. */
export const MAX_RISKS = 500;

import { FairShares } from "./fair-shares.ts";

/**
 * Limits the calls of one user, with all API tokens and sessions together. Without this limit, a
 * user with many tokens could use all database connections. A single token or session fills only a
 * part of its user's share, so it leaves some of it to the user's other clients.
 */
export const callsOfUsers = new FairShares({ running: 7, waiting: 57 });

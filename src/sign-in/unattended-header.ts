/**
 * Header of a request that the console sends by itself, while nobody has touched the page for a
 * minute. Such a request does not count as a use of the session. A page that loads its data again
 * every few seconds would otherwise keep the session of somebody who has gone home.
 */
export const UNATTENDED_HEADER = "x-assay-unattended";

/**
 * Header in which the door tells better-auth the address of a request. The client's own header is
 * dropped.
 */
export const ADDRESS_HEADER = "x-assay-address";

/**
 * Header in which the HTTP layer tells better-auth the address of a request. A header with this
 * name that the client sent is dropped.
 */
export const ADDRESS_HEADER = "x-assay-address";

/**
 * Header in which the HTTP layer tells better-auth the network address that a request came from. If
 * the client sent a header with this name, that header is removed.
 */
export const ADDRESS_HEADER = "x-assay-address";

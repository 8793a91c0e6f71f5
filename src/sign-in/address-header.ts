/** The header in which the door tells better-auth where a request came from; a client's own is dropped. */
export const ADDRESS_HEADER = "x-assay-address";

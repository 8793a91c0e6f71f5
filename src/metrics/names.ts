/** Counts requests whose forwarded address was ignored. `assay doctor` looks for it. */
export const IGNORED_ADDRESSES = "assay_ignored_forwarded_addresses_total";

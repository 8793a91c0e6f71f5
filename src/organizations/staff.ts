import { TODAY } from "./time-zone.ts";

/** SQL condition: the contract of the person `p` has not ended. Others get no link and open no page. */
export const IS_STAFF = `(p.contract_end_date is null or p.contract_end_date >= ${TODAY})`;

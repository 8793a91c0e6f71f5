import { TODAY } from "./time-zone.ts";

/** A condition on a person `p`: people whose contract has ended get no link and open no page. */
export const IS_STAFF = `(p.contract_end_date is null or p.contract_end_date >= ${TODAY})`;

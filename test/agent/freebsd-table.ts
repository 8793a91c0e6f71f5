import { FREEBSD_CHECKS } from "../../agent/checks/freebsd/all.ts";
import { tableOf } from "./recorded-table.ts";
import { GOOD_BSD } from "./recordings/freebsd.ts";

/**
 * Makes a test of each case of a check, on a FreeBSD device on which every check passes without the
 * case's change.
 */
export const bsdTable = tableOf(GOOD_BSD, FREEBSD_CHECKS);

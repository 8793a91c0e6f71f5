import { MACOS_CHECKS } from "../../agent/checks/macos/all.ts";
import { type Change, tableOf } from "./recorded-table.ts";
import { GOOD_MAC } from "./recordings/macos.ts";

/**
 * Makes a test for each case of a check. Each case changes one thing on a Mac that otherwise passes
 * every check.
 */
export const macTable = tableOf(GOOD_MAC, MACOS_CHECKS);

/** The change to an agent without root's rights. */
export const ordinaryUser: Change = { isPrivileged: false };

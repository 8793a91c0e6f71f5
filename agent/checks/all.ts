import type { Platform } from "../../src/devices/terms.ts";
import type { Check, CheckKey } from "./check.ts";
import { FREEBSD_CHECKS } from "./freebsd/all.ts";
import { LINUX_CHECKS } from "./linux/all.ts";
import { MACOS_CHECKS } from "./macos/all.ts";
import { WINDOWS_CHECKS } from "./windows/all.ts";

/** The nine canonical checks of each platform, in the order in which they are reported. */
export const CHECKS: Record<Platform, Record<CheckKey, Check>> = {
	DARWIN: MACOS_CHECKS,
	LINUX: LINUX_CHECKS,
	FREEBSD: FREEBSD_CHECKS,
	WINDOWS: WINDOWS_CHECKS,
};

import type { Platform } from "../../terms.ts";
import type { Fixes } from "./fix.ts";
import { FREEBSD_FAILURES } from "./freebsd.ts";
import { LINUX_FAILURES } from "./linux.ts";
import { MACOS_FAILURES } from "./macos.ts";
import { WINDOWS_FAILURES } from "./windows.ts";

/**
 * What to do about a failing check, by platform. `fixOf` returns the first advice whose cause the
 * evidence has. For a check that is missing here, it says what a pass means.
 */
export const FAILURES: Record<Platform, Fixes> = {
	DARWIN: MACOS_FAILURES,
	WINDOWS: WINDOWS_FAILURES,
	LINUX: LINUX_FAILURES,
	FREEBSD: FREEBSD_FAILURES,
};

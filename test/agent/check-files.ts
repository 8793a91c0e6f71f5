import { join } from "node:path";
import type { CheckKey, Platform } from "../../src/devices/terms.ts";

const CHECKS = join(import.meta.dirname, "../../agent/checks");

const FOLDERS: Record<Platform, string> = {
	DARWIN: "macos",
	LINUX: "linux",
	FREEBSD: "freebsd",
	WINDOWS: "windows",
};

/**
 * Returns the name of a check in the names of its files, such as `time-sync`. FIREWALL_ENABLED is
 * `firewall`.
 */
export const nameInFiles = (check: CheckKey): string =>
	check.toLowerCase().replace("_enabled", "").replaceAll("_", "-");

/** Returns the path of the file of a check that the agent has on a platform. */
export const fileOfCheck = (check: CheckKey, platform: Platform): string =>
	join(CHECKS, FOLDERS[platform], `${nameInFiles(check)}.ts`);

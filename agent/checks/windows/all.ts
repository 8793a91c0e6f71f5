import type { PlatformChecks } from "../check.ts";
import { autoUpdate } from "./auto-update.ts";
import { diskEncryption } from "./disk-encryption.ts";
import { firewall } from "./firewall.ts";
import { malwareProtection } from "./malware-protection.ts";
import { osVersion } from "./os-version.ts";
import { passwordPolicy } from "./password-policy.ts";
import { remoteLogin } from "./remote-login.ts";
import { screenLock } from "./screen-lock.ts";
import { timeSync } from "./time-sync.ts";

/** The checks that the agent runs on Windows, by their keys. */
export const WINDOWS_CHECKS = {
	DISK_ENCRYPTION: diskEncryption,
	SCREEN_LOCK: screenLock,
	FIREWALL_ENABLED: firewall,
	TIME_SYNC: timeSync,
	OS_VERSION: osVersion,
	AUTO_UPDATE: autoUpdate,
	PASSWORD_POLICY: passwordPolicy,
	REMOTE_LOGIN: remoteLogin,
	MALWARE_PROTECTION: malwareProtection,
} satisfies PlatformChecks;

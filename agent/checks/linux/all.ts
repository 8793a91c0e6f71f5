import type { PlatformChecks } from "../check.ts";
import { checkAutoUpdate } from "./auto-update.ts";
import { checkDiskEncryption } from "./disk-encryption.ts";
import { checkFirewall } from "./firewall.ts";
import { checkMalwareProtection } from "./malware-protection.ts";
import { checkOsVersion } from "./os-version.ts";
import { checkPasswordPolicy } from "./password-policy.ts";
import { checkRemoteLogin } from "./remote-login.ts";
import { checkScreenLock } from "./screen-lock.ts";
import { checkTimeSync } from "./time-sync.ts";

/** The checks that the agent runs on Linux, by their keys. */
export const LINUX_CHECKS = {
	DISK_ENCRYPTION: checkDiskEncryption,
	SCREEN_LOCK: checkScreenLock,
	FIREWALL_ENABLED: checkFirewall,
	TIME_SYNC: checkTimeSync,
	OS_VERSION: checkOsVersion,
	AUTO_UPDATE: checkAutoUpdate,
	PASSWORD_POLICY: checkPasswordPolicy,
	REMOTE_LOGIN: checkRemoteLogin,
	MALWARE_PROTECTION: checkMalwareProtection,
} satisfies PlatformChecks;

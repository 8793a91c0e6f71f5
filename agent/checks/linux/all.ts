import { type Check, type CheckKey, unknown } from "../check.ts";

const notYet: Check = async () => unknown("not_implemented");

export const LINUX_CHECKS: Record<CheckKey, Check> = {
	DISK_ENCRYPTION: notYet,
	SCREEN_LOCK: notYet,
	FIREWALL_ENABLED: notYet,
	TIME_SYNC: notYet,
	OS_VERSION: notYet,
	AUTO_UPDATE: notYet,
	PASSWORD_POLICY: notYet,
	REMOTE_LOGIN: notYet,
	MALWARE_PROTECTION: notYet,
};

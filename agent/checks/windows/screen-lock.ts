import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { type Answer, ask, integer, part, whyUnread } from "./powershell.ts";

/**
 * Reads the settings of all users who have a session. Only these users have a registry key
 * `Volatile Environment`. Their names stay on the device. The two power settings are "require a
 * sign-in on wake" and "sleep after", each for mains power and for battery.
 */
export const SCREEN_LOCK_SCRIPT = `
@{
  inactivitySeconds = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Policies\\System').InactivityTimeoutSecs
  managedMinutes = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\PolicyManager\\current\\device\\DeviceLock').MaxInactivityTimeDeviceLock
  managedPassword = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\PolicyManager\\current\\device\\DeviceLock').DevicePasswordEnabled
  users = Read-Part {
    Get-ChildItem -LiteralPath 'Registry::HKEY_USERS' -ErrorAction SilentlyContinue |
      Where-Object { $_.PSChildName -match '^S-1-(5-21|12-1)-[0-9-]+$' } |
      ForEach-Object {
        $hive = 'HKEY_USERS\\' + $_.PSChildName
        if (Test-Path -LiteralPath ('Registry::' + $hive + '\\Volatile Environment')) {
          $own = Reg ($hive + '\\Control Panel\\Desktop')
          $policy = Reg ($hive + '\\Software\\Policies\\Microsoft\\Windows\\Control Panel\\Desktop')
          @{
            active = $own.ScreenSaveActive; secure = $own.ScreenSaverIsSecure; timeout = $own.ScreenSaveTimeOut; delayLock = $own.DelayLockInterval
            program = [bool] ($own.'SCRNSAVE.EXE' -or $policy.'SCRNSAVE.EXE')
            policyActive = $policy.ScreenSaveActive; policySecure = $policy.ScreenSaverIsSecure; policyTimeout = $policy.ScreenSaveTimeOut
            dynamic = (Reg ($hive + '\\Software\\Microsoft\\Windows NT\\CurrentVersion\\Winlogon')).EnableGoodbye
          }
        }
      }
  }
  power = Read-Part {
    $plan = (Get-CimInstance -Namespace root/cimv2/power -ClassName Win32_PowerPlan -Filter 'IsActive=True').InstanceID -replace '^.*\\{', '' -replace '\\}.*$', ''
    Get-CimInstance -Namespace root/cimv2/power -ClassName Win32_PowerSettingDataIndex |
      Where-Object { $_.InstanceID -match [regex]::Escape($plan) -and $_.InstanceID -match '0e796bdb-100d-47d6-a2d5-f7d2daa51f51|29f6c1db-86da-48c5-9fdb-f2b67b1f44da' } |
      ForEach-Object { @{
        setting = $(if ($_.InstanceID -match '0e796bdb') { 'sign_in' } else { 'sleep' })
        mains = ($_.InstanceID -match '\\\\AC\\\\')
        number = $_.SettingIndexValue
      } }
  }
}
`;

/**
 * Returns PASS if every session locks itself within 15 minutes. The lock may come from the
 * machine's inactivity limit, from device management, or from each user's secure screen saver,
 * where policy takes precedence over the user's own setting. If a user has chosen no screen saver
 * ("(None)"), the result is UNKNOWN. The lock may also come from sleep, if the device sleeps by
 * then and requires a sign-in on wake. Dynamic lock depends on a paired phone, so it appears in the
 * evidence but proves nothing.
 */
export async function screenLock(host: Host): Promise<CheckOutcome> {
	const asked = await ask(host, SCREEN_LOCK_SCRIPT);
	if ("trouble" in asked) return asked.trouble;
	const { answer } = asked;

	const isPasswordOff =
		integer(answer.managedPassword) === PASSWORD_NOT_REQUIRED &&
		(integer(answer.managedMinutes) ?? 0) > 0;
	const machine = machineLimit(answer, isPasswordOff);
	if (
		machine &&
		machine.idle_seconds <= host.threshold("max_lock_delay_seconds")
	) {
		return pass({ lock_enabled: true, ...machine });
	}

	const power = sleepLock(answer);
	if (
		power.kind === "locks" &&
		power.seconds <= host.threshold("max_lock_delay_seconds")
	) {
		return pass({
			lock_enabled: true,
			source: "sleep",
			idle_seconds: power.seconds,
		});
	}

	const users = part(answer, "users");
	if (users.kind !== "values") return unknown(whyUnread(host, users));
	if (users.values.length === 0) return unknown("no_user_session");
	if (!users.values.every(isUnderstood)) return unknown("unrecognized_output");
	const locks = users.values.map(saverSeconds);
	const evidence = {
		...(machine ?? {}),
		user_sessions: locks.length,
		sessions_with_lock: locks.filter((seconds) => seconds !== undefined).length,
		dynamic_lock: users.values.every((user) => integer(user.dynamic) === 1),
	};
	const slowest = Math.max(...locks.map((seconds) => seconds ?? Infinity));
	if (slowest <= host.threshold("max_lock_delay_seconds")) {
		// With the screen saver "(None)", versions of Windows differ in whether they lock.
		if (!users.values.every((user) => user.program === true)) {
			return unknown("screen_saver_not_chosen", evidence);
		}
		return pass({
			...evidence,
			lock_enabled: true,
			source: "screen_saver",
			idle_seconds: slowest,
		});
	}
	// The check could not read the sleep settings, which may still lock the device.
	if (power.kind === "unread") return unknown(power.reason(host), evidence);
	if (isPasswordOff) return unknown("managed_limit_not_enforced", evidence);
	return fail({
		...evidence,
		lock_enabled: slowest !== Infinity || machine !== undefined,
		...(slowest === Infinity ? {} : { idle_seconds: slowest }),
	});
}

/**
 * The value of `DevicePasswordEnabled` with which device management requires no password. Windows
 * then does not enforce the limit that stands beside it.
 */
const PASSWORD_NOT_REQUIRED = 1;

function machineLimit(answer: Answer, isPasswordOff: boolean) {
	const seconds = integer(answer.inactivitySeconds) ?? 0;
	const managed = isPasswordOff
		? 0
		: (integer(answer.managedMinutes) ?? 0) * 60;
	const limits = [
		{ source: "machine_inactivity_limit", idle_seconds: seconds },
		{ source: "device_management", idle_seconds: managed },
	].filter((limit) => limit.idle_seconds > 0);
	return limits.sort((a, b) => a.idle_seconds - b.idle_seconds)[0];
}

/**
 * Returns true if every value has a known form. The registry stores these numbers as text, and a
 * value that is not set is null or empty.
 */
const isUnderstood = (user: Answer) =>
	SAVER_VALUES.every(
		(name) =>
			name in user &&
			(user[name] === null ||
				user[name] === "" ||
				integer(user[name]) !== undefined),
	);

const SAVER_VALUES = [
	"active",
	"secure",
	"timeout",
	"policyActive",
	"policySecure",
	"policyTimeout",
];

/**
 * Returns the seconds until a user's secure screen saver starts, or undefined if no screen saver
 * locks.
 */
function saverSeconds(user: Answer): number | undefined {
	const active = integer(user.policyActive) ?? integer(user.active);
	const secure = integer(user.policySecure) ?? integer(user.secure);
	const seconds = integer(user.policyTimeout) ?? integer(user.timeout);
	return active === 1 && secure === 1 && seconds !== undefined && seconds > 0
		? seconds
		: undefined;
}

/**
 * Returns the longest time for which a user has chosen to need no sign-in after sleep ("If you've
 * been away, when should Windows require you to sign in again?"). It decides on devices with Modern
 * Standby. The registry has 0xFFFFFFFF for "Never".
 */
function lockDelay(answer: Answer): number {
	const users = part(answer, "users");
	if (users.kind !== "values") return Infinity;
	const delays = users.values.map((user) => integer(user.delayLock) ?? 0);
	return Math.max(
		0,
		...delays.map((seconds) =>
			seconds < 0 || seconds >= 0xffff_ffff ? Infinity : seconds,
		),
	);
}

type SleepLock =
	| { kind: "locks"; seconds: number }
	| { kind: "none" }
	| { kind: "unread"; reason: (host: Host) => Reason };

/**
 * Returns how the device locks itself by sleeping. It counts only if it works both on mains power
 * and on battery.
 */
function sleepLock(answer: Answer): SleepLock {
	const power = part(answer, "power");
	if (power.kind !== "values") {
		return { kind: "unread", reason: (host) => whyUnread(host, power) };
	}
	const settings = (setting: string) =>
		power.values
			.filter((value) => value.setting === setting)
			.map((value) => integer(value.number));
	const signIn = settings("sign_in");
	const sleep = settings("sleep");
	if (signIn.length === 0 || sleep.length === 0) return { kind: "none" };
	const seconds = Math.max(...sleep.map((value) => value || Infinity));
	const delay = lockDelay(answer);
	return signIn.every((value) => value === 1) && seconds + delay !== Infinity
		? { kind: "locks", seconds: seconds + delay }
		: { kind: "none" };
}

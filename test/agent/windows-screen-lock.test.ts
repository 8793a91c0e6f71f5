import { describe } from "vitest";
import {
	SCREEN_LOCK_SCRIPT,
	screenLock,
} from "../../agent/checks/windows/screen-lock.ts";
import { cases } from "./windows-cases.ts";
import { CIM_DENIED, values } from "./windows-recording.ts";

const saver = (active: unknown, secure: unknown, timeout: unknown) => ({
	active,
	secure,
	timeout,
	policyActive: null,
	policySecure: null,
	policyTimeout: null,
	dynamic: null,
	program: true,
});
const power = (signIn: number, mains: number, battery: number) =>
	values(
		{ setting: "sign_in", mains: true, number: signIn },
		{ setting: "sign_in", mains: false, number: signIn },
		{ setting: "sleep", mains: true, number: mains },
		{ setting: "sleep", mains: false, number: battery },
	);
const screen = (fields: object) => ({
	inactivitySeconds: null,
	managedMinutes: null,
	users: values(saver("1", "0", "900")),
	power: power(1, 0, 600),
	...fields,
});

describe("SCREEN_LOCK on Windows", () => {
	cases(screenLock, SCREEN_LOCK_SCRIPT, [
		[
			"the machine's inactivity limit passes",
			screen({ inactivitySeconds: 900 }),
			"PASS",
			{ source: "machine_inactivity_limit", idle_seconds: 900 },
		],
		[
			"a limit set by device management passes",
			screen({ managedMinutes: 10 }),
			"PASS",
			{ source: "device_management", idle_seconds: 600 },
		],
		[
			"a secure screen saver of every session passes",
			screen({ users: values(saver("1", "1", "600"), saver("1", "1", "300")) }),
			"PASS",
			{ source: "screen_saver", idle_seconds: 600, user_sessions: 2 },
		],
		[
			"a secure screen saver of which no program is chosen is UNKNOWN",
			screen({
				users: values(saver("1", "1", "600"), {
					...saver("1", "1", "300"),
					program: false,
				}),
			}),
			"UNKNOWN",
			{ reason: "screen_saver_not_chosen", sessions_with_lock: 2 },
		],
		[
			"a lock after an hour fails, whatever the program",
			screen({
				users: values({ ...saver("1", "1", "3600"), program: false }),
			}),
			"FAIL",
			{ lock_enabled: true, idle_seconds: 3600 },
		],
		[
			"a policy takes precedence over the user's own setting",
			screen({
				users: values({
					...saver("1", "0", "0"),
					policyActive: "1",
					policySecure: "1",
					policyTimeout: "900",
				}),
			}),
			"PASS",
			{ source: "screen_saver", idle_seconds: 900 },
		],
		[
			"sleep within 15 minutes with a sign-in on wake passes",
			screen({ power: power(1, 900, 300) }),
			"PASS",
			{ source: "sleep", idle_seconds: 900 },
		],
		[
			"sleep does not lock if the user chose never to sign in again",
			screen({
				power: power(1, 900, 300),
				users: values({ ...saver("1", "0", "900"), delayLock: 4294967295 }),
			}),
			"FAIL",
			{ lock_enabled: false },
		],
		[
			"the same number as a negative one counts too",
			screen({
				power: power(1, 900, 300),
				users: values({ ...saver("1", "0", "900"), delayLock: -1 }),
			}),
			"FAIL",
			{ lock_enabled: false },
		],
		[
			"a sign-in that is required five minutes after sleep adds five minutes",
			screen({
				power: power(1, 300, 300),
				users: values({ ...saver("1", "0", "900"), delayLock: 300 }),
			}),
			"PASS",
			{ source: "sleep", idle_seconds: 600 },
		],
		[
			"a managed limit without a required password is not enforced",
			screen({ managedMinutes: 10, managedPassword: 1 }),
			"UNKNOWN",
			{ reason: "managed_limit_not_enforced" },
		],
		[
			"a managed limit with a required password passes",
			screen({ managedMinutes: 10, managedPassword: 0 }),
			"PASS",
			{ source: "device_management" },
		],
		[
			"one session without a lock fails",
			screen({ users: values(saver("1", "1", "600"), saver("1", "0", "600")) }),
			"FAIL",
			{ lock_enabled: false, sessions_with_lock: 1 },
		],
		[
			"a lock after an hour fails",
			screen({ users: values(saver("1", "1", "3600")) }),
			"FAIL",
			{ lock_enabled: true, idle_seconds: 3600 },
		],
		[
			"no sign-in on wake fails",
			screen({ power: power(0, 300, 300) }),
			"FAIL",
			{ lock_enabled: false, dynamic_lock: false },
		],
		[
			"no limit while nobody is signed in is UNKNOWN",
			screen({ users: values() }),
			"UNKNOWN",
			{ reason: "no_user_session" },
		],
		[
			"without the power settings, a missing lock is UNKNOWN",
			screen({ power: CIM_DENIED }),
			"UNKNOWN",
			{ reason: "needs_administrator" },
			{ isPrivileged: false },
		],
	]);
});

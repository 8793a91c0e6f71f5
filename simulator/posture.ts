import {
	CHECK_KEYS,
	type CheckKey,
	type Evidence,
	type Platform,
	type PostureStatus,
} from "../src/devices/terms.ts";
import { DAY_MS, HOUR_MS } from "../src/units.ts";
import type { Behaviour, Behaviours } from "./evidence/behaviour.ts";
import { FREEBSD } from "./evidence/freebsd.ts";
import { LINUX } from "./evidence/linux.ts";
import { MACOS } from "./evidence/macos.ts";
import { WINDOWS } from "./evidence/windows.ts";
import type { Machine } from "./machine.ts";
import { chance, TOPIC } from "./random.ts";

const BEHAVIOURS: Record<Platform, Behaviours> = {
	DARWIN: MACOS,
	WINDOWS,
	LINUX,
	FREEBSD,
};

/** The length of a period in which a check may fail for a while and be fixed again. */
const EPISODE_MS = 24 * DAY_MS;
/** The length of such a period for changes that happen while somebody watches. */
const FLIP_MS = 20 * 60_000;
/**
 * The share of the failing devices on which the check fails for good from some day on. On the
 * others, the failure comes and goes.
 */
const CHRONIC_SHARE = 0.4;
const ONSET_DAYS = 120;
/** The share of reports in which a check has timed out. */
const TIMED_OUT_SHARE = 0.0008;

export interface Look {
	seed: number;
	/** The time of the observation, in milliseconds since 1970. */
	at: number;
	/** When the simulation began. Lasting failures began some time before that. */
	begun: number;
	/** The share of checks that change and change back within 20 minutes. */
	drift: number;
}

export interface Result {
	check_key: CheckKey;
	status: PostureStatus;
	evidence: Evidence;
}

/**
 * Returns what the machine's agent would report at the given time, with one result for each
 * canonical check.
 */
export function resultsOf(machine: Machine, look: Look): Result[] {
	return CHECK_KEYS.map((check_key, check) => ({
		check_key,
		...judge(
			machine,
			check,
			BEHAVIOURS[machine.facts.platform][check_key],
			look,
		),
	}));
}

function judge(
	machine: Machine,
	check: number,
	behaviour: Behaviour | undefined,
	look: Look,
): Omit<Result, "check_key"> {
	if (!behaviour) {
		return {
			status: "NOT_APPLICABLE",
			evidence: { reason: "not_checked_here" },
		};
	}
	const own = [look.seed, machine.n, check] as const;
	const does = behaviour.notApplicable?.(machine);
	if (does) return { status: "NOT_APPLICABLE", evidence: { reason: does } };
	if (behaviour.needsRoot && !machine.isPrivileged) {
		const reason =
			machine.system.platform === "WINDOWS"
				? "needs_administrator"
				: "needs_root";
		return { status: "UNKNOWN", evidence: { reason } };
	}
	const { unknown } = behaviour;
	if (unknown && chance(...own, TOPIC.PRESENT) < unknown.share) {
		return { status: "UNKNOWN", evidence: { reason: unknown.reason } };
	}
	const hour = Math.floor(look.at / HOUR_MS);
	if (chance(...own, TOPIC.BREAK, hour) < TIMED_OUT_SHARE) {
		return { status: "UNKNOWN", evidence: { reason: "timed_out" } };
	}
	const variant = chance(...own, TOPIC.VARIANT);
	return isFailing(machine, check, behaviour, look)
		? { status: "FAIL", evidence: behaviour.fail(machine, variant) }
		: { status: "PASS", evidence: behaviour.pass(machine, variant) };
}

function isFailing(
	machine: Machine,
	check: number,
	behaviour: Behaviour,
	look: Look,
): boolean {
	if (CHECK_KEYS[check] === "OS_VERSION") return isOutdated(machine, look.at);
	const { seed, at } = look;
	const own = [seed, machine.n, check] as const;
	const flips = isWithin(at, FLIP_MS, look.drift, [...own, TOPIC.FLIP]);
	return wasBroken(behaviour, own, look) !== flips;
}

function isOutdated({ version }: Machine, at: number): boolean {
	const { supportedUntil } = version;
	return (
		supportedUntil !== undefined &&
		at > Date.parse(`${supportedUntil}T00:00:00Z`) + DAY_MS
	);
}

function wasBroken(
	{ failing }: Behaviour,
	own: readonly [number, number, number],
	{ at, begun }: Look,
): boolean {
	if (chance(...own, TOPIC.CHRONIC) < failing * CHRONIC_SHARE) {
		return at > begun - chance(...own, TOPIC.ONSET) * ONSET_DAYS * DAY_MS;
	}
	// On average, an episode lasts half of its period, so the share of periods is doubled.
	const share = failing * (1 - CHRONIC_SHARE) * 2;
	return isWithin(at, EPISODE_MS, share, [...own, TOPIC.EPISODE]);
}

/**
 * Returns true if `at` lies in an episode. Time is divided into periods of `windowMs`, which begin
 * at a different time for each check. A `share` of the periods contains an episode. It begins in
 * the first half of the period and ends in the second.
 */
function isWithin(
	at: number,
	windowMs: number,
	share: number,
	keys: readonly number[],
): boolean {
	const shifted = at + chance(...keys) * windowMs;
	const window = Math.floor(shifted / windowMs);
	if (chance(...keys, window, 1) >= share) return false;
	const part = shifted / windowMs - window;
	return (
		part > chance(...keys, window, 2) / 2 &&
		part < 0.5 + chance(...keys, window, 3) / 2
	);
}

import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
} from "../../../../src/devices/terms.ts";

const UNITS = [
	["day", 86_400],
	["hour", 3_600],
	["minute", 60],
	["second", 1],
] as const;

/** Returns a duration in words, such as "1 hour 30 minutes" for 5400. */
export function durationWords(seconds: number): string {
	const words: string[] = [];
	let rest = seconds;
	for (const [unit, length] of UNITS) {
		const count = Math.floor(rest / length);
		rest -= count * length;
		if (count > 0) words.push(`${count} ${unit}${count === 1 ? "" : "s"}`);
	}
	return words.join(" ") || "0 seconds";
}

/**
 * Returns the rate at which the devices send, per second, minute, hour or day. The unit is the
 * shortest in which the rate is at least one.
 */
export function rateWords(
	noun: string,
	devices: number,
	intervalSeconds: number,
): string {
	const perSecond = devices / intervalSeconds;
	const [unit, length] = (
		[
			["second", 1],
			["minute", 60],
			["hour", 3_600],
		] as const
	).find(([, seconds]) => perSecond * seconds >= 1) ?? ["day", 86_400];
	const rate = perSecond * length;
	const shown = rate.toLocaleString(undefined, {
		maximumFractionDigits: rate < 10 ? 1 : 0,
	});
	const nouns = shown === "1" ? noun : `${noun}s`;
	return `${shown} ${nouns} ${unit === "hour" ? "an" : "a"} ${unit}`;
}

const HEARTBEATS = [30, 60, 120, 300, 600, 900, 1_800, 3_600, 21_600, 86_400];
const POSTURES = [
	300, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800,
];

export const heartbeatChoices = (current: number) =>
	choicesWith(HEARTBEATS, current, DEFAULT_HEARTBEAT_INTERVAL_SECONDS);
export const postureChoices = (current: number) =>
	choicesWith(POSTURES, current, DEFAULT_POSTURE_INTERVAL_SECONDS);

/**
 * Returns the usual intervals and the current one, which may differ because a tool can set any
 * value.
 */
function choicesWith(usual: number[], current: number, initial: number) {
	return [...new Set([...usual, current])]
		.sort((a, b) => a - b)
		.map((seconds) => ({
			value: String(seconds),
			label: `${durationWords(seconds)}${seconds === initial ? " (default)" : ""}`,
		}));
}

import { chance } from "../../simulator/random.ts";
import { DAY_MS, HOUR_MS } from "../units.ts";

const WORK_BEGINS = 7;
const WORK_HOURS = 10;

/** Days before which the past is stretched, and the factor. */
const STRETCHED_BEFORE = 120;
const STRETCH = 3.2;

/**
 * Moves the first months of the organization further back, so that its history is longer than a
 * year and the last months stay as dense as they are.
 */
export function stretched(daysAgo: number): number {
	const early = Math.max(daysAgo - STRETCHED_BEFORE, 0);
	return daysAgo + early * (STRETCH - 1);
}

/** Something that happened `daysAgo` days ago. */
export interface Moment {
	daysAgo: number;
	/** Moments of the same kind that follow each other on one day do not depend on each other. */
	kind?: string;
	run: (at: Date) => Promise<unknown>;
}

export interface DatedMoment extends Omit<Moment, "daysAgo"> {
	at: Date;
}

/**
 * Orders the moments and gives each a time, as people work: on working days, in working hours, and
 * never two at once. Moments of today keep their time.
 */
export function dateMoments(
	moments: readonly Moment[],
	now: Date,
): DatedMoment[] {
	const latest = now.getTime() - 60_000;
	let previous = 0;
	return moments
		.toSorted((one, other) => other.daysAgo - one.daysAgo)
		.map(({ daysAgo, ...moment }, index) => {
			const wanted =
				daysAgo < 1
					? now.getTime() - daysAgo * DAY_MS
					: workingTime(
							now.getTime() - Math.floor(stretched(daysAgo)) * DAY_MS,
							index,
						);
			// A moment comes after the moments that it depends on, even if its hour would be earlier.
			const after = previous + (20 + chance(index) * 70) * 1000;
			previous = Math.min(Math.max(wanted, after), latest);
			return { at: new Date(previous), ...moment };
		});
}

/**
 * Returns a time within working hours on the day of `time`. If that day is on a weekend, uses the
 * Friday before it.
 */
function workingTime(time: number, index: number): number {
	const day = new Date(time);
	const sinceFriday = (day.getUTCDay() + 2) % 7;
	const weekend = sinceFriday === 1 || sinceFriday === 2 ? sinceFriday : 0;
	day.setUTCDate(day.getUTCDate() - weekend);
	day.setUTCHours(WORK_BEGINS, 0, 0, 0);
	return day.getTime() + chance(index, 1) * WORK_HOURS * HOUR_MS;
}

/** Groups moments that may run at the same time, and keeps their order. */
export function groupMoments(moments: readonly DatedMoment[]): DatedMoment[][] {
	const groups: DatedMoment[][] = [];
	for (const moment of moments) {
		const group = groups.at(-1);
		const last = group?.at(-1);
		const isAlike = moment.kind !== undefined && moment.kind === last?.kind;
		if (group && last && isAlike && dayOf(moment.at) === dayOf(last.at)) {
			group.push(moment);
		} else groups.push([moment]);
	}
	return groups;
}

const dayOf = (at: Date): number => Math.floor(at.getTime() / DAY_MS);

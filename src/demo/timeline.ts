import { chance } from "../../simulator/random.ts";

const DAY_MS = 86_400_000;
const WORK_BEGINS = 7;
const WORK_HOURS = 10;

/** Something that happened so many days ago. */
export interface Moment {
	daysAgo: number;
	/** Those of one kind that follow each other on a day need nothing of each other. */
	kind?: string;
	run: (at: Date) => Promise<unknown>;
}

export interface DatedMoment extends Omit<Moment, "daysAgo"> {
	at: Date;
}

/**
 * The moments in order, each with its time: on working days, in working hours, and never two at
 * once, as people work. What happened today keeps its hour.
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
					: workingTime(now.getTime() - Math.floor(daysAgo) * DAY_MS, index);
			// What depends on another comes after it, however their hours fell.
			const after = previous + (20 + chance(index) * 70) * 1000;
			previous = Math.min(Math.max(wanted, after), latest);
			return { at: new Date(previous), ...moment };
		});
}

/** An hour of the day of `time`, or of the Friday before it. */
function workingTime(time: number, index: number): number {
	const day = new Date(time);
	const sinceFriday = (day.getUTCDay() + 2) % 7;
	const weekend = sinceFriday === 1 || sinceFriday === 2 ? sinceFriday : 0;
	day.setUTCDate(day.getUTCDate() - weekend);
	day.setUTCHours(WORK_BEGINS, 0, 0, 0);
	return day.getTime() + chance(index, 1) * WORK_HOURS * 3_600_000;
}

/** In the same order, those together that may happen at once. */
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

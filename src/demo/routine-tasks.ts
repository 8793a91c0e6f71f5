import { chance } from "../../simulator/random.ts";
import { day, month } from "./day.ts";
import type { RecordsByKey } from "./records-by-key.ts";
import { spread } from "./registers.ts";
import type { Moment } from "./timeline.ts";

/** Tasks that the team does again and again. */
const ROUTINES = [
	["Review who may enter production", "jonas"],
	["Restore a backup and compare it", "mei"],
	["Go through the alerts of the scanner", "omar"],
	["Check the accounts of people who left", "ines"],
] as const;

const ROUNDS = 12;

/**
 * Returns the rounds of these tasks over the past year. Many were done late in the beginning, and
 * fewer are now.
 */
export function routineTasks({ add, update, id }: RecordsByKey): Moment[] {
	const count = ROUNDS * ROUTINES.length;
	return Array.from({ length: count }, (_, index): Moment[] => {
		const [name, assignee] = ROUTINES[index % ROUTINES.length] ?? ["", ""];
		const round = Math.floor(index / ROUTINES.length);
		const due = spread(196, 12, index, count);
		const late = chance(index) * spread(20, 5, index, count) - 2;
		const key = `${name} ${round}`;
		return [
			{
				daysAgo: due + 12,
				run: () =>
					add("addTask", key, {
						name: `${name} (${month(-due)})`,
						priority: "MEDIUM",
						assigned_to_id: id("people", assignee),
						deadline: day(-due),
					}),
			},
			{
				daysAgo: due - late,
				run: () => update("updateTask", id("task", key), { state: "DONE" }),
			},
		];
	}).flat();
}

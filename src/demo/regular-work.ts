import type { CheckKey } from "../devices/terms.ts";
import { day } from "./day.ts";
import { AUDITS, NONCONFORMITIES } from "./organization/audits.ts";
import { IMPROVEMENTS } from "./organization/improvements.ts";
import { OBLIGATIONS } from "./organization/obligations.ts";
import { TASKS } from "./organization/tasks.ts";
import type { RecordsByKey } from "./records-by-key.ts";
import { spread } from "./registers.ts";
import { routineTasks } from "./routine-tasks.ts";
import type { Moment } from "./timeline.ts";

/**
 * Returns the moments of regular work: audits, nonconformities, obligations, tasks and
 * improvements.
 */
export function workMoments(
	records: RecordsByKey,
	/** Returns the ids of devices that fail the check now. */
	failing: (check: CheckKey, at: Date) => string[],
): Moment[] {
	return [
		...addAudits(records),
		...addObligations(records),
		...addNonconformities(records, failing),
		...routineTasks(records),
		...addTasks(records),
		...addImprovements(records),
		...latestChanges(records),
	];
}

function addAudits({ add, id }: RecordsByKey): Moment[] {
	return AUDITS.map(
		({ key, framework, from, until, valid, owner, ...rest }) => ({
			// An audit is planned three weeks ahead, but not before its framework was added.
			daysAgo: Math.min(Math.max(21 - from, 5), 185),
			run: () =>
				add("addAudit", key, {
					framework_id: id("framework", framework),
					...rest,
					owner_id: id("people", owner),
					starts_on: day(from),
					ends_on: day(until),
					...(valid && {
						valid_from: day(valid[0]),
						valid_until: day(valid[1]),
					}),
				}),
		}),
	);
}

function addObligations({ add, link, id }: RecordsByKey): Moment[] {
	return OBLIGATIONS.flatMap((obligation, index) => {
		const { requirement, owner, reviewed, due, actions, ...rest } = obligation;
		return [
			{
				daysAgo: 135 - (index % 2),
				kind: "obligation",
				run: async () => {
					const obligationId = await add("addObligation", requirement, {
						requirement,
						...rest,
						actions_to_be_implemented: actions ?? null,
						owner_id: id("people", owner),
						last_review_date: day(-reviewed),
						due_date: day(due),
					});
					for (const measure of OBLIGATION_MEASURES[index] ?? []) {
						await link(obligationId, id("measure", measure));
					}
				},
			},
		];
	});
}

/** The measures that meet each obligation. The order is that of OBLIGATIONS. */
const OBLIGATION_MEASURES: readonly (readonly string[])[] = [
	["incident"],
	[],
	[],
	["privacyreview"],
	["policies", "incident", "training", "vendorreview"],
	[],
	[],
	["pentest"],
	["dpa"],
	["continuity", "rollout"],
];

function addNonconformities(
	{ add, update, link, id }: RecordsByKey,
	failing: (check: CheckKey, at: Date) => string[],
): Moment[] {
	return NONCONFORMITIES.flatMap((one, index) => {
		const { identified, due, links, failingCheck, audit, owner } = one;
		const { status, effectiveness_check, corrective_action, ...text } = one;
		const key = String(index);
		const { title, description, severity, root_cause } = text;
		const added: Moment = {
			// Work on a weekend is dated on the Friday before, and nobody records what is yet to be found.
			daysAgo: -identified - 2,
			run: async (at) => {
				const nonconformityId = await add("addNonconformity", key, {
					title,
					description,
					severity,
					date_identified: day(identified),
					due_date: day(due),
					audit_id: audit ? id("audit", audit) : null,
					owner_id: id("people", owner),
				});
				for (const link_ of links) {
					const kind = /^(P\.)?\d/.test(link_) ? "control" : "measure";
					await link(nonconformityId, id(kind, link_));
				}
				for (const device of failingCheck
					? failing(failingCheck as CheckKey, at)
					: []) {
					await link(nonconformityId, device);
				}
			},
		};
		const changes: Moment[] = [];
		const change = (daysAgo: number, input: object) =>
			changes.push({
				daysAgo,
				run: () =>
					update("updateNonconformity", id("nonconformity", key), input),
			});
		if (root_cause) change(-identified - 4, { root_cause });
		if (status !== "OPEN" || corrective_action) {
			change(-identified - 6, { status: "IN_PROGRESS", corrective_action });
		}
		if (status === "CLOSED") {
			change(3 - due, { status, effectiveness_check });
		}
		return [added, ...changes];
	});
}

function addTasks({ add, update, id }: RecordsByKey): Moment[] {
	return TASKS.flatMap((task, index) => {
		const { name, description, priority, state, assignee, due, measure } = task;
		const addedAgo = Math.max(
			4,
			Math.min(46, spread(46, 4, (index * 5) % TASKS.length, TASKS.length), 46),
			14 - due,
		);
		const moments: Moment[] = [
			{
				daysAgo: addedAgo,
				run: () =>
					add("addTask", name, {
						name,
						description,
						priority,
						measure_id: measure ? id("measure", measure) : null,
						assigned_to_id: id("people", assignee),
						deadline: day(due),
					}),
			},
		];
		if (state !== "TODO") {
			moments.push({
				daysAgo:
					state === "DONE" ? Math.max(1 - due, 2) : Math.max(addedAgo - 5, 1.5),
				run: () => update("updateTask", id("task", name), { state }),
			});
		}
		return moments;
	});
}

function addImprovements({ add, update, id }: RecordsByKey): Moment[] {
	return IMPROVEMENTS.flatMap((improvement, index) => {
		const { description, source, owner, target, status, priority } =
			improvement;
		const key = String(index);
		const addedAgo = Math.max(
			spread(70, 8, index, IMPROVEMENTS.length),
			25 - target,
		);
		const added: Moment = {
			daysAgo: addedAgo,
			run: () =>
				add("addContinualImprovement", key, {
					description,
					source,
					priority,
					owner_id: id("people", owner),
					target_date: day(target),
				}),
		};
		if (status === "OPEN") return [added];
		return [
			added,
			{
				daysAgo:
					status === "CLOSED" ? -target + 1 : Math.max(addedAgo - 6, 1.2),
				run: () =>
					update(
						"updateContinualImprovement",
						id("continual_improvement", key),
						{ status },
					),
			},
		];
	});
}

/** Returns the latest changes, which the home page shows: a few of every kind of record. */
function latestChanges({ update, use, id }: RecordsByKey): Moment[] {
	return [
		{
			daysAgo: 1.6,
			run: () =>
				update("updateVendor", id("vendor", "zendesk"), {
					description:
						"Tickets and phone calls of hotels. Tickets may hold names and booking numbers of guests; calls are kept for 60 days.",
				}),
		},
		{
			daysAgo: 1.4,
			run: () =>
				update(
					"updateObligation",
					id("obligation", "Keep a record of processing activities"),
					{
						last_review_date: day(-1),
					},
				),
		},
		{
			daysAgo: 1.2,
			run: () =>
				update("updateRisk", id("risk", "phishing"), {
					note: "Falls to 1 × 5 once the last four administrators use hardware keys; they are ordered.",
				}),
		},
		{
			daysAgo: 0.34,
			run: () =>
				update("updateMeasure", id("measure", "hardwarekeys"), {
					description:
						"Administrators of the cloud account, the directory and the code hosting sign in with a hardware key. Ten of fourteen have theirs, four are ordered.",
				}),
		},
		{
			daysAgo: 0.3,
			run: () =>
				update(
					"updateTask",
					id("task", "Review access in the five applications left over"),
					{
						state: "IN_PROGRESS",
					},
				),
		},
		{
			daysAgo: 0.2,
			run: () =>
				update("updateNonconformity", id("nonconformity", "2"), {
					root_cause:
						"The rules were removed by hand during the migration of the log archive; nothing put them back.",
				}),
		},
		{
			daysAgo: 0.12,
			run: () =>
				use("updateControl", {
					id: id("control", "8.17"),
					description:
						"All systems take the time from the same sources, so that logs can be compared.",
				}),
		},
		{
			daysAgo: 0.05,
			run: () =>
				update("updateAsset", id("asset", "frontdesk"), { amount: 72 + 1 }),
		},
	];
}

import { recordKinds } from "../registers/all.ts";
import { canBeArchived, IN_USE } from "./archived-field.ts";
import { type AnyRecordKind, type Chosen, toolsetOf } from "./kind.ts";

/** A date within these days, from today on, counts as soon due. */
export const DUE_SOON_DAYS = 14;

/** A date of a register's records by which somebody has to do something. */
export interface DueDate {
	kind: AnyRecordKind;
	/** The plural name of the register, such as `vendors`. */
	register: string;
	/** The field, such as due_date or next_review_date. */
	date: string;
	/** The field with the person who answers for it. */
	person: string;
	/** SQL condition for rows `t` that still need it. */
	open: string;
	/** The choice that `open` demands, which a link to these records has as a filter. */
	only?: Chosen | undefined;
	/** True for the due date of work that can be done. False for a review or an expiry. */
	isWork: boolean;
}

/** Every date that the home page and the weekly mail remind of. */
export const dueDates: readonly DueDate[] = recordKinds.flatMap((kind) => {
	const { due, reminders = [], remindedIf = {}, fields } = kind;
	const common = {
		kind,
		register: toolsetOf(kind),
		person: "assigned_to_id" in fields ? "assigned_to_id" : "owner_id",
	};
	const work = due
		? [
				{
					...common,
					date: due.date,
					open: `t.${due.done.field} <> '${due.done.value}'`,
					isWork: true,
				},
			]
		: [];
	const open = canBeArchived(kind) ? IN_USE : "true";
	return [
		...work,
		...reminders.map((date) => {
			const only = remindedIf[date];
			return {
				...common,
				date,
				open: only ? `${open} and t.${only.field} = '${only.value}'` : open,
				only,
				isWork: false,
			};
		}),
	];
});

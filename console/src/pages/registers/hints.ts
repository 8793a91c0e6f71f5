import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { KindDescription } from "../../kind-description.ts";
import {
	type AnyRecord,
	describeKind,
	type RecordOf,
	reminderFilter,
} from "../../kinds.ts";
import { dayAfter } from "../../parts/days.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import { percentInWords } from "../../parts/percent.ts";
import { recordsQuery } from "../../parts/records/register-calls.ts";
import { dayShown, isPastShown } from "../../past.ts";
import type { RegisterKind } from "../../register-kinds.ts";

const TYPING_MS = 400;

/** A hint that something in a record should be checked. */
export interface Hint {
	/** The field that the hint concerns. */
	field: string;
	text: string;
	/** True if the field is a date by which something should have been done. */
	isOverdue?: boolean;
}

type Rules = {
	[Kind in RegisterKind]?: (
		record: RecordOf<Kind>,
		today: string,
	) => (Hint | false)[];
};

const rules: Rules = {
	risk: ({
		inherent_risk_score,
		residual_risk_score,
		treatment,
		owner_id,
		is_undecided,
	}) => [
		// The form shows no such hint: its treatment says the same.
		is_undecided === true && {
			field: "treatment",
			text: "Assay suggested this risk, and nobody has decided about it yet. “Mark as decided” asks for its treatment and its scores after treatment.",
		},
		residual_risk_score > inherent_risk_score && {
			field: "residual_risk_score",
			text: "The residual risk is higher than the inherent risk: treatment should not increase a risk. Check both scores.",
		},
		treatment === "MITIGATED" &&
			!is_undecided &&
			residual_risk_score === inherent_risk_score && {
				field: "residual_risk_score",
				text: "The risk is marked as mitigated, but its score after treatment is unchanged.",
			},
		treatment === "ACCEPTED" &&
			owner_id === null && {
				field: "owner_id",
				text: "The risk is accepted but has no owner. Choose an owner.",
			},
	],
	measure: (record) => [contradictionOf(record)],
	people: ({ contract_end_date }, today) => [
		isBefore(contract_end_date, today) && {
			field: "contract_end_date",
			text: "The contract has ended. Transfer what this person owns to somebody else.",
		},
	],
	nonconformity: ({ due_date, status, effectiveness_check }, today) => [
		status !== "CLOSED" && overdue("due_date", due_date, today),
		status === "CLOSED" &&
			!effectiveness_check && {
				field: "effectiveness_check",
				text: "It is closed without an effectiveness check. Describe how you verified that the action works.",
			},
	],
	obligation: ({ due_date, last_review_date, status }, today) => [
		status !== "COMPLIANT" && overdue("due_date", due_date, today),
		isBefore(last_review_date, dayAfter(today, -365)) && {
			field: "last_review_date",
			text: "The last review was more than a year ago.",
		},
	],
	task: ({ deadline, state }, today) => [
		state !== "DONE" && overdue("deadline", deadline, today),
	],
	continual_improvement: ({ target_date, status }, today) => [
		status !== "CLOSED" && overdue("target_date", target_date, today),
	],
};

/** True for a risk that Assay suggested and that nobody has decided about. */
export const isUndecided = (record: AnyRecord) => record.is_undecided === true;

export function hintsOf(kind: RegisterKind, record: AnyRecord): Hint[] {
	const rule = rules[kind] as
		| ((record: AnyRecord, today: string) => (Hint | false)[])
		| undefined;
	const today = dayShown();
	const hints = [
		...(rule?.(record, today) ?? []),
		...passedDates(kind, record, today),
	].filter((hint) => hint !== false);
	return isPastShown() ? hints.map(withoutAdvice) : hints;
}

/** Keeps what is wrong, which comes first. Nobody can change a past day. */
function withoutAdvice({ text, ...hint }: Hint): Hint {
	const [wrong = ""] = text.split(". ");
	return { ...hint, text: wrong.endsWith(".") ? wrong : `${wrong}.` };
}

/**
 * Advice about a date in a reminder, once the date has passed, by the field or by the kind and the
 * field.
 */
const PASSED: Record<string, string> = {
	next_review_date: "The review is overdue. Review it and set the next date.",
	next_review_on: "The review is overdue. Review it and set the next date.",
	renewal_notice_date:
		"The day of the notice has passed. Decide about the renewal, or set a new date.",
	valid_until:
		"Its period of validity has ended. Add newer evidence and archive this one, or set a new date.",
	accepted_until:
		"The acceptance has ended. Decide about the risk again, or set a new date.",
	"audit.starts_on":
		"It should have begun. Set the status to in progress, or set a new date.",
	"audit.valid_until":
		"Its period of validity has ended. Plan the next audit, or set the status to outdated.",
};

/** Marks the passed dates of a record in use, as the home page counts them. */
function passedDates(
	kind: RegisterKind,
	record: AnyRecord,
	today: string,
): (Hint | false)[] {
	if (record.archived_at) return [];
	const description = describeKind(kind);
	const concerns = (date: string) =>
		Object.entries(reminderFilter(description, date)).every(
			([field, value]) => record[field] === value,
		);
	return description.filters
		.filter(({ type, name }) => type === "reminder" && concerns(name))
		.map(({ name: field }) => {
			const date = record[field];
			return (
				typeof date === "string" &&
				isBefore(date, today) && {
					field,
					text:
						PASSED[`${kind}.${field}`] ??
						PASSED[field] ??
						"This date has passed. Set a new one.",
					isOverdue: true,
				}
			);
		});
}

/** Returns the hints of `hintsOf`, followed by those that need a request to the server. */
export function useHints(
	kind: KindDescription,
	record: AnyRecord,
	organizationId: string,
): Hint[] {
	return [
		...hintsOf(kind.kind, record),
		...useSameAddress(kind, record, organizationId),
	];
}

/**
 * Returns a hint if another person has the same e-mail address. An import finds people by address,
 * so each address must belong to only one person.
 */
function useSameAddress(
	kind: KindDescription,
	{ id, primary_email_address: address }: AnyRecord,
	organizationId: string,
): Hint[] {
	const typed = typeof address === "string" ? address.trim().toLowerCase() : "";
	const [query] = useDebouncedValue(typed, TYPING_MS);
	const found = useQuery({
		...recordsQuery(kind, {
			organization_id: organizationId,
			filter: { query: query.slice(0, 200) },
		}),
		enabled: kind.kind === "people" && query.includes("@"),
	});
	const others = (found.data?.records ?? []).filter(
		(other) =>
			other.id !== id &&
			String(other.primary_email_address).toLowerCase() === typed,
	);
	if (query !== typed || others.length === 0) return [];
	return [
		{
			field: "primary_email_address",
			text: `${others[0]?.full_name} has this address too${others.length > 1 ? `, and ${others.length - 1} more` : ""}. Check that the person is not listed twice.`,
		},
	];
}

/** Says that the devices contradict the state that people chose. */
function contradictionOf(record: AnyRecord): Hint | false {
	if (record.is_contradicted !== true) return false;
	return {
		field: "state",
		text: `Contradiction: the state says Implemented, but ${foundByCheck(record as RecordOf<"measure">)}.`,
	};
}

/** Says how many devices pass the check of a measure, and how many should. */
export function foundByCheck({
	pass_percent,
	verified_by_check,
	verified_by_percent,
}: Pick<
	RecordOf<"measure">,
	"pass_percent" | "verified_by_check" | "verified_by_percent"
>): string {
	const check = checkLabel(String(verified_by_check));
	return typeof pass_percent === "number"
		? `only ${percentInWords(pass_percent)} of the required devices pass “${check}”; ${verified_by_percent}% are wanted`
		: `no device shows it by “${check}”`;
}

function overdue(
	field: string,
	date: string | null,
	today: string,
): Hint | false {
	return (
		isBefore(date, today) && {
			field,
			text: "It is overdue. Finish it or set a new date.",
			isOverdue: true,
		}
	);
}

function isBefore(date: string | null, limit: string): boolean {
	return date !== null && date < limit;
}

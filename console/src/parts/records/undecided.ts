import {
	isUndecided,
	markedLike,
	NOT_DECIDED,
	UNDECIDED_TREATMENT,
	withoutMark,
} from "../../../../src/starters/undecided.ts";

type Values = Record<string, unknown>;
type Ends = { before?: unknown; after?: unknown };

/** The choice of a treatment that a risk has before anybody has decided about it. */
export const NOT_DECIDED_CHOICE = { value: NOT_DECIDED, label: "Not decided" };

/**
 * Returns the value of a field as people see it. The treatment of a risk that nobody has decided
 * about is "Not decided", and its note leaves out the sentence that says so.
 */
export function shownValue(record: Values, name: string): unknown {
	const value = record[name];
	if (record.is_undecided !== true) return value;
	if (name === "treatment") return NOT_DECIDED;
	return name === "note" ? withoutMark(value) : value;
}

/** Returns the fields of a risk, such as one in a snapshot, as people see them. */
export function shownFields<Fields extends Values>(
	kind: string,
	fields: Fields,
): Fields {
	if (kind !== "risk") return fields;
	const is_undecided = isUndecided(fields.treatment, fields.note);
	const then = { ...fields, is_undecided };
	const treatment = shownValue(then, "treatment");
	return { ...fields, treatment, note: shownValue(then, "note") };
}

/**
 * Returns the values with which an edited record is saved. A note alone decides nothing, so the
 * sentence that nobody has decided stays in it.
 */
export function savedValues(changes: Values, latest: Values): Values {
	const keepsMark =
		latest.is_undecided === true &&
		"note" in changes &&
		!("treatment" in changes);
	return keepsMark
		? { ...changes, note: markedLike(latest.note, changes.note) }
		: changes;
}

/**
 * Returns the changes of a record as people see them: "Not decided" became "Mitigated", also if the
 * stored treatment stayed the same. `after` has the values that the record had after the changes.
 */
export function shownChanges(
	kind: string | null,
	changes: Record<string, Ends>,
	after: Values = { treatment: UNDECIDED_TREATMENT },
): Record<string, Ends> {
	if (kind !== "risk") return changes;
	const { is_undecided: _, ...stored } = changes;
	const { treatment, note, ...others } = stored;
	const given = { ...treatment, ...note };
	const shownAt = (side: "before" | "after"): Values | undefined => {
		if (!(side in given)) return;
		const then: Values = {
			treatment: treatment ? treatment[side] : after.treatment,
			note: note ? note[side] : after.note,
		};
		const is_undecided = isUndecided(then.treatment, then.note);
		return { ...then, is_undecided };
	};
	const [was, is] = [shownAt("before"), shownAt("after")];
	if (!was?.is_undecided && !is?.is_undecided) return stored;
	const shown = { ...others };
	for (const name of ["treatment", "note"]) {
		const ends = {
			...(was && { before: shownValue(was, name) }),
			...(is && { after: shownValue(is, name) }),
		};
		if (!was || !is || ends.before !== ends.after) shown[name] = ends;
	}
	return shown;
}

/**
 * Returns the changes of a risk's history, newest first, as people see them. `now` is the record
 * after the first of them.
 */
export function shownHistory<Entry extends { changes: Values }>(
	kind: string,
	entries: readonly Entry[],
	now: Values,
): Entry[] {
	const then: Values = { treatment: now.treatment, note: now.note };
	return entries.map((entry) => {
		const stored = entry.changes as Record<string, Ends>;
		const { treatment, note } = stored;
		const changes = shownChanges(kind, stored, then);
		if (treatment) then.treatment = treatment.before;
		if (note) then.note = note.before;
		return { ...entry, changes };
	});
}

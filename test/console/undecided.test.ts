import { expect, test } from "vitest";
import {
	savedValues,
	shownChanges,
	shownFields,
	shownHistory,
} from "../../console/src/parts/records/undecided.ts";
import { UNDECIDED_NOTE } from "../../src/starters/undecided.ts";

const risk = (treatment: string, note: string | null) => ({ treatment, note });
const ends = (before: unknown, after: unknown) => ({ before, after });

test("a history says Not decided where the note had the mark, and keeps what people wrote", () => {
	const entries = [
		{ changes: { treatment: ends("MITIGATED", "AVOIDED") } },
		{ changes: { note: ends(`${UNDECIDED_NOTE}\nAsk Ada.`, "Ask Ada.") } },
		{ changes: { category: ends("a", "b") } },
		{
			changes: {
				note: ends(UNDECIDED_NOTE, `${UNDECIDED_NOTE}\nAsk Ada.`),
			},
		},
		{
			changes: {
				treatment: { after: "MITIGATED" },
				note: { after: UNDECIDED_NOTE },
			},
		},
	];
	const shown = shownHistory("risk", entries, risk("AVOIDED", "Ask Ada."));
	expect(shown.map(({ changes }) => changes)).toEqual([
		{ treatment: ends("MITIGATED", "AVOIDED") },
		{ treatment: ends("NOT_DECIDED", "MITIGATED") },
		{ category: ends("a", "b") },
		{ note: ends(null, "Ask Ada.") },
		{ treatment: { after: "NOT_DECIDED" }, note: { after: null } },
	]);
});

test("a note with the mark of an earlier version says nothing about another treatment", () => {
	const changes = { note: ends(UNDECIDED_NOTE, null) };
	expect(shownHistory("risk", [{ changes }], risk("AVOIDED", null))).toEqual([
		{ changes },
	]);
});

test("a decision and its Undo are shown without the mark, and without what follows from it", () => {
	const decided = {
		treatment: ends("MITIGATED", "ACCEPTED"),
		note: ends(UNDECIDED_NOTE, null),
		is_undecided: ends(true, false),
	};
	expect(shownChanges("risk", decided)).toEqual({
		treatment: ends("NOT_DECIDED", "ACCEPTED"),
	});
	const undone = {
		treatment: ends("ACCEPTED", "MITIGATED"),
		note: ends(null, UNDECIDED_NOTE),
	};
	expect(shownChanges("risk", undone)).toEqual({
		treatment: ends("ACCEPTED", "NOT_DECIDED"),
	});
	expect(shownChanges("measure", undone)).toBe(undone);
});

test("the fields of a risk in a snapshot say Not decided", () => {
	expect(shownFields("risk", risk("MITIGATED", UNDECIDED_NOTE))).toEqual({
		treatment: "NOT_DECIDED",
		note: null,
	});
	const avoided = risk("AVOIDED", UNDECIDED_NOTE);
	expect(shownFields("risk", avoided)).toEqual(avoided);
});

test("a note is saved with the mark, unless somebody has decided meanwhile or decides now", () => {
	const latest = { note: UNDECIDED_NOTE, is_undecided: true };
	const note = "Ask Ada.";
	expect(savedValues({ note }, latest)).toEqual({
		note: `${UNDECIDED_NOTE}\nAsk Ada.`,
	});
	expect(savedValues({ note: null }, latest)).toEqual({ note: UNDECIDED_NOTE });
	const decided = { note: null, is_undecided: false };
	expect(savedValues({ note }, decided)).toEqual({ note });
	const both = { note, treatment: "AVOIDED" };
	expect(savedValues(both, latest)).toBe(both);
});

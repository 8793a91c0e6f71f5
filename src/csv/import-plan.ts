import type { PoolClient } from "pg";
import { z } from "zod";
import { AppError, type FieldIssue } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { makeEventLoopYield } from "../load/event-loop-yield.ts";
import type { Membership } from "../principal.ts";
import { shapeToAdd, shapeToUpdate } from "../records/input.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { findRefused } from "../records/refused-values.ts";
import { findReserved } from "../records/reserved-updates.ts";
import { referenceKey } from "../records/taken-reference-ids.ts";
import type { Values } from "../records/values.ts";
import { prepareNew, prepareUpdate } from "../records/values.ts";
import { parseInput } from "../validation.ts";
import { cellKindsOf, readCells, wantedReferences } from "./import-cells.ts";
import type { DateColumns } from "./import-dates.ts";
import type { CsvFile, FileLine } from "./import-file.ts";
import {
	findMatches,
	findNames,
	findTaken,
	type MatchBy,
	type Matches,
	matchText,
	type NamedRecord,
	readMatched,
} from "./import-matching.ts";
import { findReferences } from "./import-references.ts";

/** The effect that the import would have for one line. */
export interface PlannedLine {
	line: number;
	outcome: "ADD" | "UPDATE" | "UNCHANGED" | "SKIP" | "WRONG";
	/** The existing record that the line is about, if there is one. */
	before?: Values;
	/** Values to store: all values of a new record, or the changed values of an existing one. */
	values: Values;
	issues: FieldIssue[];
	/** The existing record that already has the name of the new one. */
	sameName?: NamedRecord;
}

interface Options {
	/** Locks the existing records for a change. */
	lock: boolean;
	/** Skips the new records whose name an existing record already has. */
	skipKnownNames: boolean;
	/** The columns with dates in which the order of day and month matters. */
	dates?: DateColumns;
	/** Why lines are skipped, by their numbers. The caller said so of one of their values. */
	skipped?: ReadonlyMap<number, FieldIssue>;
}

/**
 * Number of lines whose records are in memory at a time. A record may have more than 100 KB of
 * texts, and 10,000 of them would need a gigabyte.
 */
const SLICE = 200;

/**
 * Yields the effect of each line, according to the rules of the operations add and update. Writes
 * nothing. The file is planned in slices: the caller notes what it needs of a line before it takes
 * the next one, and keeps no `before`.
 */
export async function* planImport(
	client: PoolClient,
	kind: AnyRecordKind,
	membership: Membership,
	file: CsvFile,
	by: MatchBy,
	{ lock, skipKnownNames, dates = new Map(), skipped = new Map() }: Options,
): AsyncGenerator<PlannedLine, void> {
	const { organizationId } = membership;
	const cellKinds = cellKindsOf(kind);
	const matches = await findMatches(
		client,
		kind,
		organizationId,
		file,
		by,
		lock,
	);
	const taken = await findTaken(client, kind, organizationId, file);
	const references = await findReferences(
		client,
		organizationId,
		await wantedReferences(file, cellKinds),
	);
	const toAdd = z.strictObject(shapeToAdd(kind));
	const toUpdate = z.strictObject(shapeToUpdate(kind));
	// Each map contains, for a record or a reference id, the number of the line that has already used
	// it.
	const seenRecords = new Map<string, number>();
	const seenReferenceIds = new Map<string, number>();
	const takenValues = new Set<string>();

	const planLine = (
		fileLine: FileLine,
		records: ReadonlyMap<string, Values>,
	): PlannedLine => {
		const { line, cells } = fileLine;
		const wrong = (issues: FieldIssue[], before?: Values): PlannedLine => ({
			line,
			outcome: "WRONG",
			...(before && { before }),
			values: {},
			issues,
		});
		const skip = skipped.get(line);
		if (skip) return { line, outcome: "SKIP", values: {}, issues: [skip] };
		if (fileLine.issue) return wrong([{ field: "", message: fileLine.issue }]);

		const text = matchText(cells, by);
		const match = text === undefined ? undefined : matches.get(text);
		const before = match && records.get(match.id);
		if (text !== undefined) {
			if (match && match.count > 1) {
				return wrong([
					{ field: by, message: severalRecords(kind, match.count) },
				]);
			}
			if (!before && by === "id") {
				return wrong([
					{
						field: "id",
						message: `${notFound(text).message} in this organization`,
					},
				]);
			}
			const key = before ? String(before.id) : text.toLowerCase();
			const earlier = seenRecords.get(key);
			if (earlier !== undefined) {
				return wrong([
					{
						field: by,
						message: `names the same ${kind.noun} as line ${earlier}; keep one of the two lines`,
					},
				]);
			}
			seenRecords.set(key, line);
		}

		const { given, issues } = readCells(
			fileLine,
			cellKinds,
			references,
			dates,
			before,
		);
		// A record that is found by its reference id in another case keeps the spelling of the id.
		if (before && by === "reference_id") delete given.reference_id;
		let values: Values = {};
		try {
			const meant = kind.csv?.read(given, before) ?? given;
			const parsed = parseInput(before ? toUpdate : toAdd, meant);
			values = before
				? prepareUpdate(kind, before, parsed)
				: prepareNew(kind, parsed);
		} catch (error) {
			if (!(error instanceof AppError) || !error.fields) throw error;
			const named = new Set(issues.map(({ field }) => field));
			issues.push(...error.fields.filter(({ field }) => !named.has(field)));
		}
		const reference = values.reference_id;
		if (typeof reference === "string") {
			const key = referenceKey(reference);
			const earlier = seenReferenceIds.get(key);
			seenReferenceIds.set(key, line);
			const holder = taken.get(key);
			if (holder !== undefined && holder !== before?.id) {
				issues.push({
					field: "reference_id",
					message: `is already used by another ${kind.noun}; match by reference_id to change that one, or choose another`,
				});
			} else if (earlier !== undefined) {
				issues.push({
					field: "reference_id",
					message: `is already used in line ${earlier}; choose another, or leave the cell empty to get the next free one`,
				});
			}
		}
		if (issues.length > 0) return wrong(issues, before);
		if (!before) return { line, outcome: "ADD", values, issues };
		const outcome = Object.keys(values).length > 0 ? "UPDATE" : "UNCHANGED";
		return { line, outcome, before, values, issues };
	};

	const yieldIfDue = makeEventLoopYield();
	for (let from = 0; from < file.lines.length; from += SLICE) {
		const slice = file.lines.slice(from, from + SLICE);
		const records = await readMatched(
			client,
			kind,
			organizationId,
			idsOf(slice, by, matches),
		);
		const plan: PlannedLine[] = [];
		for (const fileLine of slice) {
			await yieldIfDue();
			plan.push(planLine(fileLine, records));
		}
		await rejectReserved(client, kind, membership, plan);
		await noteSameNames(client, kind, organizationId, plan, skipKnownNames);
		await rejectRefused(client, kind, organizationId, plan, takenValues);
		for (const planned of plan) {
			await yieldIfDue();
			yield planned;
		}
	}
}

/** Returns the ids of the records that the lines name. Each line names one. */
function idsOf(
	lines: readonly FileLine[],
	by: MatchBy,
	matches: Matches,
): string[] {
	return lines.flatMap(({ cells }) => {
		const text = matchText(cells, by);
		const match = text === undefined ? undefined : matches.get(text);
		return match?.count === 1 ? [match.id] : [];
	});
}

/** Makes the lines wrong whose update only an administrator may make. */
async function rejectReserved(
	client: PoolClient,
	kind: AnyRecordKind,
	membership: Membership,
	plan: PlannedLine[],
): Promise<void> {
	const updates = plan.flatMap((planned) => {
		const { outcome, before, values } = planned;
		return before && outcome === "UPDATE" ? [{ planned, before, values }] : [];
	});
	const reserved = await findReserved(client, membership, kind, updates);
	for (const update of updates) {
		const issue = reserved.get(update);
		if (!issue) continue;
		const { planned } = update;
		Object.assign(planned, { outcome: "WRONG", values: {}, issues: [issue] });
	}
}

/** Marks a line as wrong if its values conflict with stored records or with earlier lines. */
async function rejectRefused(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	plan: PlannedLine[],
	taken: Set<string>,
): Promise<void> {
	const stored = plan.filter(
		({ outcome }) => outcome === "ADD" || outcome === "UPDATE",
	);
	const refused = await findRefused(
		client,
		kind,
		organizationId,
		stored,
		taken,
	);
	for (const planned of stored) {
		const issue = refused.get(planned.values);
		if (!issue) continue;
		Object.assign(planned, { outcome: "WRONG", values: {}, issues: [issue] });
		// An answer names a namesake only for a line that is stored or skipped.
		delete planned.sameName;
	}
}

/** Notes which new records have the name of an existing one, and skips them if `skip` is true. */
async function noteSameNames(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	plan: PlannedLine[],
	skip: boolean,
): Promise<void> {
	const nameOf = ({ outcome, values }: PlannedLine): unknown =>
		outcome === "ADD" ? values[kind.title ?? ""] : undefined;
	const names = plan
		.map(nameOf)
		.filter((name): name is string => typeof name === "string" && name !== "");
	const known = await findNames(client, kind, organizationId, names);
	for (const planned of plan) {
		const sameName = known.get(String(nameOf(planned)));
		if (!sameName) continue;
		planned.sameName = sameName;
		if (skip) planned.outcome = "SKIP";
	}
}

function severalRecords(kind: AnyRecordKind, count: number): string {
	return `is the same for ${count} ${kind.nouns}; give the id, or match by another column`;
}

/**
 * Returns the part of a line in the plan's fingerprint. It changes whenever the import would do
 * anything different with the line.
 */
export function printOf(planned: PlannedLine): string {
	const { line, outcome, before, values, issues, sameName } = planned;
	const was = before && Object.keys(values).map((name) => before[name]);
	return `${JSON.stringify([line, outcome, before?.id, was, values, issues, sameName?.id])}\n`;
}

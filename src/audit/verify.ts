import type { ClientBase, Pool } from "pg";
import { entryText, hashOf, type StoredEntry } from "./entry.ts";
import { type Batch, type Head, readLog } from "./read.ts";
import { readRedactions } from "./redaction.ts";

/** What a chain was seen to be at some time, kept elsewhere since. */
export interface Expectation extends Head {
	organizationId: string;
}

export interface Finding {
	/** Where in the chain; null where it is about its end. */
	sequence: number | null;
	/** A sentence for people. */
	problem: string;
}

export interface ChainReport {
	organization_id: string;
	/** Null where there is no such organization. */
	organization_name: string | null;
	entries: number;
	/** Those of them from which an erasure took a person out, as its own entry says. */
	redacted: number;
	/** The newest entry found: to be kept elsewhere. Null where there is none. */
	head: Head | null;
	/** The first MAX_FINDINGS of them. */
	findings: Finding[];
	finding_count: number;
}

/** What only `expectations` show. */
export const UNSEEN =
	"entries that were cut off the end together with the log's head, and a log written anew from some entry on";

/** A chain made by another version would have one for each entry. */
const MAX_FINDINGS = 50;

/**
 * Reads an organization's whole log and says what is wrong with it: entries changed, missing or
 * put in, a cut-off end, a changed head, an entry other than `expectations` say. An entry that
 * an erasure redacted keeps its first hash, which it no longer fits; it must be what a later entry, of
 * that erasure, says it became (redaction.ts). After each finding it goes on with what is stored, so that one change is one finding.
 *
 * Somebody with the password of the tables' owner could cut off the end and set the head back, or
 * write the chain anew from any entry on; that only `expectations` show.
 */
export async function verifyLog(
	database: Pool | ClientBase,
	organizationId: string,
	expectations: Expectation[] = [],
): Promise<ChainReport> {
	const { rows } = await database.query<{ name: string }>(
		"select name from organizations where id = $1",
		[organizationId],
	);
	const report: ChainReport = {
		organization_id: organizationId,
		organization_name: rows[0]?.name ?? null,
		entries: 0,
		redacted: 0,
		head: null,
		findings: [],
		finding_count: 0,
	};
	const find = (sequence: number | null, problem: string) => {
		report.finding_count++;
		if (report.findings.length < MAX_FINDINGS) {
			report.findings.push({ sequence, problem });
		}
	};
	const awaited = expectations.filter(
		(expected) => expected.organizationId === organizationId,
	);
	for await (const batch of readLog(database, organizationId)) {
		await checkBatch(database, organizationId, batch, report, find);
		for (const { sequence, hash } of batch.entries) {
			for (const expected of awaited) {
				if (expected.sequence === Number(sequence)) {
					checkExpected(expected, String(hash), find);
				}
			}
		}
		if (!batch.isLast) continue;
		const isThere = rows[0] || report.head || batch.head;
		if (isThere) checkEnd(report.head, batch.head, find);
	}
	const last = report.head?.sequence ?? 0;
	for (const { sequence } of awaited) {
		if (sequence > last) {
			find(sequence, `expected entry ${sequence}, but the log ends at ${last}`);
		}
	}
	return report;
}

export type Find = (sequence: number | null, problem: string) => void;

/**
 * Checks entries that follow those seen so far: each for itself, and that it continues the one
 * before. An entry that an erasure redacted must be what that says.
 */
export async function checkBatch(
	database: Pool | ClientBase,
	organizationId: string,
	batch: Batch,
	seen: Pick<ChainReport, "entries" | "redacted" | "head">,
	find: Find,
): Promise<void> {
	const misfits = new Map(
		batch.entries.flatMap((entry) => {
			const hash = hashOf(entryText(entry));
			return hash === entry.hash ? [] : [[entry, hash] as const];
		}),
	);
	const sequences = [...misfits.keys()].map(({ sequence }) => sequence);
	// Read after the entries: somebody may be erased meanwhile.
	const redactions =
		sequences.length > 0
			? await readRedactions(database, organizationId, sequences)
			: new Set<string>();
	for (const entry of batch.entries) {
		checkPlace(entry, seen.head, find);
		const misfit = misfits.get(entry);
		if (misfit && redactions.has(`${entry.sequence}:${misfit}`)) {
			seen.redacted++;
		} else if (misfit) {
			find(
				Number(entry.sequence),
				`entry ${entry.sequence} was changed: its hash does not fit it`,
			);
		}
		seen.head = { sequence: Number(entry.sequence), hash: String(entry.hash) };
		seen.entries++;
	}
}

function checkPlace(entry: StoredEntry, before: Head | null, find: Find): void {
	const sequence = Number(entry.sequence);
	const next = (before?.sequence ?? 0) + 1;
	if (sequence > next) {
		find(
			next,
			sequence === next + 1
				? `entry ${next} is missing`
				: `entries ${next} to ${sequence - 1} are missing`,
		);
	} else if (entry.previous_hash !== (before?.hash ?? "")) {
		find(
			sequence,
			`entry ${sequence} does not continue the one before it, whose hash it keeps: one of the two was changed or put in`,
		);
	}
}

function checkExpected(expected: Head, hash: string, find: Find): void {
	if (expected.hash === hash) return;
	find(
		expected.sequence,
		`entry ${expected.sequence} has the hash ${hash} instead of the expected ${expected.hash}: the log was written anew`,
	);
}

/** What the log's head says of the entry that is the last: they were read in one moment. */
export function checkEnd(
	last: Head | null,
	head: Head | undefined,
	find: Find,
): void {
	const end = last?.sequence ?? 0;
	if (!head && !last) {
		find(1, "the whole log is gone: an organization is made with an entry");
	} else if (!head) {
		find(null, "the log's head, its newest entry's hash, is missing");
	} else if (head.sequence > end) {
		find(
			end + 1,
			`the end is cut off: ${head.sequence} entries were written, the last there is ${end}`,
		);
	} else if (head.sequence < end) {
		find(
			head.sequence + 1,
			`the head names entry ${head.sequence} as the newest, but there are entries up to ${end}: they were put in, or the head was changed`,
		);
	} else if (head.hash !== (last?.hash ?? "")) {
		find(
			null,
			`the head keeps another hash than entry ${end} has: one of the two was changed`,
		);
	}
}

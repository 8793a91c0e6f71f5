import type { ClientBase, Pool } from "pg";
import {
	digestOf,
	entryText,
	erasableFields,
	hashOf,
	type StoredEntry,
} from "./entry.ts";
import {
	type Batch,
	countUnsealed,
	type Head,
	readLog,
	type Unsealed,
} from "./read.ts";
import {
	ERASURES,
	isEntryErased,
	isFieldErased,
	type Listing,
	readRedactions,
} from "./redaction.ts";

/**
 * An entry that somebody saw at some time and has kept elsewhere since. The log must still contain
 * it.
 */
export interface Expectation extends Head {
	organizationId: string;
}

export interface Finding {
	/** Number of the entry. Null for a problem at the end of the chain. */
	sequence: number | null;
	/** Message for people about the problem. */
	problem: string;
}

/** An entry that lists what an erasure removed. A large erasure writes several such entries. */
export interface Erasure {
	sequence: number;
	/** Time of the entry, in RFC 3339. */
	at: string;
	operation: string;
	record_id: string | null;
	/** The name that replaced the person's name. */
	record_name: string | null;
}

export interface ChainReport {
	organization_id: string;
	/** Name of the organization. Null if there is no such organization. */
	organization_name: string | null;
	/** Number of sealed entries. */
	entries: number;
	/** Number of entries that have no seal yet, so the chain does not protect them. */
	unsealed: number;
	/**
	 * Number of entries from which an erasure removed a person, according to the erasure's own entry.
	 */
	redacted: number;
	/** Every erasure in the log, oldest first. */
	erasures: Erasure[];
	/**
	 * The newest entry that was found. People keep it elsewhere and compare it later. Null if the log
	 * has no entry.
	 */
	head: Head | null;
	/** The first findings, at most MAX_FINDINGS. */
	findings: Finding[];
	finding_count: number;
}

/** Forgeries that only a comparison with `expectations` reveals. */
export const UNSEEN =
	"entries that somebody cut off the end together with the log's head, and a log that somebody rewrote from some entry on";

/**
 * Largest number of findings that are returned. If another version wrote the chain, every entry
 * would be a finding.
 */
const MAX_FINDINGS = 50;

interface VerifyOptions {
	expectations?: Expectation[];
	/** True if a sealer works on this database, so that no entry may be without a seal for long. */
	isSealing?: boolean;
}

/**
 * Reads an organization's whole log and reports what is wrong with it: changed, removed or inserted
 * entries, a cut-off end, a changed head, and entries that differ from `expectations`. An entry
 * that an erasure changed must have exactly the form that erasures leave, and a later entry of the
 * erasure must list it (redaction.ts). After each finding the check continues from the stored
 * values, so that one change causes one finding.
 *
 * Somebody with the password of the tables' owner could cut off the end and set the head back, or
 * rewrite the chain from any entry on. Only `expectations` reveal that.
 */
export async function verifyLog(
	...given: Parameters<typeof verifySteps>
): Promise<ChainReport> {
	const steps = verifySteps(...given);
	for (;;) {
		const step = await steps.next();
		if (step.done) return step.value;
	}
}

/** Does the same step by step. Yields the entries of each step, and returns the report. */
export async function* verifySteps(
	database: Pool | ClientBase,
	organizationId: string,
	{ expectations = [], isSealing = false }: VerifyOptions = {},
): AsyncGenerator<StoredEntry[], ChainReport> {
	const { rows } = await database.query<{ name: string }>(
		"select name from organizations where id = $1",
		[organizationId],
	);
	const report: ChainReport = {
		organization_id: organizationId,
		organization_name: rows[0]?.name ?? null,
		entries: 0,
		unsealed: 0,
		redacted: 0,
		erasures: [],
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
	// Counted first: an entry that is sealed meanwhile is then in one of the two.
	const unsealed = await countUnsealed(database, organizationId);
	report.unsealed = unsealed.entries;
	if (isSealing) checkUnsealed(unsealed, find);
	const awaited = expectations.filter(
		(expected) => expected.organizationId === organizationId,
	);
	for await (const batch of readLog(database, organizationId)) {
		await checkBatch(database, organizationId, batch, report, find);
		for (const entry of batch.entries) {
			const { sequence, hash } = entry;
			if (isErasure(entry)) report.erasures.push(describeErasure(entry));
			for (const expected of awaited) {
				if (expected.sequence === Number(sequence)) {
					checkExpected(expected, String(hash), find);
				}
			}
		}
		yield batch.entries;
		if (!batch.isLast) continue;
		const isNew = unsealed.entries > 0 && !batch.head;
		const isThere = (rows[0] && !isNew) || report.head || batch.head;
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

function isErasure({ operation }: StoredEntry): boolean {
	return (ERASURES as readonly (string | null)[]).includes(operation);
}

function describeErasure(entry: StoredEntry): Erasure {
	return {
		sequence: Number(entry.sequence),
		at: `${entry.at}Z`,
		operation: entry.operation ?? "",
		record_id: entry.record_id,
		record_name: entry.record_name,
	};
}

/**
 * Checks the entries of a batch, each one and its link to the previous entry. `seen` describes the
 * entries before the batch and is updated. Entries that an erasure changed must be the ones that
 * the erasure lists.
 */
export async function checkBatch(
	database: Pool | ClientBase,
	organizationId: string,
	batch: Batch,
	seen: Pick<ChainReport, "entries" | "redacted" | "head">,
	find: Find,
): Promise<void> {
	const checked = batch.entries.map((entry) => checkContents(entry));
	const unclear = checked.filter(({ isSound }) => !isSound);
	// The erasures are read after the entries. Otherwise an erasure between the two queries would
	// change entries without being among the erasures that were read.
	const redactions =
		unclear.length > 0
			? await readRedactions(
					database,
					organizationId,
					unclear.map(({ entry }) => entry.sequence),
				)
			: new Map<string, Listing[]>();
	for (const { entry, isSound, isErasedBy } of checked) {
		checkPlace(entry, seen.head, find);
		if (entry.at === null) {
			find(
				Number(entry.sequence),
				`entry ${entry.sequence} is missing: only its seal remains`,
			);
		} else if (!isSound) {
			if (isErasedBy(redactions.get(entry.sequence ?? "") ?? [])) {
				seen.redacted++;
			} else {
				find(
					Number(entry.sequence),
					`entry ${entry.sequence} was changed: its hash does not match it`,
				);
			}
		}
		seen.head = { sequence: Number(entry.sequence), hash: String(entry.hash) };
		seen.entries++;
	}
}

interface Contents {
	entry: StoredEntry;
	/** True if everything in the entry fits the hash. */
	isSound: boolean;
	/**
	 * Returns true if these listings of erasures explain the difference. It matters only for an entry
	 * that is not sound.
	 */
	isErasedBy: (listings: readonly Listing[]) => boolean;
}

function checkContents(entry: StoredEntry): Contents {
	const hash = hashOf(entryText(entry));
	const isFitting = hash === entry.hash;
	const fields = erasableFields(entry);
	if (entry.hash_version === null) {
		const isErasedBy = (listings: readonly Listing[]) =>
			isEntryErased(hash, fields, listings);
		return { entry, isSound: isFitting, isErasedBy };
	}
	const digests: Record<string, string> = JSON.parse(entry.digests ?? "{}");
	const salts: Record<string, string> = JSON.parse(entry.salts ?? "{}");
	const isChanged =
		!isFitting ||
		[...fields.keys()].some((field) => digests[field] === undefined) ||
		Object.entries(salts).some(
			([field, salt]) =>
				digests[field] !== digestOf(salt, fields.get(field) ?? "") ||
				!fields.has(field),
		);
	const unsalted = Object.keys(digests).filter(
		(field) => salts[field] === undefined,
	);
	return {
		entry,
		isSound: !isChanged && unsalted.length === 0,
		isErasedBy: (listings) =>
			!isChanged &&
			unsalted.every((field) =>
				isFieldErased(field, fields.get(field), listings),
			),
	};
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
			`entry ${sequence} does not continue the entry before it: one of the two was changed or inserted`,
		);
	}
}

/**
 * Time after which an entry without a seal is a problem. A transaction that writes an entry ends
 * within this time.
 */
const MAX_UNSEALED_SECONDS = 300;

/** Checks that the sealer has overlooked no entry, and that nobody removed the newest seals. */
export function checkUnsealed(unsealed: Unsealed, find: Find): void {
	if (unsealed.oldestSeconds <= MAX_UNSEALED_SECONDS) return;
	find(
		null,
		`${unsealed.entries} entries have no seal, the oldest for ${Math.round(unsealed.oldestSeconds)} s: seals were removed, or nothing seals this log`,
	);
}

function checkExpected(expected: Head, hash: string, find: Find): void {
	if (expected.hash === hash) return;
	find(
		expected.sequence,
		`entry ${expected.sequence} has the hash ${hash} instead of the expected ${expected.hash}: the log was rewritten`,
	);
}

/** Compares the log's head with its last entry. Both were read at the same moment. */
export function checkEnd(
	last: Head | null,
	head: Head | undefined,
	find: Find,
): void {
	const end = last?.sequence ?? 0;
	if (!head && !last) {
		find(
			1,
			"the whole log is gone, although the log of every organization has a first entry",
		);
	} else if (!head) {
		find(
			null,
			"the log's head, which holds the hash of the newest entry, is missing",
		);
	} else if (head.sequence > end) {
		find(
			end + 1,
			`the end is cut off: ${head.sequence} entries were written, but the last one is ${end}`,
		);
	} else if (head.sequence < end) {
		find(
			head.sequence + 1,
			`the head names entry ${head.sequence} as the newest, but the log goes up to ${end}: entries were inserted, or the head was changed`,
		);
	} else if (head.hash !== (last?.hash ?? "")) {
		find(
			null,
			`the head and entry ${end} have different hashes: one of the two was changed`,
		);
	}
}

import type { AuditEvent } from "../../../../src/audit/events.ts";
import type { OutputOf } from "../../api.ts";
import { inWords, nounOf } from "../names-in-words.ts";
import { isLinkedEnd, type LinkedEnd } from "../records/linked-end.ts";
import { accountActions } from "./account-actions.ts";
import { type Action, type Actions, GROUPS } from "./action.ts";
import { deviceActions } from "./device-actions.ts";
import { organizationActions } from "./organization-actions.ts";

export type Entry = OutputOf<"listAuditLog">["audit_entries"][number];

/**
 * The words for every audit event, and for every operation whose name is not "add", "update" or
 * "delete" followed by a register.
 */
const ACTIONS: Record<AuditEvent, Action> & Actions = {
	...deviceActions,
	...organizationActions,
	...accountActions,
};

/** The words for the first set-up, which adds three records with an audit entry for each. */
const SET_UP: Record<string, string> = {
	organization: "created the organization",
	member: "became the first administrator",
	people: "added the person",
};

/** The past tense of the verb with which an operation's name begins. */
const VERBS: Record<string, string> = {
	add: "added",
	create: "created",
	update: "changed",
	delete: "deleted",
	import: "imported",
	revoke: "revoked",
	rotate: "rotated",
};

/** Returns the names of the actions, grouped under the headings of the filter. */
export function groupedActions(): { group: string; names: string[] }[] {
	return Object.entries(GROUPS).map(([key, group]) => ({
		group,
		names: Object.entries(ACTIONS)
			.filter(([, action]) => action.group === key)
			.map(([name]) => name),
	}));
}

/**
 * Returns the entries that are news. Sign-ins and sign-outs are left out, because they change no
 * record. A new link has an entry for each of its records, and only one of them is kept. Links that
 * came or went with a record are left out: the record itself is the news. A call that adds starter
 * records has many entries, and only the last of them is kept, which counts the records.
 */
export function changesIn(entries: readonly Entry[]): Entry[] {
	/** The first record of each link whose other entry has not come yet. */
	const ends = new Map<string, string | null>();
	let lastStarter = Number.POSITIVE_INFINITY;
	return entries.filter((entry) => {
		const { operation, outcome, record_id } = entry;
		if (outcome !== "DONE" || /^(beginSignIn|signIn|signOut)$/.test(operation))
			return false;
		if (operation === "addStarters") {
			const before = lastStarter;
			lastStarter = Date.parse(entry.at);
			return "starter_records" in entry.changes
				? true
				: !(before - lastStarter < SAME_CALL_MS);
		}
		if (!linkIn(entry)) return true;
		if (/^(add|delete)/.test(operation)) return false;
		// Other calls may have written between the two entries, and their times may differ.
		const pair = [record_id, otherEndOf(entry)?.id].sort();
		const link = [operation, entry.actor_name, ...pair].join();
		const isOtherEnd = ends.has(link) && ends.get(link) !== record_id;
		if (isOtherEnd) ends.delete(link);
		else ends.set(link, record_id);
		return !isOtherEnd;
	});
}

/** Entries of starter records that are not further apart, in milliseconds, are of one call. */
const SAME_CALL_MS = 60_000;

const COUNTED = ["framework", "control", "measure", "risk"];

/** Returns the words for starter records, such as "33 controls and 1 risk from a starter set". */
function startersIn({ changes }: Partial<Pick<Entry, "changes">>): string {
	const { starter_records: counts } = (changes ?? {}) as Record<
		string,
		{ after?: Record<string, unknown> }
	>;
	const added = COUNTED.flatMap((noun) => {
		const count = counts?.after?.[`${noun}s`];
		if (typeof count !== "number") return [];
		return `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
	});
	// Entries of earlier versions have no counts.
	const words = new Intl.ListFormat("en-GB").format(added) || "records";
	return `${words} from a starter set`;
}

/** Returns what happened to a link, if the entry is about a link of its record and nothing else. */
export function linkIn({
	changes,
}: Pick<Entry, "changes">): "Add link" | "Remove link" | undefined {
	const names = Object.keys(changes);
	const { linked_record: link } = changes as Record<string, object>;
	if (!link || names.length > 1) return undefined;
	return "after" in link ? "Add link" : "Remove link";
}

/** Returns the record at the other end of the link, if the entry is about a link of its record. */
export function otherEndOf(
	entry: Pick<Entry, "changes">,
): LinkedEnd | undefined {
	if (!linkIn(entry)) return undefined;
	const { linked_record: link } = entry.changes as Record<
		string,
		{ before?: unknown; after?: unknown }
	>;
	const end = link?.after ?? link?.before;
	return isLinkedEnd(end) ? end : undefined;
}

/**
 * Returns what happened to the entry's record, such as "Update risk". An operation may also change
 * other records than the one that it is named after: deleting a risk removes links of its measures.
 */
export function titleOf(entry: Pick<Entry, "changes" | "operation">): string {
	if (isTakenBack(entry)) return "Take back into use";
	if (isChangedByReview(entry)) return "Update vendor";
	return linkIn(entry) ?? actionTitle(entry.operation);
}

/** Returns what people call an action, such as "Revoke API token". */
export function actionTitle(operation: string): string {
	const title = actionOf(operation)?.title ?? inWords(operation);
	return title.replace(
		/^((?:Add|Update|Delete) )(people|datum)$/,
		(_, verb, kind) => verb + nounOf(kind),
	);
}

/** Returns true if the entry says that an archived record is in use again. */
export function isTakenBack({
	operation,
	changes,
}: Pick<Entry, "operation"> & Partial<Pick<Entry, "changes">>): boolean {
	const { archived_at: end } = (changes ?? {}) as Record<
		string,
		{ after?: unknown }
	>;
	return operation === "archiveRecords" && end?.after === null;
}

/**
 * Returns true if the entry says which fields of the vendor a review changed. In a log of Assay
 * 0.1.0, the review itself has another entry.
 */
export function isChangedByReview({
	operation,
	changes,
}: Pick<Entry, "changes" | "operation">): boolean {
	if (operation !== "addVendorReview" || linkIn({ changes })) return false;
	return Object.keys(changes).length > 0 && !("review" in changes);
}

/**
 * Returns the words between the actor and the name of the record, such as "added the risk". This
 * version knows words for each of its operations and events, but an entry of an older version may
 * have none.
 */
export function phraseOf({
	operation,
	record_kind,
	changes,
}: Pick<Entry, "operation" | "record_kind"> &
	Partial<Pick<Entry, "changes">>): string {
	const noun = record_kind ? nounOf(record_kind) : "record";
	if (isTakenBack({ operation, ...(changes && { changes }) })) {
		return `took back into use the ${noun}`;
	}
	if (changes && isChangedByReview({ operation, changes })) {
		return `changed the ${noun}`;
	}
	if (operation === "addStarters") {
		return `added ${startersIn({ ...(changes && { changes }) })}`;
	}
	if (changes && otherEndOf({ changes })) {
		// The name of the record follows, and after "and" the kind and name of the other one.
		return linkIn({ changes }) === "Add link"
			? `linked the ${noun}`
			: `removed the link between the ${noun}`;
	}
	const known =
		operation === "setUp"
			? SET_UP[record_kind ?? ""]
			: actionOf(operation)?.phrase;
	if (known) return known.replace("{kind}", noun);
	// The name of an import is that of its register, such as "risks".
	if (operation === "importRecords" && record_kind === "import") {
		return `imported ${recordsIn(changes)} into the register of`;
	}
	const [verb = ""] = /^[a-z]+/.exec(operation) ?? [];
	const word = VERBS[verb];
	if (word && record_kind) return `${word} the ${noun}`;
	return `did “${operation.replaceAll(/[A-Z]/g, (big) => ` ${big.toLowerCase()}`)}”`;
}

/** Returns how many records an import added and changed, such as "3 records". */
function recordsIn(changes: Entry["changes"] | undefined): string {
	const { added, updated } = (changes ?? {}) as Record<
		string,
		{ after?: unknown }
	>;
	const count = Number(added?.after ?? 0) + Number(updated?.after ?? 0);
	return count === 1 ? "1 record" : `${count.toLocaleString()} records`;
}

/**
 * Returns the phrase of an operation that has one of its own, for a place that names the record
 * already, such as "reviewed" or "commented".
 */
export function ownPhraseOf(operation: string): string | undefined {
	return actionOf(operation)
		?.phrase?.replace(" the {kind}", "")
		.replace(/ (of|on|to)$/, "");
}

/** Returns true if the record's name adds information to the actor's name. */
export function namesItsRecord({
	operation,
	record_kind,
}: Pick<Entry, "operation" | "record_kind">): boolean {
	if (operation === "setUp") return record_kind !== "member";
	if (operation === "addStarters") return false;
	return !actionOf(operation)?.isAboutActor;
}

function actionOf(operation: string): Action | undefined {
	return Object.hasOwn(ACTIONS, operation)
		? ACTIONS[operation as keyof typeof ACTIONS]
		: undefined;
}

import type { Entry } from "./audit-actions.ts";

type Given = Pick<
	Entry,
	"actor_kind" | "actor_name" | "operation" | "changes"
> &
	Partial<Pick<Entry, "record_id">>;

/** Somebody without an account who acted by a link. */
export interface LinkUser {
	/** The person whom the link was for. It is undefined if an erasure removed it. */
	personId: string | undefined;
	/** Somebody else copied the link, so it does not prove who used it. */
	isCopied: boolean;
}

const BY_LINK = /, by a link$/;

/**
 * Returns who acted by a link, or undefined for every other entry. The stored name of such an actor
 * names nobody. The record or the changes have the person's id, so the name is looked up.
 */
export function linkUserOf({
	actor_kind,
	actor_name,
	operation,
	changes,
	record_id,
}: Given): LinkUser | undefined {
	if (actor_kind !== "SYSTEM" || !BY_LINK.test(actor_name)) return undefined;
	const ends = changes as Record<string, { after?: unknown } | null>;
	const after = Object.values(ends).map((end) => end?.after);
	const parts = after.filter((one) => typeof one === "object" && one !== null);
	const personId = [
		operation === "openMyDevices" ? record_id : undefined,
		ends.requested_by_person_id?.after,
		...parts.map((part) => (part as Record<string, unknown>).person_id),
	].find((id) => typeof id === "string");
	const ways = parts.map((part) => (part as Record<string, unknown>).way);
	return {
		personId,
		isCopied: ways.includes("COPIED_LINK") || ends.link?.after === "COPIED",
	};
}

/** Returns the ids of the people who acted by a link. */
export function linkUserIds(entries: readonly Given[]): string[] {
	return entries
		.map((entry) => linkUserOf(entry)?.personId)
		.filter((id) => id !== undefined);
}

/** Returns the name of the actor as people see it. `names` has the people who acted by a link. */
export function actorNameOf(
	entry: Given,
	names: ReadonlyMap<string, string | null>,
): string {
	const { personId } = linkUserOf(entry) ?? {};
	const stored = entry.actor_name;
	const name = personId && names.get(personId);
	return name || stored;
}

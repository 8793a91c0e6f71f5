/** A comment that nobody has sent yet. */
export type CommentDraft = {
	text: string;
	mentioned_user_ids: string[];
};

const NO_DRAFT: CommentDraft = { text: "", mentioned_user_ids: [] };

const keyOf = (userId: string, recordId: string) =>
	`assay-comment-${userId}-${recordId}`;

/** Returns what this user has begun to write about a record in this tab of the browser. */
export function readDraft(userId: string, recordId: string): CommentDraft {
	try {
		const kept = sessionStorage.getItem(keyOf(userId, recordId));
		return kept ? { ...NO_DRAFT, ...JSON.parse(kept) } : NO_DRAFT;
	} catch {
		return NO_DRAFT;
	}
}

/** Keeps what a user has begun to write until it is sent or the tab is closed. */
export function keepDraft(
	userId: string,
	recordId: string,
	draft: CommentDraft,
): void {
	const key = keyOf(userId, recordId);
	try {
		if (draft.text.trim()) sessionStorage.setItem(key, JSON.stringify(draft));
		else sessionStorage.removeItem(key);
	} catch {
		// The browser blocks the storage, so the text lasts only as long as the page shows it.
	}
}

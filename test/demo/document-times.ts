// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there.
type Use = (tool: string, input?: object) => Promise<any>;

type Times = Record<
	"created_at" | "published_at" | "decided_at" | "requested_at" | "signed_at",
	string[]
>;

const none = (): Times => ({
	created_at: [],
	published_at: [],
	decided_at: [],
	requested_at: [],
	signed_at: [],
});

/** Sorts the times and writes them alike, because those of approvals have microseconds. */
const sorted = (times: Times): Times =>
	Object.fromEntries(
		Object.entries(times).map(([name, list]) => [
			name,
			list.map((time) => new Date(time).toISOString()).sort(),
		]),
	) as Times;

/**
 * Reads when a document's versions were made, published, approved and signed: as the versions and
 * signatures have it, and as the document's history has it. Both lists are sorted. `reviews` are the days that the history
 * gives for the next review, in the order of time.
 */
export async function readTimes(
	use: Use,
	document_id: string,
): Promise<{ stored: Times; history: Times; reviews: string[] }> {
	const [stored, history] = [none(), none()];
	const reviews: string[] = [];
	const { document_versions } = await use("listDocumentVersions", {
		document_id,
	});
	for (const { id } of document_versions) {
		const { document_version: one } = await use("getDocumentVersion", { id });
		const { document_version_signatures: signatures } = await use(
			"listDocumentVersionSignatures",
			{ document_version_id: id },
		);
		stored.created_at.push(one.created_at);
		if (one.published_at) stored.published_at.push(one.published_at);
		for (const { decided_at } of one.approvals) {
			stored.decided_at.push(decided_at);
		}
		for (const { requested_at, signed_at } of signatures) {
			stored.requested_at.push(requested_at);
			if (signed_at) stored.signed_at.push(signed_at);
		}
	}
	const { changes } = await use("getRecordHistory", {
		id: document_id,
		size: 100,
	});
	for (const { at, changes: fields } of changes) {
		for (const [name, { after }] of Object.entries<{ after?: unknown }>(
			fields,
		)) {
			const [, what] = /^version_\d+_(.+)$/.exec(name) ?? [];
			if (what === "status" && after === "DRAFT") history.created_at.push(at);
			if (what === "status" && after === "PUBLISHED") {
				history.published_at.push(at);
			}
			if (name === "next_review_on") reviews.push(String(after));
			if (what === "approval") history.decided_at.push(at);
			if (what === "signature") history.signed_at.push(at);
			if (what === "signatures_requested") {
				const { person_ids } = after as { person_ids: string[] };
				history.requested_at.push(...person_ids.map(() => at));
			}
		}
	}
	return {
		stored: sorted(stored),
		history: sorted(history),
		reviews: reviews.reverse(),
	};
}

import type { ClientBase } from "pg";
import { day, dayAYearAfter } from "./day.ts";
import {
	type DemoDocument,
	DOCUMENTS,
	EVIDENCE,
	IN_BRACKETS,
} from "./organization/documents.ts";
import type { Actor, RecordsByKey } from "./records-by-key.ts";
import type { Moment } from "./timeline.ts";

interface Version {
	id: string;
	content: string;
	content_hash: string;
}

/** Every document is reviewed once a year, once its last version is published. */
const INTERVAL = { review_interval_months: 12 };

/** The documents with their versions, approvals and signatures, and the evidence. */
export class DemoDocuments {
	readonly #records: RecordsByKey;

	constructor(records: RecordsByKey) {
		this.#records = records;
	}

	moments(): Moment[] {
		return [
			...DOCUMENTS.flatMap((document) => this.#document(document)),
			...this.#evidence(),
		];
	}

	/**
	 * Gives versions, approvals and signatures the times of their audit entries, so that a document
	 * and its history agree. `owner` writes without triggers, because one of them keeps published
	 * versions from changing.
	 */
	async date(owner: ClientBase): Promise<void> {
		await owner.query("set session_replication_role = replica");
		for (const statement of [
			`update document_versions v set
				created_at = ${timeOf("e.changes -> (n.prefix || 'status') ->> 'after' = 'DRAFT'")},
				updated_at = ${timeOf("e.changes ?| array[n.prefix || 'status', n.prefix || 'characters']")},
				published_at = ${timeOf("e.changes -> (n.prefix || 'status') ->> 'after' = 'PUBLISHED'")}`,
			`update document_approvals t set decided_at = ${timeOf("e.changes -> (n.prefix || 'approval') -> 'after' ->> 'person_id' = t.person_id")}
			from document_versions v where v.id = t.version_id`,
			`update document_signatures t set
				requested_at = ${timeOf("e.changes -> (n.prefix || 'signatures_requested') -> 'after' -> 'person_ids' ? t.person_id::text")},
				signed_at = ${timeOf("e.changes -> (n.prefix || 'signature') -> 'after' ->> 'person_id' = t.person_id")}
			from document_versions v where v.id = t.version_id`,
		]) {
			await owner.query(statement);
		}
		await owner.query("set session_replication_role = origin");
	}

	#document(one: DemoDocument): Moment[] {
		const { add, use, id, link } = this.#records;
		const [first] = one.published[0] ?? [6];
		const last = one.published.length - 1;
		return [
			{
				daysAgo: first + 3,
				run: async () => {
					await add("addDocument", one.key, {
						title: one.title,
						document_type: one.document_type,
						classification: one.classification,
						description: one.description,
						owner_id: id("people", one.owner),
						approver_ids: one.approver ? [id("people", one.approver)] : [],
						...(one.published.length === 0 ? INTERVAL : {}),
					});
				},
			},
			{
				// The measures and controls are all there by then.
				daysAgo: Math.min(first, 60),
				run: async () => {
					for (const measure of one.measures) {
						await link(id("document", one.key), id("measure", measure));
					}
					for (const number of one.controls) {
						await link(id("document", one.key), id("control", number));
					}
				},
			},
			...one.published.flatMap(([daysAgo, changelog], index) =>
				this.#version(one, daysAgo, changelog, index === last),
			),
			...(one.open
				? [
						{
							daysAgo: 2,
							run: async () => {
								const version = await this.#draft(one, null);
								if (one.open === "PENDING_APPROVAL") {
									await use("requestDocumentVersionApproval", {
										id: version.id,
									});
								}
							},
						},
					]
				: []),
		];
	}

	/**
	 * A version that is written two days before it is published. The last one is then signed.
	 *
	 * The next review is planned by hand, because a publication counts the interval from today, and the
	 * demonstration publishes in the past. So the interval is only set with the last version.
	 */
	#version(
		one: DemoDocument,
		daysAgo: number,
		changelog: string | null,
		isLast: boolean,
	): Moment[] {
		const { use, id } = this.#records;
		const { asked, signed = [] } = one;
		let version: Version;
		const moments: Moment[] = [
			{
				daysAgo: daysAgo + 2,
				run: async () => {
					version = await this.#draft(one, changelog);
				},
			},
			{
				daysAgo,
				run: async (at) => {
					await this.#publish(one, version);
					await use("updateDocument", {
						id: id("document", one.key),
						next_review_on: dayAYearAfter(at),
						...(isLast ? INTERVAL : {}),
					});
				},
			},
		];
		if (!isLast || !asked) return moments;
		return [
			...moments,
			{
				daysAgo,
				run: () =>
					use("requestDocumentVersionSignature", {
						document_version_id: version.id,
						person_ids: asked.map((key) => id("people", key)),
					}),
			},
			...signed.map(
				(actor: Actor, index): Moment => ({
					daysAgo: daysAgo - 1 - index,
					run: async () => {
						const { document_version } = await use("getDocumentVersion", {
							id: version.id,
						});
						const { content_hash } = document_version as Version;
						await use(
							"signDocumentVersion",
							{ id: version.id, content_hash },
							actor,
						);
					},
				}),
			),
		];
	}

	async #draft(one: DemoDocument, changelog: string | null): Promise<Version> {
		const { use, id } = this.#records;
		const made = await use("createDraftDocumentVersion", {
			document_id: id("document", one.key),
			template: one.template,
			changelog,
		});
		const { id: version, content } = made.document_version as Version;
		const filled = await use("updateDocumentVersion", {
			id: version,
			content: fill(content),
		});
		return filled.document_version as Version;
	}

	async #publish({ approver }: DemoDocument, { id }: Version): Promise<void> {
		const { use } = this.#records;
		await use("requestDocumentVersionApproval", { id });
		if (approver) await use("approveDocumentVersion", { id }, "admin");
	}

	#evidence(): Moment[] {
		const { add, id, link } = this.#records;
		return EVIDENCE.map(
			({ daysAgo, validUntil, owner, measures, ...given }): Moment => ({
				daysAgo,
				run: async () => {
					const made = await add("addEvidence", given.name, {
						...given,
						owner_id: id("people", owner),
						valid_until: validUntil === null ? null : day(validUntil),
					});
					for (const measure of measures) {
						await link(made, id("measure", measure));
					}
				},
			}),
		);
	}
}

/**
 * Returns SQL for the time of the last audit entry `e` about the version `v` that meets the
 * condition. `n.prefix` begins the names of what the entry says about the version.
 */
const timeOf = (condition: string): string =>
	`(select max(e.at) from (select 'version_' || v.version_number || '_' as prefix) n
		join audit_entries e on e.organization_id = v.organization_id and e.record_id = v.document_id
		where ${condition})`;

function fill(content: string): string {
	return content.replaceAll(
		/\[([^[\]\n]+)\](?!\()/g,
		(_, words: string) => IN_BRACKETS[words] ?? words,
	);
}

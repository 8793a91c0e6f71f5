import type { ClientBase } from "pg";
import { day } from "./day.ts";
import type { Actor, Known } from "./known.ts";
import {
	type DemoDocument,
	DOCUMENTS,
	EVIDENCE,
	IN_BRACKETS,
} from "./organization/papers.ts";
import type { Moment } from "./timeline.ts";

interface Version {
	id: string;
	content: string;
	content_hash: string;
}

/** The documents with their versions, approvals and signatures, and the evidence. */
export class DemoPapers {
	/** The moment of everything that happened with a version. */
	readonly #dates: { id: string; at: Date }[] = [];
	readonly #known: Known;

	constructor(known: Known) {
		this.#known = known;
	}

	moments(): Moment[] {
		return [
			...DOCUMENTS.flatMap((document) => this.#document(document)),
			...this.#evidence(),
		];
	}

	/**
	 * Sets the times of versions, approvals and signatures. `owner` writes without triggers, because
	 * one of them keeps published versions from changing.
	 */
	async date(owner: ClientBase): Promise<void> {
		const values = [
			this.#dates.map(({ id }) => id),
			this.#dates.map(({ at }) => at),
		];
		const dates =
			"(select * from unnest($1::text[], $2::timestamptz[]) u (id, at)) d";
		await owner.query("set session_replication_role = replica");
		for (const statement of [
			`update document_versions v set created_at = d.at - interval '2 days', updated_at = d.at,
				published_at = case when v.published_at is null then null else d.at end
			from ${dates} where v.id = d.id`,
			`update document_approvals a set decided_at = d.at from ${dates} where a.version_id = d.id`,
			`update document_signatures s set requested_at = d.at + interval '1 hour',
				signed_at = case when s.signed_at is null then null else d.at + interval '27 hours' end
			from ${dates} where s.version_id = d.id`,
		]) {
			await owner.query(statement, values);
		}
		await owner.query(
			`update documents t set next_review_on = (v.published_at + interval '12 months')::date
			from (
				select document_id, max(published_at) as published_at from document_versions group by document_id
			) v
			where v.document_id = t.id and v.published_at is not null`,
		);
		await owner.query("set session_replication_role = origin");
	}

	#document(one: DemoDocument): Moment[] {
		const { add, use, id, link } = this.#known;
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
						review_interval_months: 12,
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
			...one.published.map(
				([daysAgo, changelog], index): Moment => ({
					daysAgo,
					run: async (at) => {
						const version = await this.#draft(one, at, changelog);
						await this.#publish(one, version);
						if (index === last) await this.#sign(one, version.id);
					},
				}),
			),
			...(one.open
				? [
						{
							daysAgo: 2,
							run: async (at: Date) => {
								const version = await this.#draft(one, at, null);
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

	async #draft(
		one: DemoDocument,
		at: Date,
		changelog: string | null,
	): Promise<Version> {
		const { use, id } = this.#known;
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
		this.#dates.push({ id: version, at });
		return filled.document_version as Version;
	}

	async #publish({ approver }: DemoDocument, { id }: Version): Promise<void> {
		const { use } = this.#known;
		await use("requestDocumentVersionApproval", { id });
		if (approver) await use("approveDocumentVersion", { id }, "admin");
	}

	async #sign(
		{ asked, signed = [] }: DemoDocument,
		version: string,
	): Promise<void> {
		if (!asked) return;
		const { use, id } = this.#known;
		await use("requestDocumentVersionSignature", {
			document_version_id: version,
			person_ids: asked.map((key) => id("people", key)),
		});
		const { document_version } = await use("getDocumentVersion", {
			id: version,
		});
		const { content_hash } = document_version as Version;
		for (const actor of signed satisfies readonly Actor[]) {
			await use("signDocumentVersion", { id: version, content_hash }, actor);
		}
	}

	#evidence(): Moment[] {
		const { add, id, link } = this.#known;
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

function fill(content: string): string {
	return content.replaceAll(
		/\[([^[\]\n]+)\](?!\()/g,
		(_, words: string) => IN_BRACKETS[words] ?? words,
	);
}

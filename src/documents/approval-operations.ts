import { createHash } from "node:crypto";
import { z } from "zod";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { type Change, type Context, defineOperation } from "../operation.ts";
import { findPeopleOf } from "../organizations/person-of-member.ts";
import { readToday } from "../organizations/time-zone.ts";
import { noteStored, updateRecord } from "../records/store.ts";
import { filledTextSchema, textSchema } from "../records/text-schemas.ts";
import { prepareUpdate, type Values } from "../records/values.ts";
import { document } from "../registers/document.ts";
import {
	type Approver,
	obstaclesOf,
	readApprovers,
	WROTE,
} from "./approvers.ts";
import { queueDocumentMails } from "./document-mail.ts";
import { askAgain } from "./signature-requests.ts";
import {
	lockVersion,
	noteVersion,
	readVersion,
	requireStatus,
	touchDocument,
	type Version,
	version,
	versionId,
} from "./versions.ts";

export const requestDocumentVersionApproval = defineOperation({
	name: "requestDocumentVersionApproval",
	title: "Ask for approval of a draft",
	description:
		"Ask the approvers of the document to approve the draft, which nobody can change meanwhile. Without approvers, the draft is published at once.",
	toolset: "documents",
	access: "write",
	tenant: "id",
	input: z.strictObject({ id: versionId() }),
	output: z.object({ document_version: version }),
	run: inOneEntry(async (context, { id }) => {
		const { found, owner } = await lockVersion(context, id);
		requireStatus(found, "DRAFT");
		requireContent(found);
		const approvers = await readApprovers(context, found);
		if (approvers.length === 0) {
			return { document_version: await publish(context, found, owner) };
		}
		requireAble(approvers);
		await setStatus(context, found, "PENDING_APPROVAL");
		await queueDocumentMails(
			context,
			found,
			approvers.map((one) => one.id),
			"APPROVAL",
		);
		return { document_version: await readVersion(context, id) };
	}),
});

export const approveDocumentVersion = defineOperation({
	name: "approveDocumentVersion",
	title: "Approve a version",
	description:
		"Approve a version of which you are an approver and not the author. The last approval publishes it.",
	toolset: "documents",
	access: "write",
	tenant: "id",
	input: z.strictObject({
		id: versionId(),
		note: textSchema().optional().describe("What you looked at"),
	}),
	output: z.object({ document_version: version }),
	run: inOneEntry(async (context, { id, note }) => {
		const { found, owner } = await lockVersion(context, id);
		requireStatus(found, "PENDING_APPROVAL");
		const approvers = await readApprovers(context, found);
		const mine = await requireApprover(context, approvers);
		const [{ wrote }] = mine;
		if (wrote) {
			throw new AppError(
				"forbidden",
				`permission denied: you ${WROTE[wrote]} this version, so somebody else must approve it; if there is nobody else, an administrator can change the approvers of the document`,
			);
		}
		const undecided = mine.filter((one) => !one.has_approved);
		await decide(context, found, undecided, "APPROVED", note);
		for (const one of undecided) one.has_approved = true;
		if (approvers.every((one) => one.has_approved)) {
			return { document_version: await publish(context, found, owner) };
		}
		return { document_version: await readVersion(context, id) };
	}),
});

export const rejectDocumentVersion = defineOperation({
	name: "rejectDocumentVersion",
	title: "Reject a version",
	description:
		"Reject a version of which you are an approver. It becomes a draft again, and the approvals so far no longer count.",
	toolset: "documents",
	access: "write",
	tenant: "id",
	input: z.strictObject({
		id: versionId(),
		note: filledTextSchema().describe("What has to change"),
	}),
	output: z.object({ document_version: version }),
	run: inOneEntry(async (context, { id, note }) => {
		const { found } = await lockVersion(context, id);
		requireStatus(found, "PENDING_APPROVAL");
		const [me] = await requireApprover(
			context,
			await readApprovers(context, found),
		);
		await endApprovals(context, found);
		await decide(context, found, [me], "REJECTED", note);
		await endApprovals(context, found);
		await setStatus(context, found, "DRAFT");
		return { document_version: await readVersion(context, id) };
	}),
});

export const withdrawDocumentVersion = defineOperation({
	name: "withdrawDocumentVersion",
	title: "Take back a version",
	description:
		"Make a version that waits for approval a draft again, as its author, as somebody who changed its text, or as an administrator. The approvals so far no longer count.",
	toolset: "documents",
	surface: "console",
	access: "write",
	tenant: "id",
	input: z.strictObject({
		id: versionId(),
		note: textSchema().optional().describe("Why it is taken back"),
	}),
	output: z.object({ document_version: version }),
	run: inOneEntry(async (context, { id, note }) => {
		const { found } = await lockVersion(context, id);
		requireStatus(found, "PENDING_APPROVAL");
		if (!found.may_take_back) {
			throw new AppError(
				"forbidden",
				"permission denied: only the author of a version, those who changed its text, and administrators take it back; an approver rejects it",
			);
		}
		await endApprovals(context, found);
		await setStatus(context, found, "DRAFT");
		noteVersion(context, found, {
			approval: { after: { decision: "TAKEN_BACK", note: note ?? null } },
		});
		return { document_version: await readVersion(context, id) };
	}),
});

export const publishDocumentVersion = defineOperation({
	name: "publishDocumentVersion",
	title: "Publish a version",
	description:
		"Publish a draft of a document without approvers, or a version that all approvers have approved. A published version never changes.",
	toolset: "documents",
	access: "write",
	tenant: "id",
	input: z.strictObject({ id: versionId() }),
	output: z.object({ document_version: version }),
	run: inOneEntry(async (context, { id }) => {
		const { found, owner } = await lockVersion(context, id);
		requireStatus(found, "DRAFT", "PENDING_APPROVAL");
		requireContent(found);
		const approvers = await readApprovers(context, found);
		const missing = approvers.filter((one) => !one.has_approved);
		if (missing.length > 0) {
			throw new AppError(
				"conflict",
				found.status === "DRAFT"
					? "the document has approvers; ask them with requestDocumentVersionApproval"
					: `the version still waits for the approval of ${missing.map(({ name }) => name).join(", ")}`,
			);
		}
		return { document_version: await publish(context, found, owner) };
	}),
});

/**
 * Merges the changes of a call into one entry of the audit log. A call may decide, publish and set
 * the next review in separate steps, and all of them change the same document.
 */
function inOneEntry<Input, Output>(
	run: (context: Context, input: Input) => Promise<Output>,
): (context: Context, input: Input) => Promise<Output> {
	return async (context, input) => {
		const changes: Change[] = [];
		const output = await run(
			{ ...context, changed: (change) => changes.push(change) },
			input,
		);
		const [first] = changes;
		if (first) {
			context.changed({
				...first,
				fields: Object.assign({}, ...changes.map(({ fields }) => fields)),
			});
		}
		return output;
	};
}

/** Publishes a version, and sets the next review of its document. */
async function publish(
	context: Context,
	found: Version,
	owner: Values,
): Promise<Version> {
	const { client, membership, principal } = context;
	await client.query(
		`update document_versions
		set status = 'PUBLISHED', title = $3, published_at = now(), published_by_name = $4, content_hash = $5,
			updated_at = now()
		where organization_id = $1 and id = $2`,
		[
			membership.organizationId,
			found.id,
			owner.title,
			principal.name,
			createHash("sha256").update(found.content).digest(),
		],
	);
	await touchDocument(context, found.document_id);
	const after = await readVersion(context, found.id);
	noteVersion(context, after, {
		status: { before: found.status, after: "PUBLISHED" },
		content_hash: { after: after.content_hash },
	});
	const { review_interval_months: months } = owner;
	if (typeof months === "number") {
		const today = await readToday(client);
		const { rows } = await client.query<{ day: string }>(
			"select ($1::date + make_interval(months => $2))::date::text as day",
			[today, months],
		);
		const different = prepareUpdate(document, owner, {
			next_review_on: rows[0]?.day,
		});
		if (Object.keys(different).length > 0) {
			const id = String(owner.id);
			await updateRecord(context, document, id, different);
			await noteStored(context, document, [{ id, before: owner }]);
		}
	}
	if (after.asks_again) await askAgain(context, after);
	return readVersion(context, found.id);
}

/** Makes the approvals so far count no longer, because the text may change. */
async function endApprovals(
	{ client, membership }: Context,
	{ id }: Version,
): Promise<void> {
	await client.query(
		"update document_approvals set is_current = false where organization_id = $1 and version_id = $2",
		[membership.organizationId, id],
	);
}

async function setStatus(
	context: Context,
	found: Version,
	status: Version["status"],
): Promise<void> {
	await context.client.query(
		"update document_versions set status = $3, updated_at = now() where organization_id = $1 and id = $2",
		[context.membership.organizationId, found.id, status],
	);
	await touchDocument(context, found.document_id);
	noteVersion(context, found, {
		status: { before: found.status, after: status },
	});
}

/** Stores the decision of the caller for each of these approvers. */
async function decide(
	context: Context,
	found: Version,
	as: readonly Approver[],
	decision: "APPROVED" | "REJECTED",
	note: string | undefined,
): Promise<void> {
	const [first] = as;
	if (!first) return;
	const { client, membership, principal } = context;
	const { organizationId } = membership;
	await client.query(
		`insert into document_approvals (
			organization_id, id, version_id, person_id, person_name, decision, note, user_id, user_name
		)
		select $1::text, d.id, $2::text, d.person_id, d.name, $3::text, $4::text, $5::text, $6::text
		from jsonb_to_recordset($7) d (id text, person_id text, name text)`,
		[
			organizationId,
			found.id,
			decision,
			note ?? null,
			principal.userId,
			principal.name,
			JSON.stringify(
				as.map(({ id, name }) => ({
					id: makeId(organizationId, "document_approval"),
					person_id: id,
					name,
				})),
			),
		],
	);
	noteVersion(context, found, {
		approval: { after: { decision, person_id: first.id, note: note ?? null } },
	});
}

/** Throws bad_request if somebody among the approvers could never approve. */
function requireAble(approvers: readonly Approver[]): void {
	const obstacles = obstaclesOf(approvers);
	if (obstacles.length === 0) return;
	throw badFields([
		{
			field: "id",
			message: `the version cannot be approved: ${obstacles.join("; ")}; an administrator can change the approvers of the document`,
		},
	]);
}

/**
 * Returns the approvers that stand for the caller. Two people of the register with the caller's
 * address both do. Throws forbidden if the caller is not an approver.
 */
async function requireApprover(
	{ client, membership, principal }: Context,
	approvers: readonly Approver[],
): Promise<[Approver, ...Approver[]]> {
	const people = await findPeopleOf(
		client,
		membership.organizationId,
		principal.userId,
	);
	const [first, ...others] = approvers.filter(({ id }) => people.includes(id));
	if (first) return [first, ...others];
	throw new AppError(
		"forbidden",
		"permission denied: only an approver of the document decides about its versions",
	);
}

function requireContent({ content }: Version): void {
	if (content.trim() !== "") return;
	throw badFields([
		{ field: "id", message: "the version has no content yet; write it first" },
	]);
}

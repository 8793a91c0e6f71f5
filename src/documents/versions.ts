import type { PoolClient } from "pg";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import type { Context } from "../operation.ts";
import { joinPersonOf } from "../organizations/person-of-member.ts";
import { roleReaches } from "../principal.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { existing } from "../records/store.ts";
import { idSchema, textSchema } from "../records/text-schemas.ts";
import type { Values } from "../records/values.ts";
import { document } from "../registers/document.ts";
import { obstaclesOf, readApprovers } from "./approvers.ts";
import { isWanted } from "./wanted-signatures.ts";

/** Most characters of a version's content. A long policy has 60,000. */
const MAX_CONTENT = 200_000;
const MAX_WAITING = 20;

export const VERSION_STATUSES = [
	"DRAFT",
	"PENDING_APPROVAL",
	"PUBLISHED",
] as const;

export const contentSchema = () => textSchema(MAX_CONTENT);

/** A version without its content, as lists have it. */
export const versionRow = z.object({
	id: z.string(),
	document_id: z.string(),
	version_number: z.int(),
	status: z.enum(VERSION_STATUSES),
	title: z.string().describe("Title of the document at that time"),
	changelog: z.string().nullable(),
	asks_again: z
		.boolean()
		.describe("Its publication asks those to sign who signed the one before"),
	author_name: z.string(),
	created_at: z.string(),
	updated_at: z.string(),
	published_at: z.string().nullable(),
	published_by_name: z.string().nullable(),
	content_hash: z
		.string()
		.nullable()
		.describe("SHA-256 of the content, once published"),
	approvals: z.array(
		z.object({
			person_id: z.string().nullable(),
			person_name: z.string(),
			user_id: z.string().nullable().describe("Account that decided"),
			user_name: z.string().nullable(),
			decision: z.enum(["APPROVED", "REJECTED"]),
			is_current: z
				.boolean()
				.describe("false: of an earlier state of the draft"),
			note: z.string().nullable(),
			decided_at: z.string(),
		}),
	),
	signatures_requested: z.int().describe("Those that are missing"),
	signatures_ended: z
		.int()
		.describe("Those that were asked for and are no longer needed"),
	signatures_given: z.int(),
});

export const version = versionRow.extend({
	content: z.string().describe("Markdown"),
	waits_for_you: z
		.enum(["APPROVAL", "SIGNATURE"])
		.nullable()
		.describe("What the caller is asked to do with it"),
	may_reject: z
		.boolean()
		.describe("It waits for approval, and the caller is an approver"),
	may_take_back: z
		.boolean()
		.describe(
			"It waits for approval, and the caller is its author, an editor or an administrator",
		),
	approval_obstacles: z
		.array(z.string())
		.describe("Why the approvers cannot approve the draft"),
});
export type VersionRow = z.output<typeof versionRow>;
export type Version = z.output<typeof version>;

const countSignatures = (condition: string) => `
	select count(*)::int from document_signatures s
	where s.organization_id = t.organization_id and s.version_id = t.id and ${condition}`;

/** Columns of a version `t`. */
export const VERSION_COLUMNS = `t.id, t.document_id, t.version_number, t.status, t.title, t.changelog,
	t.asks_again, t.author_name, t.created_at, t.updated_at, t.published_at, t.published_by_name,
	encode(t.content_hash, 'hex') as content_hash, (
		select coalesce(jsonb_agg(jsonb_build_object(
			'person_id', a.person_id, 'person_name', a.person_name, 'user_id', a.user_id,
			'user_name', a.user_name, 'decision', a.decision, 'is_current', a.is_current, 'note', a.note,
			'decided_at', a.decided_at
		) order by a.decided_at, a.id), '[]')
		from (
			select a.* from document_approvals a
			where a.organization_id = t.organization_id and a.version_id = t.id
			order by a.decided_at desc, a.id limit 200
		) a
	) as approvals, (${countSignatures(`s.state = 'REQUESTED' and ${isWanted("s", "t")}`)}) as signatures_requested,
	(${countSignatures(`s.state = 'REQUESTED' and not (${isWanted("s", "t")})`)}) as signatures_ended,
	(${countSignatures("s.state = 'SIGNED'")}) as signatures_given`;

export const versionId = () =>
	idSchema("document_version").meta(obvious("Id of the version"));

/**
 * SQL for what the version `v` waits for from the people in the array `ids`, or null. Several
 * people of the register can stand for one user if they have the same address.
 */
export const waitsFor = (ids: string) => `case
	when v.status = 'PENDING_APPROVAL' and exists (
		select from document_approvers a
		where a.organization_id = v.organization_id and a.document_id = v.document_id
			and a.person_id = any(${ids}) and not exists (
				select from document_approvals d
				where d.organization_id = v.organization_id and d.version_id = v.id
					and d.person_id = a.person_id and d.is_current
			)
	) then 'APPROVAL'
	when v.status = 'PUBLISHED' and exists (
		select from document_signatures s
		where s.organization_id = v.organization_id and s.version_id = v.id
			and s.person_id = any(${ids}) and s.state = 'REQUESTED' and ${isWanted("s", "v")}
	) then 'SIGNATURE'
end`;

export const waiting = z
	.array(
		z.object({
			document_id: z.string(),
			version_id: z.string(),
			title: z.string(),
			version_number: z.int(),
			waits_for: z.enum(["APPROVAL", "SIGNATURE"]),
		}),
	)
	.describe("Versions of documents that wait for the caller");

/** Returns the versions that wait for an approval or a signature of one of the people. */
export async function readWaiting(
	client: PoolClient,
	organizationId: string,
	personIds: readonly string[],
): Promise<z.output<typeof waiting>> {
	const { rows } = await client.query<z.output<typeof waiting>[number]>({
		name: "documents.waiting",
		text: `
			select * from (
				select v.document_id, v.id as version_id, v.title, v.version_number, ${waitsFor("$2::text[]")} as waits_for
				from document_versions v
				where v.organization_id = $1 and v.id in (
					select s.version_id from document_signatures s
					where s.organization_id = $1 and s.person_id = any($2) and s.state = 'REQUESTED'
					union all
					select o.id from document_approvers a
					join document_versions o on o.organization_id = a.organization_id
						and o.document_id = a.document_id and o.status <> 'PUBLISHED'
					join documents d on d.organization_id = a.organization_id and d.id = a.document_id
						and d.archived_at is null
					where a.organization_id = $1 and a.person_id = any($2)
				)
			) w
			where w.waits_for is not null
			order by w.title, w.version_id
			limit ${MAX_WAITING}`,
		values: [organizationId, personIds],
	});
	return rows;
}

/** Returns a version. Throws not_found if there is no such version. */
export async function readVersion(
	context: Context,
	id: string,
): Promise<Version> {
	const { client, membership, principal } = context;
	const { organizationId } = membership;
	const { rows } = await client.query<Omit<Version, "approval_obstacles">>({
		name: "get.document_version",
		text: `select ${VERSION_COLUMNS}, t.content, ${waitsFor("mine.ids")} as waits_for_you,
				t.status = 'PENDING_APPROVAL' and exists (
					select from document_approvers a
					where a.organization_id = $1 and a.document_id = t.document_id and a.person_id = any(mine.ids)
				) as may_reject,
				t.status = 'PENDING_APPROVAL' and (
					$4 or coalesce($3::typed_id = any(array_append(t.editor_ids, t.author_id)), false)
				) as may_take_back
			from document_versions t
			join document_versions v on v.organization_id = t.organization_id and v.id = t.id
			cross join (
				select coalesce(array_agg(p.id::text), '{}') as ids from users u
				${joinPersonOf("p", "u", "$1")}
				where u.id = $3
			) mine
			where t.organization_id = $1 and t.id = $2`,
		values: [
			organizationId,
			id,
			principal.userId,
			roleReaches(membership.role, "admin"),
		],
	});
	const [found] = rows;
	if (!found) throw notFound(id);
	const approval_obstacles =
		found.status === "DRAFT"
			? obstaclesOf(await readApprovers(context, found))
			: [];
	return { ...found, approval_obstacles };
}

/**
 * Locks the document of a version, so that two calls cannot change its versions at once, and returns
 * both as they are then.
 */
export async function lockVersion(
	context: Context,
	id: string,
): Promise<{ found: Version; owner: Values }> {
	const { document_id } = await readVersion(context, id);
	const owner = await existing(context, document, document_id, "for update");
	return { found: await readVersion(context, id), owner };
}

/** Throws a conflict unless the version has one of these statuses. */
export function requireStatus(
	{ status, version_number }: Version,
	...wanted: Version["status"][]
): void {
	if (wanted.includes(status)) return;
	throw new AppError(
		"conflict",
		`version ${version_number} is ${status}, and this needs ${wanted.join(" or ")}`,
	);
}

/** Updates the time of the document's last change, because the texts of versions belong to it. */
export async function touchDocument(
	{ client, membership }: Context,
	documentId: string,
): Promise<void> {
	await client.query(
		"update documents set updated_at = now() where organization_id = $1 and id = $2",
		[membership.organizationId, documentId],
	);
}

/** Notes a change of a version in the audit log, as part of its document. */
export function noteVersion(
	{ changed }: Context,
	{ document_id, title, version_number }: VersionRow,
	fields: Record<string, { before?: unknown; after?: unknown }>,
): void {
	changed({
		kind: "document",
		id: document_id,
		name: title,
		fields: Object.fromEntries(
			Object.entries(fields).map(([name, change]) => [
				`version_${version_number}_${name}`,
				change,
			]),
		),
	});
}

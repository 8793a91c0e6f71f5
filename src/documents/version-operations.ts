import { z } from "zod";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { type Context, defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "../records/as-of.ts";
import type { Filter } from "../records/filter.ts";
import { idempotencyShape } from "../records/idempotency.ts";
import {
	byInteger,
	pageCursor,
	pageShape,
	pageSize,
	readPage,
} from "../records/list-pages.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { existing } from "../records/store.ts";
import { idSchema, textSchema } from "../records/text-schemas.ts";
import { requireUnchanged, unchangedShape } from "../records/unchanged.ts";
import { document } from "../registers/document.ts";
import {
	DOCUMENT_TEMPLATE_KEYS,
	type DocumentTemplate,
} from "../starters/document-template-names.ts";
import { readDocumentTemplate } from "../starters/document-templates.ts";
import {
	contentSchema,
	lockVersion,
	noteVersion,
	readVersion,
	requireStatus,
	touchDocument,
	VERSION_COLUMNS,
	type VersionRow,
	version,
	versionId,
	versionRow,
} from "./versions.ts";

/** Most versions of a document. One a week fills them in 19 years. */
const MAX_VERSIONS = 1000;

const documentId = () =>
	idSchema("document").meta(obvious("Id of the document"));
const changelog = () =>
	textSchema().nullable().optional().describe("What is new in this version");
const asksAgain = () =>
	z
		.boolean()
		.optional()
		.describe(
			"true: publishing asks those to sign who signed the version before",
		);

const OF_DOCUMENT: Filter = {
	schema: idSchema("document"),
	sql: (parameter) => `t.document_id = ${parameter}`,
};

export const listDocumentVersions = defineOperation({
	name: "listDocumentVersions",
	title: "List the versions of a document",
	description:
		"List the versions of a document, newest first, without their contents.",
	toolset: "documents",
	access: "read",
	tenant: "document_id",
	input: z.strictObject({
		document_id: documentId(),
		size: pageSize("Versions"),
		cursor: pageCursor(),
		...asOfShape,
	}),
	output: z.object({ document_versions: z.array(versionRow), ...pageShape }),
	run: async (present, { document_id, as_of, ...page }) => {
		const context = await contextAsOf(present, as_of);
		await existing(context, document, document_id);
		const { rows, ...rest } = await readPage<VersionRow>(
			context.client,
			{
				tool: ["listDocumentVersions", as_of].filter(Boolean).join("."),
				columns: VERSION_COLUMNS,
				from: "document_versions t",
				orders: { version_number: byInteger("version_number") },
				filters: { document_id: OF_DOCUMENT },
			},
			{
				...page,
				organization_id: context.membership.organizationId,
				order_by: { field: "version_number", direction: "DESC" },
				filter: { document_id },
			},
		);
		return { document_versions: rows, ...rest };
	},
});

export const getDocumentVersion = defineOperation({
	name: "getDocumentVersion",
	title: "Get a version of a document",
	description:
		"Get a version of a document with its content, which is Markdown.",
	toolset: "documents",
	access: "read",
	tenant: "id",
	input: z.strictObject({ id: versionId(), ...asOfShape }),
	output: z.object({ document_version: version }),
	run: async (context, { id, as_of }) => ({
		document_version: await readVersion(await contextAsOf(context, as_of), id),
	}),
});

export const createDraftDocumentVersion = defineOperation({
	name: "createDraftDocumentVersion",
	title: "Draft a version of a document",
	description:
		"Begin the next version of a document. Its content is that of the newest version unless you give another or a template. A document has one open version at a time.",
	toolset: "documents",
	access: "write",
	tenant: "document_id",
	input: z.strictObject({
		document_id: documentId(),
		content: contentSchema().optional().describe("Markdown"),
		template: z
			.enum(DOCUMENT_TEMPLATE_KEYS)
			.optional()
			.describe("Policy to begin with; fill in its brackets"),
		changelog: changelog(),
		asks_again: asksAgain(),
		...idempotencyShape,
	}),
	output: z.object({ document_version: version }),
	run: async (context, input) => {
		const { client, membership, principal } = context;
		const { organizationId } = membership;
		const { document_id, template } = input;
		if (template !== undefined && input.content !== undefined) {
			throw badFields([
				{
					field: "template",
					message: "must be left out together with content",
				},
			]);
		}
		const owner = await existing(context, document, document_id, "for update");
		const { rows } = await client.query<VersionRow & { content: string }>(
			`select t.id, t.version_number, t.status, t.content from document_versions t
			where t.organization_id = $1 and t.document_id = $2 order by t.version_number desc limit 1`,
			[organizationId, document_id],
		);
		const [newest] = rows;
		if (newest && newest.status !== "PUBLISHED") {
			throw new AppError(
				"conflict",
				`version ${newest.version_number} (${newest.id}) of the document is ${newest.status}; change, publish or delete it first`,
			);
		}
		const number = (newest?.version_number ?? 0) + 1;
		if (number > MAX_VERSIONS) {
			throw new AppError(
				"bad_request",
				`the document has ${MAX_VERSIONS} versions, which is the maximum`,
			);
		}
		const given =
			template === undefined
				? input.content
				: await fromTemplate(context, template);
		const id = makeId(organizationId, "document_version");
		await client.query(
			`insert into document_versions (
				organization_id, id, document_id, version_number, title, content, changelog, asks_again,
				author_id, author_name
			) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			[
				organizationId,
				id,
				document_id,
				number,
				owner.title,
				given ?? newest?.content ?? "",
				input.changelog ?? null,
				input.asks_again ?? false,
				principal.userId,
				principal.name,
			],
		);
		await touchDocument(context, document_id);
		const made = await readVersion(context, id);
		noteVersion(context, made, { status: { after: "DRAFT" } });
		return { document_version: made };
	},
});

async function fromTemplate(
	{ client, membership }: Context,
	template: DocumentTemplate,
): Promise<string> {
	const { rows } = await client.query<{ name: string }>(
		"select name from organizations where id = $1",
		[membership.organizationId],
	);
	return readDocumentTemplate(template, rows[0]?.name ?? "");
}

export const updateDocumentVersion = defineOperation({
	name: "updateDocumentVersion",
	title: "Change a draft",
	description:
		"Change the content of a draft. Give if_updated_at, so that nothing is lost if somebody else edits it too.",
	toolset: "documents",
	access: "write",
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({
		id: versionId(),
		content: contentSchema().optional().describe("Markdown"),
		changelog: changelog(),
		asks_again: asksAgain(),
		...unchangedShape,
	}),
	output: z.object({ document_version: version }),
	run: async (context, { id, if_updated_at, ...given }) => {
		const { client, membership, principal } = context;
		const { found, owner } = await lockVersion(context, id);
		requireStatus(found, "DRAFT");
		requireUnchanged("version", found, if_updated_at);
		if (Object.keys(given).length === 0) {
			throw badFields([
				{
					field: "content",
					message: "is required, unless changelog or asks_again changes",
				},
			]);
		}
		// The author and the editors do not approve what they wrote.
		await client.query(
			`update document_versions set title = $3, content = $4, changelog = $5, asks_again = $6, updated_at = now(),
				editor_ids = case
					when content = $4 or $7::typed_id is null or $7 = any(array_append(editor_ids, author_id))
					then editor_ids
					else array_append(editor_ids, $7)
				end
			where organization_id = $1 and id = $2`,
			[
				membership.organizationId,
				id,
				owner.title,
				given.content ?? found.content,
				given.changelog === undefined ? found.changelog : given.changelog,
				given.asks_again ?? found.asks_again,
				principal.userId,
			],
		);
		await touchDocument(context, found.document_id);
		const after = await readVersion(context, id);
		noteVersion(context, after, {
			...(after.content !== found.content && {
				characters: {
					before: found.content.length,
					after: after.content.length,
				},
			}),
			...(after.changelog !== found.changelog && {
				changelog: { before: found.changelog, after: after.changelog },
			}),
			...(after.asks_again !== found.asks_again && {
				asks_again: { before: found.asks_again, after: after.asks_again },
			}),
		});
		return { document_version: after };
	},
});

export const deleteDraftDocumentVersion = defineOperation({
	name: "deleteDraftDocumentVersion",
	title: "Delete a draft",
	description:
		"Delete a version that is not published. It cannot be undone. A published version stays.",
	toolset: "documents",
	access: "admin",
	isDestructive: true,
	tenant: "id",
	input: z.strictObject({ id: versionId() }),
	output: z.object({ deleted_document_version_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership } = context;
		const { found } = await lockVersion(context, id);
		requireStatus(found, "DRAFT", "PENDING_APPROVAL");
		await client.query(
			"delete from document_versions where organization_id = $1 and id = $2",
			[membership.organizationId, id],
		);
		await touchDocument(context, found.document_id);
		noteVersion(context, found, { status: { before: found.status } });
		return { deleted_document_version_id: id };
	},
});

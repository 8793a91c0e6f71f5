import { z } from "zod";
import type { Context, Operation } from "../operation.ts";
import type { Filter } from "../records/filter.ts";
import { linkable, linkableId } from "../records/link-kinds.ts";
import { recordOperations } from "../records/operations.ts";
import { namedKindOf } from "../records/searchable-kinds.ts";
import { idSchema } from "../records/text-schemas.ts";
import { evidence } from "../registers/evidence.ts";
import { storeContent } from "./contents.ts";
import { fileNameSchema } from "./file-names.ts";
import type { ReceivedFile } from "./received-file.ts";

/** Selects the ids of the records that are linked to the record `id`. */
const linkedIds = (id: string) => `
	select l.second_id as id from record_links l
	where l.organization_id = t.organization_id and l.first_id = ${id}
	union all
	select l.first_id from record_links l
	where l.organization_id = t.organization_id and l.second_id = ${id}`;

const whyNone: Filter["whyNone"] = async (client, organizationId, value) => {
	const table = namedKindOf(linkable, String(value))?.table;
	const { rowCount } = await client.query(
		`select from ${table} t where t.organization_id = $1 and t.id = $2`,
		[organizationId, value],
	);
	return rowCount
		? undefined
		: "is the id of a record that this organization does not have";
};

/** Finds the evidence that is linked to a record. */
const linkedTo: Filter = {
	schema: linkableId.describe("Record that it is about"),
	sql: (parameter) => `t.id in (${linkedIds(parameter)})`,
	whyNone,
};

/**
 * Finds the evidence that is linked to the measures of a control. With the evidence of the control
 * itself, it is the evidence that the statement of applicability names.
 */
const ofMeasuresOf: Filter = {
	schema: idSchema("control").describe("Control whose measures it is about"),
	sql: (parameter) => `t.id in (
		select n.id from (${linkedIds(parameter)}) k
		join measures m on m.organization_id = t.organization_id and m.id = k.id
			and m.archived_at is null
		cross join lateral (${linkedIds("m.id")}) n
	)`,
	whyNone,
};

const [list, get, add, update, removeRecord] = recordOperations({
	...evidence,
	otherFilters: { linked_to: linkedTo, of_measures_of: ofMeasuresOf },
});

/** Replaces the ordinary deleteEvidence, so that the audit log says which file is gone. */
const remove = {
	...removeRecord,
	description:
		"Delete a piece of evidence, its file and its links. The records that it is about stay.",
	run: async (context, input) => {
		const { client, membership } = context;
		const { rows } = await client.query<{ file: Record<string, unknown> }>(
			`select jsonb_build_object(
				'file_name', f.file_name, 'sha256', encode(f.sha256, 'hex')
			) as file
			from evidence_files f where f.organization_id = $1 and f.evidence_id = $2`,
			[membership.organizationId, input.id],
		);
		const file = rows[0]?.file;
		return removeRecord.run(
			{
				...context,
				membership,
				changed: (change) => {
					if (file && change.id === input.id) {
						change.fields.file = { before: file };
					}
					context.changed(change);
				},
			},
			input,
		);
	},
} satisfies typeof removeRecord;

export const evidenceOperations = [list, get, add, update, remove] as const;

/** Schema of the address of an upload, with which its sender describes the file. */
export const uploadInput = z.strictObject({
	...add.input.shape,
	name: add.input.shape.name.optional(),
	file_name: fileNameSchema(),
});

export type UploadInput = z.output<typeof uploadInput>;

/**
 * Returns the operation that adds a piece of evidence with a file. Its name is that of the tool, so
 * the same role and scope may do it and the audit log names it the same. The hash is a part of the
 * input: an idempotency key that comes again with another content is an error.
 */
export function addWithFile(file?: ReceivedFile) {
	const input = uploadInput.extend({ sha256: z.string().optional() });
	const operation: Operation<"addEvidence", typeof input, typeof add.output> = {
		...add,
		input,
		run: async (context, given) => {
			if (!file) throw new Error("the file has not arrived");
			const { file_name, sha256: _, name = file_name, ...fields } = given;
			const { evidence: added } = await add.run(context, { ...fields, name });
			await attach(context, { id: added.id, name: String(added.name) }, file);
			return get.run(context, { id: added.id });
		},
	};
	return operation;
}

async function attach(
	context: Context,
	{ id, name }: { id: string; name: string },
	file: ReceivedFile,
): Promise<void> {
	const { client, membership, principal, services } = context;
	const { organizationId } = membership;
	await storeContent(client, organizationId, file, services.fileLimits);
	await client.query(
		`insert into evidence_files
			(organization_id, evidence_id, sha256, file_name, content_type, uploaded_by_id, uploaded_by_name)
		values ($1, $2, $3, $4, $5, $6, $7)`,
		[
			organizationId,
			id,
			file.sha256,
			file.fileName,
			file.contentType,
			principal.userId,
			principal.name,
		],
	);
	const after = {
		file_name: file.fileName,
		size_bytes: file.sizeBytes,
		sha256: file.sha256.toString("hex"),
	};
	context.changed({ kind: "evidence", id, name, fields: { file: { after } } });
}

import { z } from "zod";
import { AppError } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { findPeopleOf } from "../organizations/person-of-member.ts";
import { asOfShape, contextAsOf } from "../records/as-of.ts";
import type { Filter } from "../records/filter.ts";
import {
	byTime,
	pageCursor,
	pageShape,
	pageSize,
	readPage,
} from "../records/list-pages.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema } from "../records/text-schemas.ts";
import { MAX_ASKED } from "./sign-limits.ts";
import {
	askToSign,
	personIds,
	readSignature,
	SIGNATURE_COLUMNS,
	type SignatureRow,
	signature,
	signatureId,
	withoutReach,
	withReach,
} from "./signature-requests.ts";
import {
	lockVersion,
	noteVersion,
	readVersion,
	requireStatus,
	versionId,
} from "./versions.ts";
import { requireInForce } from "./wanted-signatures.ts";

const OF_VERSION: Filter = {
	schema: idSchema("document_version"),
	sql: (parameter) => `t.version_id = ${parameter}`,
};
const IN_STATE: Filter = {
	schema: z.enum(["REQUESTED", "SIGNED"]),
	sql: (parameter) => `t.state = ${parameter}`,
};

export const listDocumentVersionSignatures = defineOperation({
	name: "listDocumentVersionSignatures",
	title: "List the signatures of a version",
	description:
		"List who has signed a version and who is asked to. state: REQUESTED lists who has not signed.",
	toolset: "documents",
	access: "read",
	tenant: "document_version_id",
	input: z.strictObject({
		document_version_id: versionId(),
		state: IN_STATE.schema.optional().meta(obvious("State")),
		size: pageSize("Signatures"),
		cursor: pageCursor(),
		...asOfShape,
	}),
	output: z.object({
		document_version_signatures: z.array(signature),
		...pageShape,
	}),
	run: async (present, { document_version_id, state, as_of, ...page }) => {
		const context = await contextAsOf(present, as_of);
		const { document_id } = await readVersion(context, document_version_id);
		const { rows, ...rest } = await readPage<SignatureRow>(
			context.client,
			{
				tool: ["listDocumentVersionSignatures", as_of]
					.filter(Boolean)
					.join("."),
				columns: SIGNATURE_COLUMNS,
				from: "document_signatures t",
				orders: { created_at: byTime("requested_at") },
				filters: { document_version_id: OF_VERSION, state: IN_STATE },
			},
			{
				...page,
				organization_id: context.membership.organizationId,
				filter: { document_version_id, state },
			},
		);
		return {
			document_version_signatures: as_of
				? withoutReach(rows)
				: await withReach(context, document_id, rows),
			...rest,
		};
	},
});

export const getDocumentVersionSignature = defineOperation({
	name: "getDocumentVersionSignature",
	title: "Get a signature",
	description: "Get a signature of a version of a document.",
	toolset: "documents",
	access: "read",
	tenant: "id",
	input: z.strictObject({ id: signatureId() }),
	output: z.object({ document_version_signature: signature }),
	run: async (context, { id }) => ({
		document_version_signature: await readSignature(context, id),
	}),
});

export const requestDocumentVersionSignature = defineOperation({
	name: "requestDocumentVersionSignature",
	title: "Ask people to sign",
	description: `Ask up to ${MAX_ASKED} people to sign a published version. Who is asked already, or has signed, is not asked again.`,
	toolset: "documents",
	access: "write",
	isIdempotent: true,
	tenant: "document_version_id",
	input: z.strictObject({
		document_version_id: versionId(),
		person_ids: personIds(),
	}),
	output: z.object({
		asked_person_ids: z.array(z.string()).describe("Those who are asked now"),
	}),
	run: async (context, { document_version_id, person_ids }) => {
		const { found } = await lockVersion(context, document_version_id);
		requireStatus(found, "PUBLISHED");
		await requireInForce(context, found);
		return { asked_person_ids: await askToSign(context, found, person_ids) };
	},
});

export const cancelSignatureRequest = defineOperation({
	name: "cancelSignatureRequest",
	title: "Cancel a request to sign",
	description:
		"Cancel a request to sign that is not fulfilled yet. A signature stays.",
	toolset: "documents",
	access: "write",
	isDestructive: true,
	tenant: "id",
	input: z.strictObject({ id: signatureId() }),
	output: z.object({ deleted_signature_request_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership } = context;
		const { document_version_id } = await readSignature(context, id);
		const { found } = await lockVersion(context, document_version_id);
		const { state, signed_by, signer_name } = await readSignature(context, id);
		if (state === "SIGNED") {
			throw new AppError(
				"conflict",
				`${signer_name} has signed; a signature cannot be taken back`,
			);
		}
		await client.query(
			"delete from document_signatures where organization_id = $1 and id = $2",
			[membership.organizationId, id],
		);
		noteVersion(context, found, {
			signatures_requested: {
				before: { person_ids: signed_by ? [signed_by] : [] },
			},
		});
		return { deleted_signature_request_id: id };
	},
});

export const signDocumentVersion = defineOperation({
	name: "signDocumentVersion",
	title: "Sign a version",
	description: "Sign a version that you are asked to sign.",
	toolset: "documents",
	surface: "console",
	access: "read",
	isReadOnly: false,
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({
		id: versionId(),
		content_hash: z
			.string()
			.max(64)
			.describe("The hash of the version that you have read"),
	}),
	output: z.object({ document_version_signature: signature }),
	run: async (context, { id, content_hash }) => {
		const { client, membership, principal } = context;
		const { organizationId } = membership;
		const { found } = await lockVersion(context, id);
		requireStatus(found, "PUBLISHED");
		if (found.content_hash !== content_hash) {
			throw new AppError(
				"conflict",
				"the version is not the one that you have read; load the page again",
			);
		}
		const people = await findPeopleOf(client, organizationId, principal.userId);
		const { rows } = await client.query<{
			id: string;
			state: string;
			person_id: string;
		}>(
			`select s.id, s.state, s.person_id from document_signatures s
			where s.organization_id = $1 and s.version_id = $2 and s.person_id = any($3)
			order by s.state, s.requested_at, s.id`,
			[organizationId, id, people],
		);
		const [asked] = rows;
		if (!asked) {
			throw new AppError(
				"forbidden",
				"permission denied: you are not asked to sign this version",
			);
		}
		if (asked.state === "REQUESTED") {
			await requireInForce(context, found);
			// Two people of the register with the address of the account sign together.
			await client.query(
				`update document_signatures set state = 'SIGNED', signed_at = now(), way = 'SESSION', address = $3,
					content_hash = decode($4, 'hex'), user_id = $5, user_name = $6
				where organization_id = $1 and id = any($2) and state = 'REQUESTED'`,
				[
					organizationId,
					rows.map((one) => one.id),
					principal.address ?? null,
					content_hash,
					principal.userId,
					principal.name,
				],
			);
			noteVersion(context, found, {
				signature: { after: { person_id: asked.person_id, content_hash } },
			});
		}
		return {
			document_version_signature: await readSignature(context, asked.id),
		};
	},
});

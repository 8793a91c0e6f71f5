import { z } from "zod";
import { badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import type { Context } from "../operation.ts";
import { DISTINCT } from "../records/distinct.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema } from "../records/text-schemas.ts";
import { queueDocumentMails } from "./document-mail.ts";
import { reachSchema, readReach } from "./reach.ts";
import { MAX_ASKED } from "./sign-limits.ts";
import { noteVersion, type VersionRow } from "./versions.ts";
import { ENDS, IS_HERE, whyEnded } from "./wanted-signatures.ts";

/** Most signatures of a version, requested and given. */
export const MAX_SIGNATURES = 10_000;

export const personIds = () =>
	z
		.array(idSchema("people"))
		.min(1)
		.max(MAX_ASKED, { abort: true })
		.refine(...DISTINCT)
		.meta(obvious("Ids of the people"));

export const signatureId = () =>
	idSchema("document_signature").describe("Id of the signature");

export const signature = z.object({
	id: z.string(),
	document_version_id: z.string(),
	state: z.enum(["REQUESTED", "SIGNED"]),
	signed_by: z
		.string()
		.nullable()
		.describe("Id of the person who is asked or has signed; null: deleted"),
	signer_name: z.string(),
	requested_by_name: z.string(),
	requested_at: z.string(),
	signed_at: z.string().nullable(),
	way: z
		.enum(["SESSION", "LINK", "COPIED_LINK"])
		.nullable()
		.describe("Signed in, by a mailed link, or by a link that a member copied"),
	mailed_to: z
		.string()
		.nullable()
		.describe("Address that the link of way LINK was mailed to"),
	address_set_by_name: z
		.string()
		.nullable()
		.describe("User who set this address"),
	address_set_at: z.string().nullable(),
	is_address_doubtful: z
		.boolean()
		.describe(
			"A member without the role admin set the address less than 30 days before the request, or after it",
		),
	user_id: z.string().nullable().describe("Account that signed, if one did"),
	user_name: z.string().nullable(),
	address: z.string().nullable().describe("Network address of the signer"),
	content_hash: z.string().nullable().describe("SHA-256 of what was signed"),
	link_copied_at: z.string().nullable(),
	link_copied_by_name: z
		.string()
		.nullable()
		.describe("Who copied the link that can sign or has signed, and saw it"),
	reach: reachSchema
		.nullable()
		.describe(
			"How the person can sign: ACCOUNT: signed in; LINK: by a link. SECRET and LEFT: not without an account. null: has signed, or of the past",
		),
	link_mailed_at: z.string().nullable(),
	reminded_at: z
		.string()
		.nullable()
		.describe("When the person was last reminded by mail"),
	ended: z
		.enum(ENDS)
		.nullable()
		.describe(
			"Why a request is no longer needed: SUPERSEDED by a newer version, the document is ARCHIVED, the person has LEFT",
		),
});
export type Signature = z.output<typeof signature>;

/** A condition: the copied link of the signature `t` can sign, or has signed. */
const COUNTS = "coalesce(t.way, 'COPIED_LINK') = 'COPIED_LINK'";

/** Columns of a signature `t`. */
export const SIGNATURE_COLUMNS = `t.id, t.version_id as document_version_id, t.state, t.person_id as signed_by,
	t.person_name as signer_name, t.requested_by_name, t.requested_at, t.signed_at, t.way,
	t.mailed_to, t.address_set_by_name, t.address_set_at, t.is_address_doubtful, t.user_id, t.user_name,
	t.address,
	encode(t.content_hash, 'hex') as content_hash,
	case when ${COUNTS} then t.link_copied_at end as link_copied_at,
	case when ${COUNTS} then t.link_copied_by_name end as link_copied_by_name,
	t.reminded_at, (
		select ${whyEnded("t", "v")} from document_versions v
		where v.organization_id = t.organization_id and v.id = t.version_id
	) as ended`;

export type SignatureRow = Omit<Signature, "reach" | "link_mailed_at">;

/** Returns signatures of the past. How people could sign then is not known. */
export function withoutReach(rows: readonly SignatureRow[]): Signature[] {
	return rows.map((row) => ({ ...row, reach: null, link_mailed_at: null }));
}

/** Adds how the people who have not signed the document can do so. */
export async function withReach(
	context: Context,
	documentId: string,
	rows: readonly SignatureRow[],
): Promise<Signature[]> {
	const open = rows.flatMap(({ id, state }) =>
		state === "REQUESTED" ? [id] : [],
	);
	const found = await readReach(context, documentId, open);
	return withoutReach(rows).map((row) => ({ ...row, ...found.get(row.id) }));
}

/** Returns a signature. Throws not_found if there is none. */
export async function readSignature(
	context: Context,
	id: string,
): Promise<Signature> {
	const { rows } = await context.client.query<
		SignatureRow & { document_id: string }
	>(
		`select ${SIGNATURE_COLUMNS}, o.document_id from document_signatures t
		join document_versions o on o.organization_id = t.organization_id and o.id = t.version_id
		where t.organization_id = $1 and t.id = $2`,
		[context.membership.organizationId, id],
	);
	const [found] = rows;
	if (!found) throw notFound(id);
	const { document_id, ...row } = found;
	const [signature] = await withReach(context, document_id, [row]);
	if (!signature) throw notFound(id);
	return signature;
}

/**
 * Asks people to sign a published version. Those who are asked already, or have signed, are left as
 * they are. Returns the ids of the people who are asked now. Throws bad_request if somebody does not
 * exist, or if the version would have too many signatures.
 */
export async function askToSign(
	context: Context,
	version: VersionRow,
	personIds: readonly string[],
): Promise<string[]> {
	const { client, membership, principal } = context;
	const { organizationId } = membership;
	const { rows: people } = await client.query<{ id: string; name: string }>(
		`select p.id, p.full_name as name from people p
		where p.organization_id = $1 and p.id = any($2) order by p.id for key share`,
		[organizationId, personIds],
	);
	const found = new Set(people.map(({ id }) => id));
	const issues = personIds.flatMap((id, at) =>
		found.has(id)
			? []
			: {
					field: `person_ids[${at}]`,
					message: `there is no person ${id} in this organization`,
				},
	);
	if (issues.length > 0) throw badFields(issues);
	const wanted =
		version.signatures_requested +
		version.signatures_ended +
		version.signatures_given;
	if (wanted + people.length > MAX_SIGNATURES) {
		throw badFields([
			{
				field: "person_ids",
				message: `a version has at most ${MAX_SIGNATURES.toLocaleString("en")} signatures, and this one has ${wanted.toLocaleString("en")}`,
			},
		]);
	}
	const { rows } = await client.query<{ person_id: string }>(
		`insert into document_signatures (organization_id, id, version_id, person_id, person_name, requested_by_name)
		select $1::text, s.id, $2::text, s.person_id, s.name, $3::text
		from jsonb_to_recordset($4) s (id text, person_id text, name text)
		on conflict (organization_id, version_id, person_id) do nothing
		returning person_id`,
		[
			organizationId,
			version.id,
			principal.name,
			JSON.stringify(
				people.map(({ id, name }) => ({
					id: makeId(organizationId, "document_signature"),
					person_id: id,
					name,
				})),
			),
		],
	);
	const asked = rows.map(({ person_id }) => person_id);
	if (asked.length > 0) {
		noteVersion(context, version, {
			signatures_requested: { after: { person_ids: asked.slice(0, 50) } },
		});
		await queueDocumentMails(context, version, asked, "SIGNATURE");
	}
	return asked;
}

/**
 * Asks everybody again who signed the version before or was asked to, except people who have left.
 */
export async function askAgain(
	context: Context,
	version: VersionRow,
): Promise<void> {
	const { rows } = await context.client.query<{ id: string }>(
		`select s.person_id as id from document_signatures s
		join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
		join people p on p.organization_id = s.organization_id and p.id = s.person_id
		where s.organization_id = $1 and ${IS_HERE}
			and v.document_id = $2 and v.version_number = (
				select max(o.version_number) from document_versions o
				where o.organization_id = $1 and o.document_id = $2 and o.status = 'PUBLISHED'
					and o.version_number < $3
			)`,
		[
			context.membership.organizationId,
			version.document_id,
			version.version_number,
		],
	);
	await askToSign(
		context,
		version,
		rows.map(({ id }) => id),
	);
}

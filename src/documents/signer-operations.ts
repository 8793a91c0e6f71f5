import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import { queueDocumentMails } from "./document-mail.ts";
import { countReach, findLinkRequests, REACH, reachCounts } from "./reach.ts";
import { HOURS_BETWEEN, MAX_ASKED, SIGN_DAYS } from "./sign-limits.ts";
import { makeCopiedLinks } from "./sign-link.ts";
import { personIds, readSignature, signatureId } from "./signature-requests.ts";
import {
	lockVersion,
	noteVersion,
	readVersion,
	requireStatus,
	versionId,
} from "./versions.ts";
import { isWanted, requireInForce } from "./wanted-signatures.ts";

export const countSigners = defineOperation({
	name: "countSigners",
	title: "Count how people can sign",
	description:
		"Count how many of these people can sign a published version, and how. Without ids, count those who are asked and have not signed.",
	toolset: "documents",
	surface: "console",
	access: "read",
	tenant: "document_version_id",
	input: z.strictObject({
		document_version_id: versionId(),
		person_ids: personIds().optional(),
	}),
	output: reachCounts,
	run: async (context, { document_version_id, person_ids }) => {
		const version = await readVersion(context, document_version_id);
		return countReach(context, version, person_ids);
	},
});

export const copySignLink = defineOperation({
	name: "copySignLink",
	title: "Copy a link to sign",
	description: `Make a link with which a person without an account signs, and which you pass on yourself. It works for ${SIGN_DAYS} days, and a new one ends it. The signature says that you copied it, because you have seen the link.`,
	toolset: "documents",
	surface: "console",
	access: "write",
	tenant: "id",
	input: z.strictObject({ id: signatureId() }),
	output: z.object({
		link: z.string().describe("Shown only now"),
		signer_name: z.string(),
		expires_at: z.string(),
	}),
	run: async (context, { id }) => {
		const { document_version_id } = await readSignature(context, id);
		const { found } = await lockVersion(context, document_version_id);
		const { reach, signed_by, signer_name } = await readSignature(context, id);
		if (reach !== null) await requireInForce(context, found);
		if (reach !== "LINK") {
			throw new AppError(
				reach ? "bad_request" : "conflict",
				`${signer_name} ${WHY_NO_LINK[reach ?? "SIGNED"]}`,
			);
		}
		noteVersion(context, found, {
			sign_link: { after: { person_id: signed_by, way: "COPIED_LINK" } },
		});
		const [made] = await makeCopiedLinks(context, [id]);
		if (!made) throw notFound(id);
		return { link: made.link, expires_at: made.expires_at, signer_name };
	},
});

export const copySignLinks = defineOperation({
	name: "copySignLinks",
	title: "Copy all links to sign",
	description: `Make the links of copySignLink for everybody who is asked to sign a version, has not signed and has no account; at most ${MAX_ASKED} at once, first those for whom nobody has copied a link.`,
	toolset: "documents",
	surface: "console",
	access: "write",
	tenant: "document_version_id",
	input: z.strictObject({ document_version_id: versionId() }),
	output: z.object({
		links: z
			.array(
				z.object({
					signer_name: z.string(),
					email: z.string(),
					link: z.string(),
				}),
			)
			.describe("By name, shown only now"),
		expires_at: z.string(),
		more: z.int().describe("People whose links were not made"),
	}),
	run: async (context, { document_version_id }) => {
		const { found } = await lockVersion(context, document_version_id);
		await requireInForce(context, found);
		const { ids, total } = await findLinkRequests(context, found, MAX_ASKED);
		const made = await makeCopiedLinks(context, ids);
		const [first] = made;
		if (!first) {
			throw new AppError(
				"conflict",
				"nobody who is asked to sign this version needs a link; listDocumentVersionSignatures says how each person can sign",
			);
		}
		const links = made
			.map(({ signer_name, email, link }) => ({ signer_name, email, link }))
			.sort((a, b) => a.signer_name.localeCompare(b.signer_name));
		noteVersion(context, found, {
			sign_links: {
				after: {
					person_ids: made.map(({ person_id }) => person_id),
					way: "COPIED_LINK",
				},
			},
		});
		return {
			links,
			expires_at: first.expires_at,
			more: total - links.length,
		};
	},
});

export const remindSigners = defineOperation({
	name: "remindSigners",
	title: "Remind people to sign",
	description: `Mail the version again to those who are asked to sign it and have not signed. Without ids, to everybody who was not asked or reminded within ${HOURS_BETWEEN.ofAll} hours, at most ${MAX_ASKED} at once. A mailed link then works for ${SIGN_DAYS} days from now.`,
	toolset: "documents",
	surface: "console",
	access: "write",
	tenant: "document_version_id",
	input: z.strictObject({
		document_version_id: versionId(),
		person_ids: personIds().optional(),
	}),
	output: z.object({
		reminded_person_ids: z.array(z.string()),
		more: z.int().describe("People whom a further call would remind"),
	}),
	run: async (context, { document_version_id, person_ids }) => {
		const { client, membership, services } = context;
		const { found } = await lockVersion(context, document_version_id);
		requireStatus(found, "PUBLISHED");
		await requireInForce(context, found);
		if (!services.mail) {
			throw new AppError(
				"conflict",
				"this service has no mail server, so it reminds nobody; copySignLinks makes links that you pass on yourself",
			);
		}
		const { rows } = await client.query<{ person_id: string; total: number }>(
			`with late as (
				select s.id, count(*) over ()::int as total
				from document_signatures s
				join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
				join people p on p.organization_id = s.organization_id and p.id = s.person_id
				where s.organization_id = $1 and s.version_id = $3 and s.state = 'REQUESTED'
					and ${isWanted("s", "v")} and ${REACH} in ('ACCOUNT', 'LINK')
					and ($4::text[] is null or s.person_id = any($4))
					and greatest(s.requested_at, s.reminded_at) <= now() - $5 * interval '1 hour'
				order by greatest(s.requested_at, s.reminded_at), s.id
				limit ${MAX_ASKED}
			)
			update document_signatures s set reminded_at = now() from late
			where s.organization_id = $1 and s.id = late.id
			returning s.person_id, late.total`,
			[
				membership.organizationId,
				found.document_id,
				found.id,
				person_ids ?? null,
				person_ids ? HOURS_BETWEEN.ofChosen : HOURS_BETWEEN.ofAll,
			],
		);
		const ids = rows.map(({ person_id }) => person_id);
		if (ids.length > 0) {
			noteVersion(context, found, { signers_reminded: { after: ids.length } });
			await queueDocumentMails(context, found, ids, "SIGNATURE");
		}
		return {
			reminded_person_ids: ids,
			more: (rows[0]?.total ?? 0) - ids.length,
		};
	},
});

const WHY_NO_LINK = {
	SIGNED: "has signed already",
	ACCOUNT: "has an account, and finds the version on the home page",
	SECRET:
		"gets no link, because the document is secret; invite the person as a viewer",
	LEFT: "gets no link, because the contract has ended",
};

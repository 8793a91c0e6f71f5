import { createHmac, timingSafeEqual } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { appendChanges } from "../audit/log.ts";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { ID_LENGTH, parseId } from "../id.ts";
import type { Context } from "../operation.ts";
import { requireOpenOrganization } from "../organizations/closures.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { normalAddress } from "../records/mail-address.ts";
import type { From } from "../sign-in/exchange.ts";
import { findAddressSetter } from "./address-setter.ts";
import { SIGN_DAYS } from "./sign-limits.ts";
import { readWhyNotSigned } from "./wanted-signatures.ts";

/** The request to sign that a link is for. */
interface Request {
	organizationId: string;
	signatureId: string;
}

/** The ways to sign by a link. A mailed link proves the address, and others have seen a copied one. */
type LinkWay = "LINK" | "COPIED_LINK";

interface Secrets {
	secret: string;
	previousSecret?: string | undefined;
}

/**
 * Returns the token of a link that lets a person without an account read and sign a version. The
 * service can make it again at any time, so it is not stored. It proves the mail address that the
 * person had then, and is worth nothing once the address changes. A copied link names the moment at
 * which it was copied, so the next one ends it, and nobody can pass it off as the mailed one.
 */
export function makeSignToken(
	secret: string,
	{ organizationId, signatureId }: Request,
	email: string,
	copiedAt?: string,
): string {
	const what = copiedAt === undefined ? "sign" : `copied at ${copiedAt} sign`;
	const proof = createHmac("sha256", secret)
		.update(
			`${what} document ${organizationId} ${signatureId} ${normalAddress(email)}`,
		)
		.digest("base64url");
	return `${organizationId}.${signatureId}.${proof}`;
}

/**
 * Returns the address of the page. The token follows the #, so no log contains it. Programs that scan
 * mails open the page too; only its button shows the text.
 */
export function signUrl(baseUrl: string, token: string): string {
	return `${baseUrl}/sign-document#${token}`;
}

/** Content of the page. */
export interface ToSign {
	organization_name: string;
	person_name: string;
	title: string;
	version_number: number;
	changelog: string | null;
	content: string;
	content_hash: string;
	signed_at: string | null;
	/** The member who copied this link and passed it on. Null if the service mailed it. */
	copied_by_name: string | null;
}

/** SQL for the moment at which the link of the signature `s` was copied, to the microsecond. */
const COPIED_AT = "extract(epoch from s.link_copied_at)::text";

/** A link that somebody passes on. */
export interface CopiedLink {
	signature_id: string;
	person_id: string;
	signer_name: string;
	email: string;
	link: string;
	expires_at: string;
}

/**
 * Makes the links of requests to sign for somebody who passes them on, and notes who that is. Links
 * that were copied before stop working. A request that is signed or withdrawn gets none.
 */
export async function makeCopiedLinks(
	{ client, membership, principal, services }: Context,
	signatureIds: readonly string[],
): Promise<CopiedLink[]> {
	const { organizationId } = membership;
	const { secret, baseUrl } = services;
	if (!secret) throw new Error("the service has no secret");
	const { rows } = await client.query<
		Omit<CopiedLink, "link"> & { copied_at: string }
	>(
		`update document_signatures s
		set link_copied_at = clock_timestamp(), link_copied_by_id = $3, link_copied_by_name = $4
		from people p
		where s.organization_id = $1 and s.id = any($2) and s.state = 'REQUESTED'
			and p.organization_id = s.organization_id and p.id = s.person_id
		returning s.id as signature_id, p.id as person_id, s.person_name as signer_name, ${COPIED_AT} as copied_at,
			p.primary_email_address as email,
			s.link_copied_at + $5 * interval '1 day' as expires_at`,
		[organizationId, signatureIds, principal.userId, principal.name, SIGN_DAYS],
	);
	return rows.map(({ copied_at, ...made }) => {
		const request = { organizationId, signatureId: made.signature_id };
		const token = makeSignToken(secret, request, made.email, copied_at);
		return { ...made, link: signUrl(baseUrl, token) };
	});
}

interface Found extends ToSign {
	document_id: string;
	person_id: string;
	email: string;
	way: LinkWay;
}

/** A request to sign, before its link is checked. */
interface Candidate extends Omit<Found, "way"> {
	version_id: string;
	/** True if a mailed link still works. */
	is_open: boolean;
	copied_at: string | null;
	/** True if a copied link still works. */
	is_copy_open: boolean | null;
}

/**
 * Reads the version that a link is for. Throws bad_request if the link cannot be used, and conflict
 * if nobody signs the version any more.
 */
export async function readToSign(
	appPool: Pool,
	secrets: Secrets,
	token: string,
): Promise<ToSign> {
	const request = readToken(token);
	return withTenant(appPool, request.organizationId, async (client) =>
		toPage(await findRequest(client, secrets, request, token)),
	);
}

/** Signs the version that a link is for, if it is the one that was read. */
export async function signByLink(
	appPool: Pool,
	secrets: Secrets,
	{ token, contentHash }: { token: string; contentHash: string },
	from: From,
): Promise<ToSign> {
	const request = readToken(token);
	const { organizationId, signatureId } = request;
	return withTenant(appPool, organizationId, async (client) => {
		const found = await findRequest(client, secrets, request, token);
		const isMailed = found.way === "LINK";
		if (found.content_hash !== contentHash) {
			throw new AppError(
				"conflict",
				"the version is not the one that you have read; load the page again",
			);
		}
		const { email } = found;
		const setter = isMailed
			? await findAddressSetter(client, organizationId, signatureId)
			: undefined;
		const { rowCount } = await client.query(
			`update document_signatures set state = 'SIGNED', signed_at = now(), way = $5, address = $3,
				content_hash = decode($4, 'hex'), mailed_to = $6, address_set_by_id = $7,
				address_set_by_name = $8, address_set_at = $9, is_address_doubtful = $10
			where organization_id = $1 and id = $2 and state = 'REQUESTED'`,
			[
				organizationId,
				signatureId,
				from.address ?? null,
				contentHash,
				found.way,
				isMailed ? email : null,
				setter?.address_set_by_id ?? null,
				setter?.address_set_by_name ?? null,
				setter?.address_set_at ?? null,
				setter?.is_address_doubtful ?? false,
			],
		);
		if (rowCount === 1) {
			const after = {
				person_id: found.person_id,
				content_hash: contentHash,
				way: found.way,
			};
			await appendChanges(
				client,
				{
					kind: "SYSTEM",
					userId: null,
					// The entry is about the document. The id says who it was, also after an erasure.
					name: "a person who was asked to sign, by a link",
					memberships: [],
					...from,
				},
				"signDocumentByLink",
				organizationId,
				[
					{
						kind: "document",
						id: found.document_id,
						name: found.title,
						fields: {
							[`version_${found.version_number}_signature`]: { after },
						},
					},
				],
			);
		}
		return toPage(await findRequest(client, secrets, request, token));
	});
}

const toPage = ({
	document_id: _,
	person_id: __,
	way: ___,
	email: ____,
	...page
}: Found): ToSign => page;

/**
 * Returns what a token names. Only the person's address shows later whether the service made it.
 */
function readToken(token: string): Request {
	const [organizationId = "", signatureId = ""] =
		token.length > 4 * ID_LENGTH ? [] : token.split(".");
	if (
		parseId(organizationId)?.kind === "organization" &&
		parseId(signatureId)?.kind === "document_signature"
	) {
		return { organizationId, signatureId };
	}
	throw unusable();
}

async function findRequest(
	client: PoolClient,
	{ secret, previousSecret }: Secrets,
	request: Request,
	token: string,
): Promise<Found> {
	const { rows } = await client.query<Candidate>(
		`select o.name as organization_name, p.full_name as person_name, p.id as person_id,
			p.primary_email_address as email, v.id as version_id, v.document_id, v.title, v.version_number, v.changelog,
			v.content, encode(v.content_hash, 'hex') as content_hash, s.signed_at,
			s.link_copied_by_name as copied_by_name, ${COPIED_AT} as copied_at,
			greatest(s.requested_at, s.reminded_at) > now() - $3 * interval '1 day' as is_open,
			s.link_copied_at > now() - $3 * interval '1 day' as is_copy_open
		from document_signatures s
		join people p on p.organization_id = s.organization_id and p.id = s.person_id
		join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
		join documents d on d.organization_id = v.organization_id and d.id = v.document_id
		join organizations o on o.id = s.organization_id
		where s.organization_id = $1 and s.id = $2 and v.status = 'PUBLISHED' and ${IS_STAFF}
			and d.classification <> 'SECRET'`,
		[request.organizationId, request.signatureId, SIGN_DAYS],
	);
	const [found] = rows;
	if (!found) throw unusable();
	const { is_open, copied_at, is_copy_open, version_id, ...shown } = found;
	const isToken = (copiedAt?: string) =>
		[secret, previousSecret].some(
			(one) =>
				one &&
				isSame(makeSignToken(one, request, shown.email, copiedAt), token),
		);
	const isMailed = is_open && isToken();
	const isCopied = is_copy_open && copied_at !== null && isToken(copied_at);
	if (!isMailed && !isCopied) throw unusable();
	await requireOpenOrganization(client, request.organizationId);
	// What somebody has signed stays, also after a newer version.
	const why =
		shown.signed_at === null &&
		(await readWhyNotSigned(client, request.organizationId, version_id));
	if (why) throw new AppError("conflict", why);
	return isMailed
		? { ...shown, copied_by_name: null, way: "LINK" }
		: { ...shown, way: "COPIED_LINK" };
}

function isSame(one: string, other: string): boolean {
	const [first, second] = [Buffer.from(one), Buffer.from(other)];
	return first.length === second.length && timingSafeEqual(first, second);
}

function unusable(): AppError {
	return new AppError(
		"bad_request",
		"the link is not complete, has expired, was replaced or was withdrawn; ask for a new one",
	);
}

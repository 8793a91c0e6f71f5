import { createHmac, timingSafeEqual } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { appendChanges } from "../audit/log.ts";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { ID_LENGTH, parseId } from "../id.ts";
import { IS_STAFF } from "../my-devices/links.ts";
import { requireOpenOrganization } from "../organizations/closures.ts";
import { normalAddress } from "../records/mail-address.ts";
import type { From } from "../sign-in/exchange.ts";

/** Days for which a link can be used, from the request to sign on. */
export const SIGN_DAYS = 30;

/** The request to sign that a link is for. */
interface Request {
	organizationId: string;
	signatureId: string;
}

interface Secrets {
	secret: string;
	previousSecret?: string | undefined;
}

/**
 * Returns the token of a link that lets a person without an account read and sign a version. The
 * service can make it again at any time, so it is not stored. It proves the mail address that the
 * person had then, and is worth nothing once the address changes.
 */
export function makeSignToken(
	secret: string,
	{ organizationId, signatureId }: Request,
	email: string,
): string {
	const proof = createHmac("sha256", secret)
		.update(
			`sign document ${organizationId} ${signatureId} ${normalAddress(email)}`,
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

/** What the page shows. */
export interface ToSign {
	organization_name: string;
	person_name: string;
	title: string;
	version_number: number;
	changelog: string | null;
	content: string;
	content_hash: string;
	signed_at: string | null;
}

interface Found extends ToSign {
	document_id: string;
	person_id: string;
	email: string;
	is_open: boolean;
}

/** Reads the version that a link is for. Throws bad_request if the link cannot be used. */
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
		if (found.content_hash !== contentHash) {
			throw new AppError(
				"conflict",
				"the version is not the one that you have read; load the page again",
			);
		}
		const { rowCount } = await client.query(
			`update document_signatures set state = 'SIGNED', signed_at = now(), way = 'LINK', address = $3,
				content_hash = decode($4, 'hex')
			where organization_id = $1 and id = $2 and state = 'REQUESTED'`,
			[organizationId, signatureId, from.address ?? null, contentHash],
		);
		if (rowCount === 1) {
			const after = { person_id: found.person_id, content_hash: contentHash };
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
	email: ___,
	is_open: ____,
	...page
}: Found): ToSign => page;

/** Returns what a token names. Whether the service made it is checked with the person's address. */
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
	const { rows } = await client.query<Found>(
		`select o.name as organization_name, p.full_name as person_name, p.id as person_id,
			p.primary_email_address as email, v.document_id, v.title, v.version_number, v.changelog,
			v.content, encode(v.content_hash, 'hex') as content_hash, s.signed_at,
			s.requested_at > now() - $3 * interval '1 day' as is_open
		from document_signatures s
		join people p on p.organization_id = s.organization_id and p.id = s.person_id
		join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
		join organizations o on o.id = s.organization_id
		where s.organization_id = $1 and s.id = $2 and v.status = 'PUBLISHED' and ${IS_STAFF}`,
		[request.organizationId, request.signatureId, SIGN_DAYS],
	);
	const [found] = rows;
	if (!found?.is_open) throw unusable();
	const isOurs = [secret, previousSecret].some(
		(one) => one && isSame(makeSignToken(one, request, found.email), token),
	);
	if (!isOurs) throw unusable();
	await requireOpenOrganization(client, request.organizationId);
	return found;
}

function isSame(one: string, other: string): boolean {
	const [first, second] = [Buffer.from(one), Buffer.from(other)];
	return first.length === second.length && timingSafeEqual(first, second);
}

function unusable(): AppError {
	return new AppError(
		"bad_request",
		"the link is not complete, has expired or was withdrawn; ask for a new one",
	);
}

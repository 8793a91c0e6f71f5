import type { Pool, PoolClient } from "pg";
import { appendChanges } from "../audit/log.ts";
import { BY_LINK } from "../audit/redaction.ts";
import { transaction, withTenant } from "../db/pool.ts";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { requireOpenOrganization } from "../organizations/closures.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import type { Principal } from "../principal.ts";
import type { From } from "../sign-in/exchange.ts";
import {
	hashSecret,
	isWellFormedSecret,
	makeSecret,
} from "../tokens/secret.ts";

/** Days for which a link can be used. */
export const LINK_DAYS = 7;

/** Minutes for which the page stays open after the link was used. */
export const SESSION_MINUTES = 60;

/**
 * Returns the address of the page. The token follows the #. Browsers do not send that part to
 * servers, so no log contains it, and a program that fetches the address does not use the link up.
 */
export function myDevicesUrl(baseUrl: string, token: string): string {
	return `${baseUrl}/my-devices#${token}`;
}

/** Stores a link. A link that was stored before stays as it is. */
export async function storeMyDevicesLink(
	client: PoolClient,
	link: {
		organizationId: string;
		peopleId: string;
		token: string;
		/** The user who copies the link, or null if it is mailed. */
		copiedBy: { userId: string | null } | null;
	},
): Promise<string> {
	const { organizationId, peopleId, token, copiedBy } = link;
	const { rows } = await client.query<{ expires_at: string }>(
		`insert into my_devices_links
			(organization_id, id, people_id, token_hash, is_copied, copied_by_id, expires_at)
		values ($1, $2, $3, decode($4, 'hex'), $5, $6, now() + $7 * interval '1 day')
		on conflict (token_hash) do nothing
		returning expires_at`,
		[
			organizationId,
			makeId(organizationId, "my_devices_link"),
			peopleId,
			hashSecret(token),
			copiedBy !== null,
			copiedBy?.userId ?? null,
			LINK_DAYS,
		],
	);
	return rows[0]?.expires_at ?? "";
}

/** Returns those of the tokens whose link was not used and has not expired. */
export async function findUsable(
	client: PoolClient,
	organizationId: string,
	tokens: readonly string[],
): Promise<Set<string>> {
	const byHash = new Map(tokens.map((token) => [hashSecret(token), token]));
	const { rows } = await client.query<{ hash: string }>(
		`select encode(token_hash, 'hex') as hash from my_devices_links
		where organization_id = $1 and redeemed_at is null and expires_at > now()
			and token_hash = any (select decode(h, 'hex') from unnest($2::text[]) h)`,
		[organizationId, [...byHash.keys()]],
	);
	return new Set(rows.map(({ hash }) => byHash.get(hash) as string));
}

interface Found {
	organization_id: string;
	id: string;
}

/** Finds a link, also one that was used or has expired, by its secret or by that of its session. */
export async function findMyDevicesLink(
	appPool: Pool,
	secret: string,
): Promise<Found | undefined> {
	const { rows } = await transaction(appPool, { isReadOnly: true }, (client) =>
		client.query<Found>(
			"select organization_id, id from find_my_devices_link(decode($1, 'hex'))",
			[hashSecret(secret)],
		),
	);
	return rows[0];
}

/**
 * Uses a link up, and returns the secret of the session that it makes. In the browser that has used
 * the link before, it returns that session as long as it lasts, so a double click does no harm.
 * Throws bad_request if the link cannot be used.
 */
export async function redeemMyDevicesLink(
	appPool: Pool,
	token: string,
	ownSession: string | undefined,
	from: From,
): Promise<string> {
	if (!isWellFormedSecret("myd", token)) {
		throw badFields([
			{
				field: "token",
				message:
					"must be the text after the # of a link to your devices; copy the whole link",
			},
		]);
	}
	const found = await findMyDevicesLink(appPool, token);
	if (!found) throw unusable();
	const session = makeSecret("mys");
	return withTenant(appPool, found.organization_id, async (client) => {
		await requireOpenOrganization(client, found.organization_id);
		const { rows } = await client.query<{
			people_id: string;
			full_name: string;
			is_copied: boolean;
		}>(
			`update my_devices_links l
			set redeemed_at = now(), session_hash = decode($3, 'hex'),
				session_ends_at = now() + $4 * interval '1 minute'
			from people p
			where l.organization_id = $1 and l.id = $2 and l.redeemed_at is null and l.expires_at > now()
				and p.organization_id = l.organization_id and p.id = l.people_id and ${IS_STAFF}
			returning l.people_id, p.full_name, l.is_copied`,
			[found.organization_id, found.id, hashSecret(session), SESSION_MINUTES],
		);
		const [redeemed] = rows;
		if (!redeemed) {
			if (ownSession && (await isOfLink(client, found, ownSession))) {
				return ownSession;
			}
			throw unusable();
		}
		await appendChanges(
			client,
			personAsActor(from),
			"openMyDevices",
			found.organization_id,
			[
				{
					kind: "people",
					id: redeemed.people_id,
					name: redeemed.full_name,
					fields: { link: { after: redeemed.is_copied ? "COPIED" : "MAILED" } },
				},
			],
		);
		return session;
	});
}

/** Returns true if `session` is the live session of this link. */
async function isOfLink(
	client: PoolClient,
	{ organization_id, id }: Found,
	session: string,
): Promise<boolean> {
	const { rowCount } = await client.query(
		`select from my_devices_links
		where organization_id = $1 and id = $2 and session_hash = decode($3, 'hex')
			and session_ends_at > now()`,
		[organization_id, id, hashSecret(session)],
	);
	return rowCount === 1;
}

/**
 * Returns the actor of an audit entry about what a person did without an account. The entry's
 * record or change names the person by id, so an erasure of the person finds it.
 */
export function personAsActor(from: From): Principal {
	return {
		kind: "SYSTEM",
		userId: null,
		name: `the owner of a device, ${BY_LINK}`,
		memberships: [],
		...from,
	};
}

/** Ends a session. */
export async function endMyDevicesSession(
	appPool: Pool,
	session: string,
): Promise<void> {
	const found = await findMyDevicesLink(appPool, session);
	if (!found) return;
	await withTenant(appPool, found.organization_id, (client) =>
		client.query(
			`update my_devices_links set session_ends_at = least(session_ends_at, now())
			where organization_id = $1 and id = $2`,
			[found.organization_id, found.id],
		),
	);
}

function unusable(): AppError {
	return new AppError(
		"bad_request",
		"the link was used, has expired or was withdrawn; ask for a new one",
	);
}

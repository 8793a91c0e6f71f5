import { randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { AppError } from "../errors.ts";
import type { OutgoingRule } from "../outgoing/outgoing-address.ts";
import type { Principal } from "../principal.ts";
import { fetchClientDocument, isDocumentAddress } from "./client-document.ts";
import { logRefusedClient } from "./refusal-log.ts";

/** A program that asks for access. */
export interface OauthClient {
	id: string;
	name: string;
	redirectUris: string[];
	/** True if the client registered itself, so that nobody vouches for its name. */
	isRegistered: boolean;
}

/** Number of minutes for which a fetched document is used without asking again. */
const DOCUMENT_MINUTES = 10;
/** Most documents that may be fetched at the same time, for all users and for one user. */
const MAX_FETCHES = 16;
const MAX_FETCHES_OF_USER = 2;
/** Has an element for each document that is being fetched: the user, or null. */
const fetching: (string | null)[] = [];

/** Number of registered clients that no user has connected yet. */
export const MAX_UNUSED_CLIENTS = 500;

const COLUMNS = `id, name, redirect_uris as "redirectUris", is_registered as "isRegistered"`;

/** Returns a client that is known at this moment. Throws bad_request otherwise. */
export async function requireClient(
	client: Pick<Pool | PoolClient, "query">,
	id: string,
): Promise<OauthClient> {
	const { rows } = await client.query<OauthClient>(
		`select ${COLUMNS} from oauth_clients
		where id = $1 and (is_registered or known_at > now() - interval '1 hour')`,
		[id],
	);
	const [found] = rows;
	if (!found) {
		throw new AppError(
			"bad_request",
			"client_id names no known client; begin again in the program that you want to connect",
		);
	}
	return found;
}

/**
 * Returns the client with this id. Fetches its document if the id is an address and the document was
 * not fetched lately. Throws bad_request if there is no such client, and service_unavailable if too
 * many documents are being fetched for this user or for all.
 */
export async function findClient(
	{ pool, log, rule }: { pool: Pool; log: Logger; rule: OutgoingRule },
	id: string,
	{ userId, address }: Pick<Principal, "userId" | "address">,
): Promise<OauthClient> {
	if (!isDocumentAddress(id)) return requireClient(pool, id);
	const { rows } = await pool.query<OauthClient>(
		`select ${COLUMNS} from oauth_clients
		where id = $1 and known_at > now() - interval '${DOCUMENT_MINUTES} minutes'`,
		[id],
	);
	if (rows[0]) return rows[0];
	const { name, redirectUris } = await inTurn(userId, () =>
		fetchClientDocument(id, rule).catch((error: Error) => {
			const why = error.message;
			const reason = "CLIENT_DOCUMENT";
			logRefusedClient(log, { reason, clientId: id, address, why });
			throw error;
		}),
	);
	await pool.query(
		`insert into oauth_clients (id, name, redirect_uris, is_registered) values ($1, $2, $3, false)
		on conflict (id) do update
		set name = excluded.name, redirect_uris = excluded.redirect_uris, known_at = now()`,
		[id, name, redirectUris],
	);
	return { id, name, redirectUris, isRegistered: false };
}

/** Fetches a document. Throws service_unavailable if too many are being fetched. */
async function inTurn<Document>(
	user: string | null,
	fetchDocument: () => Promise<Document>,
): Promise<Document> {
	const own = fetching.filter((one) => one === user).length;
	if (fetching.length >= MAX_FETCHES || own >= MAX_FETCHES_OF_USER) {
		throw new AppError(
			"service_unavailable",
			"too many programs are being looked up at this moment; try again in a few seconds",
		);
	}
	fetching.push(user);
	try {
		return await fetchDocument();
	} finally {
		fetching.splice(fetching.indexOf(user), 1);
	}
}

/**
 * Registers a client (RFC 7591) and returns its id. Throws service_unavailable if too many clients
 * registered and were never connected.
 */
export async function registerClient(
	identityPool: Pool,
	{ name, redirectUris }: { name: string; redirectUris: string[] },
): Promise<string> {
	const id = `client_${randomBytes(18).toString("base64url")}`;
	const { rowCount } = await identityPool.query(
		`insert into oauth_clients (id, name, redirect_uris, is_registered)
		select $1, $2, $3, true
		where (
			select count(*) from oauth_clients where used_at is null and is_registered
		) < ${MAX_UNUSED_CLIENTS}`,
		[id, name, redirectUris],
	);
	if (rowCount === 0) {
		throw new AppError(
			"service_unavailable",
			"too many clients registered and were never connected; try again tomorrow, or use a Client ID Metadata Document",
		);
	}
	return id;
}

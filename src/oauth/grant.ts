import { hash, timingSafeEqual } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { transaction } from "../db/pool.ts";
import {
	type EventParts,
	noteAccountEvent,
} from "../sign-in/account-events.ts";
import type { From } from "../sign-in/exchange.ts";
import {
	hashSecret,
	isWellFormedSecret,
	makeSecret,
	makeSuccessor,
	startOf,
} from "../tokens/secret.ts";
import { isOurResource } from "./authorization-request.ts";
import { logRefusedClient, type OauthRefusal } from "./refusal-log.ts";

/** Seconds for which an access token works. */
export const ACCESS_SECONDS = 3600;
/**
 * Seconds for which the refresh token before the newest one still works. An app that lost the answer
 * to its request asks again with the same token.
 */
const REPEAT_SECONDS = 60;

/** An error of the token endpoint (RFC 6749, section 5.2). */
export class GrantError extends Error {
	readonly code:
		| "invalid_request"
		| "invalid_grant"
		| "invalid_target"
		| "unsupported_grant_type";

	constructor(code: GrantError["code"], message: string) {
		super(message);
		this.code = code;
	}
}

export interface TokenAnswer {
	access_token: string;
	token_type: "Bearer";
	expires_in: number;
	refresh_token: string;
	scope: string;
}

interface Found {
	token_id: string;
	user_id: string;
	name: string;
	client_id: string;
	redirect_uri: string;
	code_challenge: string;
	is_code_live: boolean;
	is_connected: boolean;
	is_live: boolean;
	is_repeated: boolean;
	is_current: boolean;
	is_former: boolean;
	read_only: boolean;
}

const FIND = `
	select a.token_id, t.user_id, t.name, a.client_id, a.redirect_uri, a.code_challenge, t.read_only,
		a.code_ends_at > now() as is_code_live, a.connected_at is not null as is_connected,
		t.revoked_at is null and t.expires_at > now() as is_live,
		a.refreshed_at > now() - interval '${REPEAT_SECONDS} seconds' as is_repeated,
		coalesce(a.refresh_hash = decode($1, 'hex'), false) as is_current,
		coalesce(a.former_refresh_hash = decode($1, 'hex'), false) as is_former
	from connected_apps a join api_tokens t on t.id = a.token_id`;

/** Finds the connection of a refresh token, also of one that was replaced long ago. */
const OF_REFRESH_TOKEN = `(
	a.refresh_hash = decode($1, 'hex') or a.former_refresh_hash = decode($1, 'hex')
	or a.refresh_start_hash = decode($2, 'hex')
)`;

/**
 * Exchanges the codes and refresh tokens of connected apps for access tokens. Each secret is stored
 * as its SHA-256. A code or a refresh token that is used a second time may have been stolen, so the
 * whole connection then ends (RFC 9700, sections 2.1.1 and 4.14.2). This includes every earlier
 * refresh token of the connection.
 */
export class Grants {
	readonly #parts: EventParts;
	readonly #baseUrl: string;

	constructor(parts: EventParts, baseUrl: string) {
		this.#parts = parts;
		this.#baseUrl = baseUrl;
	}

	/** Answers a request to the token endpoint. Throws a GrantError. */
	async exchange(form: URLSearchParams, from: From): Promise<TokenAnswer> {
		const given = readForm(form);
		if (!isOurResource(given.resource, this.#baseUrl)) {
			throw new GrantError("invalid_target", "resource is not this service");
		}
		if (given.grant_type === "authorization_code") {
			return this.#redeem(given, from);
		}
		if (given.grant_type === "refresh_token") return this.#refresh(given, from);
		throw new GrantError(
			"unsupported_grant_type",
			"grant_type must be authorization_code or refresh_token",
		);
	}

	/**
	 * Ends the connection whose access or refresh token is given (RFC 7009). Each refresh token that the
	 * connection ever had ends it, because an app may have lost the newest one. Unknown tokens change
	 * nothing. Throws a GrantError if there is no token, or if it is another client's.
	 */
	async revoke(form: URLSearchParams, from: From): Promise<void> {
		const given = readForm(form);
		const token = required(given, "token");
		const isAccess = isWellFormedSecret("oat", token);
		if (!isAccess && !isWellFormedSecret("ort", token)) return;
		const { pool } = this.#parts;
		const found = isAccess
			? await findOne(pool, "t.token_hash = decode($1, 'hex')", token)
			: await findOne(pool, OF_REFRESH_TOKEN, token, startOf("ort", token));
		if (!found) return;
		// A client has no secret. Whoever finds a leaked token may end it without naming the client.
		if (given.client_id !== undefined && given.client_id !== found.client_id) {
			throw new GrantError("invalid_grant", "the token is another client's");
		}
		await this.#end(found, from);
	}

	async #redeem(given: Form, from: From): Promise<TokenAnswer> {
		const code = required(given, "code");
		const verifier = required(given, "code_verifier");
		if (!isWellFormedSecret("oac", code)) throw unknownGrant("code");
		const answer = await transaction(this.#parts.pool, {}, async (client) => {
			const found = await findOne(
				client,
				"a.code_hash = decode($1, 'hex') for update of a, t",
				code,
			);
			if (!found) throw unknownGrant("code");
			if (found.client_id !== given.client_id) {
				this.#logRefusal("OTHER_CLIENT", found, from);
				throw unknownGrant("code");
			}
			if ((given.redirect_uri ?? found.redirect_uri) !== found.redirect_uri) {
				this.#logRefusal("REDIRECT_URI", found, from);
				throw unknownGrant("code");
			}
			if (found.is_connected) return found;
			if (!found.is_code_live || !found.is_live) throw unknownGrant("code");
			if (!isVerifierOf(found.code_challenge, verifier)) {
				this.#logRefusal("CODE_VERIFIER", found, from);
				throw new GrantError(
					"invalid_grant",
					"code_verifier does not belong to the code_challenge",
				);
			}
			await client.query(
				"update oauth_clients set used_at = now() where id = $1",
				[found.client_id],
			);
			return issue(client, found);
		});
		if ("access_token" in answer) return answer;
		await this.#end(answer, from, "CODE_REUSED");
		throw unknownGrant("code");
	}

	async #refresh(given: Form, from: From): Promise<TokenAnswer> {
		const token = required(given, "refresh_token");
		if (!isWellFormedSecret("ort", token)) throw unknownGrant("refresh_token");
		const answer = await transaction(this.#parts.pool, {}, async (client) => {
			const found = await findOne(
				client,
				`${OF_REFRESH_TOKEN} for update of a, t`,
				token,
				startOf("ort", token),
			);
			if (!found?.is_live) throw unknownGrant("refresh_token");
			if (found.client_id !== given.client_id) {
				this.#logRefusal("OTHER_CLIENT", found, from);
				throw unknownGrant("refresh_token");
			}
			const isGood = found.is_current || (found.is_former && found.is_repeated);
			return isGood ? issue(client, found, token) : found;
		});
		if ("access_token" in answer) return answer;
		await this.#end(answer, from, "REFRESH_TOKEN_REUSED");
		throw unknownGrant("refresh_token");
	}

	#logRefusal(
		reason: OauthRefusal,
		{ client_id }: Found,
		{ address }: From,
	): void {
		const { log } = this.#parts;
		logRefusedClient(log, { reason, clientId: client_id, address });
	}

	/** Ends a connection. Logs `reason` if somebody may have stolen a code or a refresh token. */
	async #end(found: Found, from: From, reason?: OauthRefusal): Promise<void> {
		const { token_id, user_id, name } = found;
		const { rowCount } = await this.#parts.pool.query(
			"update api_tokens set revoked_at = now() where id = $1 and revoked_at is null",
			[token_id],
		);
		if (rowCount === 0) return;
		if (reason) this.#logRefusal(reason, found, from);
		await noteAccountEvent(
			this.#parts,
			{ id: user_id },
			{
				operation: "revokeApiToken",
				outcome: "DONE",
				fields: {
					api_token: { before: name },
					status: { before: "ACTIVE", after: "REVOKED" },
				},
			},
			from,
		);
	}
}

async function findOne(
	client: Pick<Pool | PoolClient, "query">,
	condition: string,
	...secrets: string[]
): Promise<Found | undefined> {
	const { rows } = await client.query<Found>(
		`${FIND} where ${condition}`,
		secrets.map(hashSecret),
	);
	return rows[0];
}

/**
 * Gives the app a new access token and a new refresh token, which replace the former ones. All
 * refresh tokens of a connection begin with the same text, so an old one still identifies its
 * connection.
 */
async function issue(
	client: PoolClient,
	found: Found,
	presented?: string,
): Promise<TokenAnswer> {
	const access = makeSecret("oat");
	const refresh =
		presented === undefined
			? makeSecret("ort")
			: makeSuccessor("ort", presented);
	await client.query(
		`update api_tokens set token_hash = decode($2, 'hex'),
			secret_ends_at = now() + interval '${ACCESS_SECONDS} seconds'
		where id = $1`,
		[found.token_id, hashSecret(access)],
	);
	await client.query(
		// When the answer was lost, the token before the newest one stays the one that may be repeated.
		`update connected_apps set connected_at = coalesce(connected_at, now()),
			former_refresh_hash = case when $3 then former_refresh_hash else refresh_hash end,
			refreshed_at = case when $3 then refreshed_at else now() end,
			refresh_hash = decode($2, 'hex'), refresh_start_hash = decode($4, 'hex')
		where token_id = $1`,
		[
			found.token_id,
			hashSecret(refresh),
			found.is_former,
			hashSecret(startOf("ort", refresh)),
		],
	);
	return {
		access_token: access,
		token_type: "Bearer",
		expires_in: ACCESS_SECONDS,
		refresh_token: refresh,
		scope: found.read_only ? "read" : "read write",
	};
}

/** Compares a PKCE verifier with its challenge (RFC 7636, method S256). */
function isVerifierOf(challenge: string, verifier: string): boolean {
	if (!/^[\w.~-]{43,128}$/.test(verifier)) return false;
	const computed = hash("sha256", verifier, "base64url");
	return timingSafeEqual(Buffer.from(computed), Buffer.from(challenge));
}

const FIELDS = [
	"grant_type",
	"code",
	"code_verifier",
	"redirect_uri",
	"client_id",
	"refresh_token",
	"resource",
	"token",
] as const;
type Form = { [Name in (typeof FIELDS)[number]]?: string };

function readForm(form: URLSearchParams): Form {
	const given: Form = {};
	for (const name of FIELDS) {
		const values = form.getAll(name);
		if (values.length > 1) {
			throw new GrantError("invalid_request", `${name} is given twice`);
		}
		if (values[0]) given[name] = values[0];
	}
	return given;
}

function required(given: Form, name: keyof Form): string {
	const value = given[name];
	if (value === undefined) {
		throw new GrantError("invalid_request", `${name} is missing`);
	}
	return value;
}

function unknownGrant(name: string): GrantError {
	return new GrantError(
		"invalid_grant",
		`the ${name} is unknown, used, expired or revoked, or belongs to another client; connect the program again`,
	);
}

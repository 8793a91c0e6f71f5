import type { Pool } from "pg";
import { byteaArray } from "../db/array.ts";
import { AppError } from "../errors.ts";
import { ID_LENGTH } from "../id.ts";
import { Batcher } from "../load/batch.ts";
import type {
	ClosedMembership,
	Membership,
	Principal,
	Role,
} from "../principal.ts";
import { hashSecret, isShapedLike, isWellFormedSecret } from "./secret.ts";

/** The client program and the address of a request, for the audit log and the list of tokens. */
export interface From {
	client?: string | undefined;
	address?: string | undefined;
}

interface LookUp {
	/**
	 * Key of the look-up. Each request has another one, so that requests with the same token can
	 * share a batch.
	 */
	key: string;
	hash: string;
}

interface Row {
	/** Position of the token's hash in the list that was sent, counted from 1. */
	ordinal: number;
	token_id: string;
	token_name: string;
	user_id: string;
	user_name: string;
	/**
	 * "<organization id> <role>" for each membership, separated by commas, and more if it is narrowed.
	 * Empty if the user has no membership.
	 */
	memberships: string;
	read_only: boolean;
	/** The toolsets that the token may use. Null means all of them. */
	toolsets: string[] | null;
	/**
	 * The organizations of the user that accept only tokens that were made after a sign-in with their
	 * identity provider, separated by commas. Null: none.
	 */
	locked: string | null;
}

/** The part of the principal that is the same for all requests with the token. */
type Found = Pick<
	Principal,
	"userId" | "name" | "token" | "memberships" | "closed"
>;

function toFound(row: Row): Found {
	const memberships = row.memberships ? row.memberships.split(",") : [];
	return {
		userId: row.user_id,
		name: row.user_name,
		token: {
			id: row.token_id,
			name: row.token_name,
			...(row.read_only && { isReadOnly: true }),
			...(row.toolsets && { toolsets: row.toolsets }),
		},
		memberships: memberships.map(toMembership),
		...(row.locked && { closed: row.locked.split(",").map(toLocked) }),
	};
}

function toLocked(organizationId: string): ClosedMembership {
	return {
		organizationId,
		message:
			"this organization accepts only API tokens that were made after a sign-in with its identity provider; sign in with it, and make a new token",
	};
}

/** Reads "<id> <role>", or "<id> <role> <registers or *> <audit or ->" if it is narrowed. */
function toMembership(text: string): Membership {
	const [role = "", registers = "*", audit] = text
		.slice(ID_LENGTH + 1)
		.split(" ");
	return {
		organizationId: text.slice(0, ID_LENGTH),
		role: role as Role,
		...(registers !== "*" && { writableRegisters: registers.split("+") }),
		...(audit === "audit" && { readsAuditLog: true }),
	};
}

const SCHEME = "Bearer ";

/**
 * Finds the user of each API token, with the user's current roles. Requests that arrive together
 * share one statement, which is sent after they have arrived. Nothing is cached, so a revoked token
 * or an ended membership takes effect with the next request.
 *
 * Wrong tokens are not throttled. An invented token fails its checksum and needs no query. A token
 * with a right checksum cannot be guessed, because it has 238 random bits. A limit for each network
 * address would lock out a whole office because of one forgotten client.
 */
export class ApiTokens {
	readonly #batcher: Batcher<LookUp, Found | undefined>;
	#requests = 0;

	constructor(pool: Pool) {
		this.#batcher = new Batcher({
			name: "api_tokens",
			key: (item) => item.key,
			bytes: () => 128,
			maxBatchRows: 256,
			maxBatchBytes: 1 << 20,
			maxInFlight: 2,
			maxWaitingRows: 4096,
			maxWaitingBytes: 1 << 20,
			run: async (items) => {
				const hashes = [...new Set(items.map((item) => item.hash))];
				const { rows } = await pool.query<Row>({
					name: "authenticate_api_tokens",
					text: `
						select
							ordinal, token_id, token_name, user_id, user_name, memberships, read_only,
							toolsets, locked
						from authenticate_scoped_tokens($1)`,
					values: [byteaArray(hashes)],
				});
				const found = new Map(
					rows.map((row) => [hashes[row.ordinal - 1], toFound(row)]),
				);
				return items.map((item) => found.get(item.hash));
			},
		});
	}

	/**
	 * Returns the caller whose token is in an Authorization header. Throws an AppError. The code is
	 * unauthorized, with a message that begins with "missing:", "malformed:" or "invalid:", or it is
	 * service_unavailable.
	 */
	async authenticate(
		header: string | undefined,
		from: From,
	): Promise<Principal> {
		const token = readToken(header);
		const found = await this.#batcher.add({
			key: String(this.#requests++),
			hash: hashSecret(token),
		});
		if (!found) {
			throw new AppError(
				"unauthorized",
				"invalid: the API token is unknown, revoked or expired; make a new one in the console under Settings, API tokens, or with `assay api-token create`",
			);
		}
		return {
			kind: "TOKEN",
			...found,
			...(from.client === undefined ? {} : { client: from.client }),
			...(from.address === undefined ? {} : { address: from.address }),
		};
	}

	/** Returns true while a further look-up would be turned away. */
	isFull(): boolean {
		return this.#batcher.isFull();
	}

	/** Resolves when no look-up is waiting or running. */
	idle(): Promise<void> {
		return this.#batcher.idle();
	}
}

/**
 * Returns the token of a header that is exactly "Bearer <token>". Throws unauthorized otherwise.
 * This needs no query.
 */
function readToken(header: string | undefined): string {
	if (header === undefined || header === "") {
		throw new AppError(
			"unauthorized",
			"missing: send the header `Authorization: Bearer <API token>`",
		);
	}
	const token = header.slice(SCHEME.length);
	const isToken =
		isWellFormedSecret("pat", token) || isWellFormedSecret("oat", token);
	if (header.startsWith(SCHEME) && !isToken && isShapedLike("pat", token)) {
		throw new AppError(
			"unauthorized",
			"malformed: the API token was mistyped or changed: its last 6 characters are a checksum and do not match the rest; copy the whole token again",
		);
	}
	if (!header.startsWith(SCHEME) || !isToken) {
		throw new AppError(
			"unauthorized",
			"malformed: the Authorization header must be exactly `Bearer <API token>`, with one space and the whole token (asy_pat_ and 46 letters and digits)",
		);
	}
	return token;
}

import type { AuditEvent } from "../audit/events.ts";
import type { AccountEvent } from "../audit/log.ts";
import { MAX_CLIENT_LENGTH, type Principal } from "../principal.ts";
import type { EventParts } from "./account-events.ts";
import { ADDRESS_HEADER } from "./address-header.ts";
import type { AuthParts, makeAuth } from "./better-auth.ts";

export type Auth = ReturnType<typeof makeAuth>;

/** The client program and the network address that a request comes from, if they are known. */
export type From = Pick<Principal, "client" | "address">;

export function fromOf(headers: Headers): From {
	const client = headers.get("user-agent")?.slice(0, MAX_CLIENT_LENGTH);
	const address = headers.get(ADDRESS_HEADER);
	return { ...(client && { client }), ...(address && { address }) };
}

/** The account that a request is about, as far as it is known before the request is answered. */
export interface Subject {
	whose: { email: string } | { id: string };
	/** The session that sent the request. Undefined while somebody signs in. */
	sessionId?: string;
	hasSecondFactor: boolean;
	/** True if the session reaches only the organization of its identity provider. */
	isConfined?: boolean;
}

/**
 * An event of an account: its name, whether the action succeeded, and details. The details never
 * contain secrets.
 */
export type Event = Omit<AccountEvent, "user">;

/** A request below /api/auth while it passes through the steps of its route. */
export interface Exchange {
	readonly parts: AuthParts & EventParts;
	readonly auth: Auth;
	/** The headers with only our own cookies. Each cookie was sent exactly once. */
	readonly headers: Headers;
	/**
	 * The account that the request is about. A route that needs a user answers 401 if there is none.
	 */
	readonly subject: Subject;
	/** The session that the browser already has when it signs in again. */
	readonly replacedSessionId?: string | undefined;
	/** Name of the event that is recorded when too many attempts were made. */
	readonly operation: AuditEvent;
	/** The body of the request. A step may replace it before better-auth reads it. */
	body: Record<string, unknown>;
	/** Records an event in the audit log and does not wait for the entry. */
	noteLater(event: Event): void;
	/** Registers `work`, which runs if the request succeeds. */
	onSuccess(work: (response: Response) => Promise<unknown>): void;
	/** Registers `work`, which runs if the request fails or is rejected. */
	onFailure(work: () => Promise<unknown>): void;
}

/**
 * One step of a route. A step that returns a response answers the request, and no later step runs.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most steps return nothing.
export type Step = (exchange: Exchange) => Promise<Response | void>;

/** The users that may send a request to a route, or that the request concerns. */
export type Who =
	/** Anybody, with or without a session. */
	| "anybody"
	/** A user named by the address in the body, whether or not an account has that address. */
	| "address"
	/** Anybody. The answer is ours and the same for everybody. */
	| "stranger"
	/** A user named by the passkey in the body, whether or not anybody has this passkey. */
	| "passkey"
	/** Somebody with a session. */
	| "session"
	/** Somebody with a session, or somebody who has given the right password but not yet a code. */
	| "session or half signed in";

export interface Route {
	who: Who;
	/** True if a stranger can have a password hashed. Such requests wait for their turn. */
	takesTurns?: true;
	/** Steps that run, one after the other, before better-auth answers. */
	before?: readonly Step[];
	/** Answers the request instead of better-auth. */
	answer?: (exchange: Exchange) => Promise<Response>;
	/** Steps that run, one after the other, after the request has succeeded. */
	after?: readonly Step[];
	/**
	 * Name of the event that is recorded when too many attempts were made. The default is "signIn".
	 */
	operation?: AuditEvent;
	/** Returns the event for the audit log, or undefined if there is nothing to record. */
	event?: (
		exchange: Exchange,
		response: Response,
	) => Promise<Event | undefined>;
}

/**
 * Returns the id of the user that a request concerns. Throws if the request came neither from a
 * session nor from a half-finished sign-in.
 */
export function userIdOf({ subject }: Exchange): string {
	if ("id" in subject.whose) return subject.whose.id;
	throw new Error("the request names an e-mail address and no user");
}

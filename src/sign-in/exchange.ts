import type { AuditEvent } from "../audit/events.ts";
import type { AccountEvent } from "../audit/log.ts";
import { MAX_CLIENT_LENGTH, type Principal } from "../principal.ts";
import type { EventParts } from "./account-events.ts";
import { ADDRESS_HEADER } from "./address-header.ts";
import type { AuthParts, makeAuth } from "./better-auth.ts";

export type Auth = ReturnType<typeof makeAuth>;

/** Where a request comes from, as far as it is known. */
export type From = Pick<Principal, "client" | "address">;

export function fromOf(headers: Headers): From {
	const client = headers.get("user-agent")?.slice(0, MAX_CLIENT_LENGTH);
	const address = headers.get(ADDRESS_HEADER);
	return { ...(client && { client }), ...(address && { address }) };
}

/** Whose account a request is about, as known before it is answered. */
export interface Subject {
	whose: { email: string } | { id: string };
	/** The session that asks; undefined while somebody signs in. */
	sessionId?: string;
	hasSecondFactor: boolean;
}

/** The name of an event of an account, whether it succeeded, and details that are never secrets. */
export type Event = Omit<AccountEvent, "user">;

/** One request below /api/auth on its way through the steps of its route. */
export interface Exchange {
	readonly parts: AuthParts & EventParts;
	readonly auth: Auth;
	/** With our own cookies alone, each verified to have been sent once. */
	readonly headers: Headers;
	/** The subject of the request. A route that needs a user answers 401 without one. */
	readonly subject: Subject;
	/** The session that the browser has while it signs in again. */
	readonly replacedSessionId?: string | undefined;
	/** The event that the audit log gets when attempts are throttled. */
	readonly operation: AuditEvent;
	/** A step may replace it before better-auth reads it. */
	body: Record<string, unknown>;
	/** Notes an event in the audit log without waiting for the entry. */
	noteLater(event: Event): void;
	/** Runs after the request succeeded. */
	onSuccess(work: (response: Response) => Promise<unknown>): void;
	/** Runs after the request failed or was rejected. */
	onFailure(work: () => Promise<unknown>): void;
}

/** Part of a route. A step that returns a response answers the request; nothing after it runs. */
// biome-ignore lint/suspicious/noConfusingVoidType: most steps return nothing.
export type Step = (exchange: Exchange) => Promise<Response | void>;

/** The user that a request must come from or concern. */
export type Who =
	/** Anybody, with or without a session. */
	| "anybody"
	/** The address in the body, whether or not somebody has it. */
	| "address"
	/** Somebody with a session. */
	| "session"
	/** Somebody with a session, or with a right password and a code still missing. */
	| "session or half signed in";

export interface Route {
	who: Who;
	/** Runs in order, before better-auth is asked. */
	before?: readonly Step[];
	/** Answers in better-auth's place. */
	answer?: (exchange: Exchange) => Promise<Response>;
	/** Runs in order, after the request succeeded. */
	after?: readonly Step[];
	/** The event's name while attempts are throttled; "signIn" when absent. */
	operation?: AuditEvent;
	/** Says what the audit log gets; undefined: nothing. */
	event?: (
		exchange: Exchange,
		response: Response,
	) => Promise<Event | undefined>;
}

/**
 * Returns the id of the user whom a request of a session, or of a half-finished sign-in, concerns.
 */
export function userIdOf({ subject }: Exchange): string {
	if ("id" in subject.whose) return subject.whose.id;
	throw new Error("the request is about an address, not about a user");
}

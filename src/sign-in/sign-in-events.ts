import type { AuditEvent } from "../audit/events.ts";
import type { Event, Exchange, Route } from "./exchange.ts";

type MakeEvent = NonNullable<Route["event"]>;

/**
 * Returns the event of a password: the password was wrong, it was right, or it was right and a code
 * is still needed.
 */
export const passwordSignInEvent: MakeEvent = async (_exchange, response) => {
	const outcome = await outcomeOf(response);
	if (!outcome) return undefined;
	const operation = (await waitsForCode(response)) ? "beginSignIn" : "signIn";
	return { operation, outcome, fields: {} };
};

/** Returns the event of a code of the second factor, which was right or wrong. */
export function codeEvent(factor: "TOTP" | "RECOVERY_CODE"): MakeEvent {
	return async ({ subject }, response) => {
		const outcome = await outcomeOf(response);
		if (!outcome) return undefined;
		if (!subject.sessionId) {
			const fields = { second_factor: { after: factor } };
			return { operation: "signIn", outcome, fields };
		}
		// Within a session, the first right code switches the second factor on. Other codes are not
		// recorded.
		return outcome === "DONE" && !subject.hasSecondFactor
			? { operation: "enableTwoFactor", outcome, fields: {} }
			: undefined;
	};
}

/** Returns the event of a sign-in with a passkey, alone or after the password. */
export function passkeyEvent(after: "ALONE" | "PASSWORD"): MakeEvent {
	return async (_exchange, response) => {
		const outcome = await outcomeOf(response);
		const fields =
			after === "ALONE"
				? { way: { after: "PASSKEY" } }
				: { second_factor: { after: "PASSKEY" } };
		return outcome && { operation: "signIn", outcome, fields };
	};
}

export const addPasskeyEvent: MakeEvent = async (_exchange, response) => {
	if (!response.ok) return undefined;
	const { name } = (await response.clone().json()) as { name: string };
	return {
		operation: "addPasskey",
		outcome: "DONE",
		fields: { passkey: { after: name } },
	};
};

export const changePasswordEvent: MakeEvent = async ({ body }, response) => {
	const outcome = await outcomeOf(response);
	if (!outcome) return undefined;
	const fields =
		body.revokeOtherSessions === true
			? { other_sessions: { after: "ENDED" } }
			: {};
	return { operation: "changePassword", outcome, fields };
};

/** Returns an event without details. */
export function simpleEvent(operation: AuditEvent): MakeEvent {
	return async (_exchange, response) => {
		const outcome = await outcomeOf(response);
		return outcome && { operation, outcome, fields: {} };
	};
}

/** Wraps `makeEvent` so that it returns an event only for a request that failed. */
export function rejectedOnly(makeEvent: MakeEvent): MakeEvent {
	return async (exchange, response) =>
		response.ok ? undefined : makeEvent(exchange, response);
}

/**
 * Returns the event that too many attempts were made and further ones are not checked for a while.
 * The event is recorded once in each `window`, so that nobody can fill the audit log with it.
 */
export function throttledEvent(
	{ operation }: Pick<Exchange, "operation">,
	window: string,
): Event {
	return {
		operation,
		outcome: "REFUSED",
		fields: { throttled: { after: window } },
	};
}

/**
 * Returns DONE if the request succeeded, and REFUSED if it failed because of a wrong password or
 * code, or a passkey. Returns undefined for malformed and throttled requests. The audit log has no
 * entries about them, because anybody could fill it with them.
 */
async function outcomeOf(
	response: Response,
): Promise<Event["outcome"] | undefined> {
	if (response.ok) return "DONE";
	if (response.status === 401) return "REFUSED";
	const body = (await response.clone().json()) as Record<string, unknown>;
	return body.code === "INVALID_PASSWORD" || body.code === "INVALID_PASSKEY"
		? "REFUSED"
		: undefined;
}

async function waitsForCode(response: Response): Promise<boolean> {
	if (!response.ok) return false;
	const body = (await response.clone().json()) as Record<string, unknown>;
	return body.twoFactorRedirect === true;
}

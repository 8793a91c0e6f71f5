import type { Pool } from "pg";
import type { Logger } from "pino";
import { type AccountEvent, appendAccountEvent } from "../audit/log.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { From } from "./exchange.ts";
import type { PasswordRule } from "./password-sign-in.ts";
import { noteSignInPlace } from "./sign-in-places.ts";
import { findUser } from "./users.ts";

export interface EventParts extends PasswordRule {
	/** A pool that acts as assay_identity. */
	pool: Pool;
	/** A pool that acts as assay_app, the role that may add to the audit log. */
	appPool: Pool;
	log: Logger;
	/** Sends mails. Undefined if the service sends none. */
	mail?: Mailer | undefined;
}

/**
 * Records an event of an account in the audit log of every organization of its user, in one
 * transaction. If no account has the address, nothing is recorded. If the event is a sign-in that
 * succeeded, the user gets a mail if the browser or the network is new.
 *
 * If the entry cannot be written, the sign-in still succeeds and the service logs an error with the
 * name of the lost event. Wrong passwords that were throttled are not recorded, so nobody can fill
 * the audit log by guessing.
 */
export async function noteAccountEvent(
	{ pool, appPool, log, mail }: EventParts,
	whose: { email: string } | { id: string },
	event: Omit<AccountEvent, "user">,
	from: From,
): Promise<void> {
	try {
		const user = await findUser(pool, whose);
		if (!user) return;
		await appendAccountEvent(
			appPool,
			{
				kind: "USER",
				userId: user.id,
				name: user.name,
				memberships: [],
				...from,
			},
			{ ...event, user },
			user.memberships.map((membership) => membership.organization_id),
		);
		if (event.operation === "signIn" && event.outcome === "DONE") {
			await noteSignInPlace({ pool, mail }, user.id, from);
		}
	} catch (err) {
		log.error(
			{ err, operation: event.operation },
			"could not write an event of an account to the audit log",
		);
	}
}

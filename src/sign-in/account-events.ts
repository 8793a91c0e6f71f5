import type { Pool } from "pg";
import type { Logger } from "pino";
import { type AccountEvent, appendAccountEvent } from "../audit/log.ts";
import type { From } from "./exchange.ts";
import { findUser } from "./users.ts";

export interface EventParts {
	/** As assay_identity. */
	pool: Pool;
	/** As assay_app, which may add to the audit log. */
	appPool: Pool;
	log: Logger;
}

/**
 * Notes what happened with an account in the audit log of every organization of its user: one
 * transaction, and none for an address that nobody has. It never fails: whoever signed in is
 * signed in, and a lost entry is in the log. Wrong passwords beyond the throttle are not noted,
 * so nobody fills the audit log by guessing.
 */
export async function noteAccountEvent(
	{ pool, appPool, log }: EventParts,
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
	} catch (err) {
		log.error(
			{ err, operation: event.operation },
			"an event of an account is missing in the audit log",
		);
	}
}

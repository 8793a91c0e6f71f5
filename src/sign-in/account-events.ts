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
 * Records an event of an account in the audit log of every organization of its user, in one
 * transaction. An address without an account needs none. A failure does not undo the sign-in, and
 * the service's log has the lost entry. Wrong passwords beyond the throttle are not recorded, so
 * nobody fills the audit log by guessing.
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

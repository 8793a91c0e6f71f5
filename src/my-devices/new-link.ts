import type { Pool } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import type { Mailer } from "../mail/mailer.ts";
import { queueMail } from "../mail/queue.ts";
import { IS_MEMBER } from "../organizations/person-of-member.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { countAttempt, QUARTER } from "../sign-in/sign-in-throttle.ts";
import { isWellFormedSecret } from "../tokens/secret.ts";
import { findMyDevicesLink } from "./links.ts";
import { chooseMailable } from "./mail-limits.ts";

/** Largest number of mails that a person can cause in 15 minutes. */
const MAX_MAILS = 3;

export interface NewLinkParts {
	/** A pool that acts as assay_identity. */
	pool: Pool;
	appPool: Pool;
	mail?: Mailer | undefined;
	log: Logger;
}

/**
 * Mails a new link to the person who got an earlier link. The answer to every token
 * is the same and takes the same time. Throws bad_request if the service sends no mail.
 */
export function requestNewLink(parts: NewLinkParts, token: string): void {
	const { mail, log } = parts;
	if (!mail) {
		throw new AppError(
			"bad_request",
			"this service sends no mail; ask your administrator for a new link",
		);
	}
	if (!isWellFormedSecret("myd", token)) return;
	mailNewLink(parts, mail, token).catch((err) =>
		log.error({ err }, "could not mail a link to a person's devices"),
	);
}

async function mailNewLink(
	{ pool, appPool }: NewLinkParts,
	mail: Mailer,
	token: string,
): Promise<void> {
	const found = await findMyDevicesLink(appPool, token);
	if (!found) return;
	const { organization_id: organizationId, id } = found;
	const peopleId = await withTenant(appPool, organizationId, async (client) => {
		const { rows } = await client.query<{ people_id: string }>(
			`select l.people_id from my_devices_links l
			join people p on p.organization_id = l.organization_id and p.id = l.people_id
			where l.organization_id = $1 and l.id = $2 and ${IS_STAFF}`,
			[organizationId, id],
		);
		return rows[0]?.people_id;
	});
	if (!peopleId) return;
	const { waitSeconds } = await countAttempt(pool, `my devices ${peopleId}`, {
		allowed: MAX_MAILS,
		window: QUARTER,
	});
	if (waitSeconds > 0) return;
	await withTenant(appPool, organizationId, async (client) => {
		const { rows } = await client.query<{ is_member: boolean }>(
			`select ${IS_MEMBER} as is_member from people p where p.organization_id = $1 and p.id = $2`,
			[organizationId, peopleId],
		);
		const [mailable] = await chooseMailable(client, rows);
		if (!mailable) return;
		await queueMail(client, {
			kind: "MY_DEVICES",
			organizationId,
			peopleId,
			isToMember: mailable.is_member,
		});
	});
	mail.wake();
}

import { createHmac, timingSafeEqual } from "node:crypto";
import type { Pool } from "pg";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { ID_LENGTH, parseId } from "../id.ts";

/**
 * The mails that a person may stop: the weekly ones, and those about comments. Nobody can stop urgent
 * mails.
 */
export const STOPPABLE = ["DEVICE_DIGEST", "OVERDUE_WORK", "COMMENTS"] as const;
export type Stoppable = (typeof STOPPABLE)[number];

interface Stop {
	organizationId: string;
	peopleId: string;
	kind: Stoppable;
}

/**
 * Returns the token of a link that stops mails of a person. The signature proves that
 * the service made it, so nothing has to be stored, and the link in an old mail still works.
 */
export function makeStopToken(secret: string, stop: Stop): string {
	const { organizationId, peopleId, kind } = stop;
	return `${organizationId}.${peopleId}.${kind}.${signatureOf(secret, stop)}`;
}

function signatureOf(secret: string, stop: Stop): string {
	const { organizationId, peopleId, kind } = stop;
	return createHmac("sha256", secret)
		.update(`stop mails ${organizationId} ${peopleId} ${kind}`)
		.digest("base64url");
}

/** Returns what a token stops. Throws bad_request unless the service has made it. */
function readStopToken(secrets: readonly string[], token: string): Stop {
	const [organizationId = "", peopleId = "", kind, signature = ""] =
		token.length > 4 * ID_LENGTH + 20 ? [] : token.split(".");
	const known = STOPPABLE.find((one) => one === kind);
	if (parseId(organizationId) && parseId(peopleId) && known) {
		const stop = { organizationId, peopleId, kind: known };
		const given = Buffer.from(signature);
		for (const secret of secrets) {
			const right = Buffer.from(signatureOf(secret, stop));
			if (given.length === right.length && timingSafeEqual(given, right)) {
				return stop;
			}
		}
	}
	throw new AppError(
		"bad_request",
		"the link is not complete; copy the whole link from the mail, or ask your administrator to stop the mails",
	);
}

/** Stops the mails that a token names, or starts them again. */
export async function stopMails(
	appPool: Pool,
	secrets: readonly string[],
	token: string,
	isStopped: boolean,
): Promise<{ kind: Stoppable; is_stopped: boolean }> {
	const { organizationId, peopleId, kind } = readStopToken(secrets, token);
	await withTenant(appPool, organizationId, (client) =>
		isStopped
			? client.query(
					`insert into notification_stops (organization_id, people_id, kind)
					select p.organization_id, p.id, $3 from people p
					where p.organization_id = $1 and p.id = $2
					on conflict do nothing`,
					[organizationId, peopleId, kind],
				)
			: client.query(
					"delete from notification_stops where organization_id = $1 and people_id = $2 and kind = $3",
					[organizationId, peopleId, kind],
				),
	);
	return { kind, is_stopped: isStopped };
}

/**
 * Returns the headers with which a mail program offers to stop the mails with one click (RFC 8058).
 * The program sends a POST request, so fetching the address stops nothing.
 */
export function stopHeaders(
	baseUrl: string,
	token: string,
): Record<string, string> {
	return {
		"List-Unsubscribe": `<${baseUrl}/api/stop-mails?token=${token}>`,
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	};
}

/** Returns the address of the page that stops the mails after a click on its button. */
export function stopUrl(baseUrl: string, token: string): string {
	return `${baseUrl}/stop-mails#${token}`;
}

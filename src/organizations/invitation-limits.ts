import { takeTransactionLocks } from "../db/transaction-locks.ts";
import { AppError, badFields } from "../errors.ts";
import type { Context } from "../operation.ts";
import { MAX_OPEN } from "./max-invitations.ts";

/**
 * Maximum number of invitations to one address in a day. It applies to each organization, and to
 * each user over all organizations. Somebody who does not react does not want more mails.
 */
export const MAX_OF_ADDRESS_A_DAY = 5;
/**
 * Maximum number of invitations that one user may make in a day. It includes all organizations and
 * revoked invitations. All invitations of one file count once.
 */
const MAX_OF_USER_A_DAY = 100;
/**
 * Maximum number of invitations that the service mails in a day for one user, and for all users
 * together, who are neither member nor admin of an organization that was made on the server.
 * Further invitations have a link to pass on.
 */
const MAX_MAILS_OF_USER_A_DAY = 5;
const MAX_MAILS_OF_ALL_A_DAY = 50;

/** Returns true if the service may mail one more invitation of the caller today. */
export async function mayMail({ client }: Context): Promise<boolean> {
	const { rows } = await client.query<{ may: boolean }>(
		"select may_mail_invitation($1, $2) as may",
		[MAX_MAILS_OF_USER_A_DAY, MAX_MAILS_OF_ALL_A_DAY],
	);
	return rows[0]?.may ?? false;
}

/**
 * Throws bad_request if there are too many invitations. An earlier invitation to the same address
 * does not count as open, because the new one replaces it.
 */
export async function rejectTooMany(
	{ client, membership, principal }: Context,
	email: string,
): Promise<void> {
	await takeTurn(client, membership, principal);
	const { rows } = await client.query<{
		open: number;
		of_address: number;
		sent: number;
		of_user: number;
	}>(
		`select
			count(*) filter (where accepted_at is null and revoked_at is null)::integer as open,
			count(*) filter (where email = $2 and created_at > now() - interval '1 day')::integer as of_address,
			invitations_sent($2) as sent,
			invitations_sent_today() as of_user
		from invitations where organization_id = $1`,
		[membership.organizationId, email],
	);
	const [count] = rows;
	if (
		Math.max(count?.of_address ?? 0, count?.sent ?? 0) >= MAX_OF_ADDRESS_A_DAY
	) {
		throw badFields([
			{
				field: "email",
				message: `was invited ${MAX_OF_ADDRESS_A_DAY} times within a day, which is the maximum; try again tomorrow, or send the last link yourself`,
			},
		]);
	}
	rejectUser(count?.of_user ?? 0);
	if ((count?.open ?? 0) >= MAX_OPEN) {
		throw new AppError(
			"bad_request",
			`the organization has ${MAX_OPEN} open invitations, which is the maximum; revoke one that is no longer needed`,
		);
	}
}

/**
 * Throws bad_request if the caller has invited too often today. Returns the number of open
 * invitations of the organization.
 */
export async function rejectBulk({
	client,
	membership,
	principal,
}: Context): Promise<number> {
	await takeTurn(client, membership, principal);
	const { rows } = await client.query<{ open: number; of_user: number }>(
		`select count(*) filter (where accepted_at is null and revoked_at is null)::integer as open,
			invitations_sent_today() as of_user
		from invitations where organization_id = $1`,
		[membership.organizationId],
	);
	rejectUser(rows[0]?.of_user ?? 0);
	return rows[0]?.open ?? 0;
}

function rejectUser(sentToday: number): void {
	if (sentToday < MAX_OF_USER_A_DAY) return;
	throw new AppError(
		"bad_request",
		`you have sent ${MAX_OF_USER_A_DAY} invitations within a day, which is the maximum; try again tomorrow`,
	);
}

/**
 * Lets the calls of a user, and those in an organization, follow each other, so that each counts the
 * invitations before it.
 */
function takeTurn(
	client: Context["client"],
	{ organizationId }: Context["membership"],
	{ userId }: Context["principal"],
): Promise<void> {
	return takeTransactionLocks(
		client,
		`invitations ${userId}`,
		`invitations ${organizationId}`,
	);
}

import { appendChanges } from "../../audit/log.ts";
import { withTenant } from "../../db/pool.ts";
import type { Compose } from "../../mail/mailer.ts";
import { nameInMail } from "../../mail/message.ts";
import { mailAdministrators } from "../../organizations/mail-administrators.ts";
import type { EventParts } from "../account-events.ts";
import type { From } from "../exchange.ts";
import { countAttempt, DAY } from "../sign-in-throttle.ts";

/** Largest number of sign-ins of one emergency account that are mailed in a day. */
const MAX_MAILED_A_DAY = 20;

/**
 * Records that a session reaches an organization with an emergency account, and mails the other
 * administrators. This happens once for a session, with its first request that reaches the
 * organization. If it fails, the request fails too, so nobody gets in unnoticed.
 */
export async function noteEmergencySignIn(
	{ pool, appPool, mail }: EventParts,
	organizationId: string,
	{
		user,
		sessionId,
		from,
	}: { user: { id: string; name: string }; sessionId: string; from: From },
): Promise<void> {
	const { waitSeconds } = await countAttempt(
		pool,
		`mails about emergency sign-ins: ${organizationId} ${user.id}`,
		{ allowed: MAX_MAILED_A_DAY, window: DAY },
	);
	const isNew = await withTenant(appPool, organizationId, async (client) => {
		const { rowCount } = await client.query(
			`insert into emergency_sign_ins (organization_id, session_id, user_id) values ($1, $2, $3)
			on conflict do nothing`,
			[organizationId, sessionId, user.id],
		);
		// Another request of the session has noted it at the same moment.
		if (rowCount === 0) return false;
		await appendChanges(
			client,
			{
				kind: "USER",
				userId: user.id,
				name: user.name,
				memberships: [],
				...from,
			},
			"useEmergencyAccount",
			organizationId,
			[
				{
					kind: "user",
					id: user.id,
					name: user.name,
					fields: {},
					organizationId,
				},
			],
		);
		if (mail && waitSeconds === 0) {
			const mail = { kind: "EMERGENCY_SIGN_IN", organizationId } as const;
			await mailAdministrators(client, mail, user.id);
		}
		return true;
	});
	if (isNew) mail?.wake();
}

/** Makes the mail that tells an administrator who used an emergency account in the last day. */
export const composeEmergencySignIn: Compose = async (
	{ pool, baseUrl },
	{ id, user_id },
) => {
	const { rows } = await pool.query<{
		email: string;
		organization_id: string;
		organization_name: string;
		name: string;
		at: string;
	}>(
		`select t.email, o.id as organization_id, o.name as organization_name, u.name,
			to_char(s.used_at at time zone 'UTC', 'FMDD FMMonth YYYY "at" HH24:MI') as at
		from mails m
		join organizations o on o.id = m.organization_id
		join memberships a on a.organization_id = m.organization_id and a.user_id = m.user_id
		join users t on t.id = m.user_id
		join emergency_sign_ins s on s.organization_id = m.organization_id and s.user_id <> m.user_id
			and s.used_at > m.created_at - interval '1 day' and s.used_at <= m.created_at
		join users u on u.id = s.user_id
		where m.id = $1 and m.user_id = $2 and a.role = 'admin'
		order by s.used_at desc limit 20`,
		[id, user_id],
	);
	const [found] = rows;
	if (!found) return null;
	const organization = nameInMail(found.organization_name);
	const uses = rows.map(({ name, at }) => `${nameInMail(name)}, on ${at} UTC`);
	return {
		to: found.email,
		subject: `Emergency account used in ${organization} on Assay`,
		text: `${organization} accepts only its identity provider. Somebody reached it with an emergency account, without the provider:

${uses.join("\n")}

If you expected this, do nothing. If not, remove the emergency account under Settings, Sign-in. Its sessions then no longer reach the organization. The audit log says from where it was used:

${baseUrl}/o/${found.organization_id}/settings/audit-log
`,
	};
};

import type { Pool } from "pg";
import type { ClosedMembership, Membership, Role } from "../principal.ts";
import { domainOf } from "../records/mail-address.ts";
import type { From } from "./exchange.ts";
import { MAX_SESSION_DAYS, SESSION_DAYS } from "./session-lifetime.ts";

/** Limits of the idle time that an organization can set, in minutes. */
export const IDLE_MINUTES = { min: 5, max: SESSION_DAYS * 24 * 60 };
/** Limits of the age that an organization can set, in hours. */
export const AGE_HOURS = { min: 1, max: MAX_SESSION_DAYS * 24 };

/** How long a session may be used in an organization. Null: only the service's own limits apply. */
export interface SessionLimits {
	session_idle_minutes: number | null;
	session_max_hours: number | null;
}

interface Row extends SessionLimits {
	organization_id: string;
	name: string;
	role: Role;
	writable_registers: string[] | null;
	reads_audit_log: boolean;
	is_too_idle: boolean | null;
	is_too_old: boolean | null;
	vouched_for: string | null;
	/** True if the organization accepts only its provider, and no provider of it vouched. */
	is_unvouched: boolean;
	is_emergency_member: boolean;
	/**
	 * True if the session began with a passkey or a password, and the user has two-factor
	 * authentication on. Without it, whoever knows the password could begin a session and then add a
	 * factor of their own.
	 */
	is_strong: boolean;
	is_noted: boolean;
}

/** The organizations that a session reaches at this moment, and those that it no longer reaches. */
export interface Reach {
	memberships: Membership[];
	/**
	 * The organizations for which the session is too old or was not used for too long, or that accept
	 * only their identity provider.
	 */
	closed: ClosedMembership[];
	/** The organization whose identity provider vouched for the user of the session. */
	signInOrganizationId?: string;
	/** The organizations in which the session's use of an emergency account is not noted yet. */
	unnoted: string[];
}

/**
 * Notes that the session is used, and returns the memberships of its user that the session reaches.
 *
 * Users belong to several organizations with different limits. A session that exceeds the limits of
 * one stays valid for the others. The time without use that counts is the longest one since the
 * sign-in, because otherwise the request that comes too late would make the next one valid again.
 *
 * This is one statement, because every request of the console runs it. It writes at most once a
 * minute, or when the session is used from elsewhere. All its parts see the session as it was
 * before.
 */
export async function reachOfSession(
	pool: Pool,
	{
		sessionId,
		userId,
		email,
		from,
		isAttended,
	}: {
		sessionId: string;
		userId: string;
		email: string;
		from: From;
		/** False for a request that the console sends by itself, which is no use of the session. */
		isAttended: boolean;
	},
): Promise<Reach> {
	const { rows } = await pool.query<Row>({
		name: "reach_of_session",
		text: `
			with used as (
				update sessions set
					last_used_at = now(),
					longest_idle = greatest(longest_idle, now() - last_used_at),
					last_address = $3,
					last_user_agent = $4
				where id = $2 and $5 and (
					last_used_at < now() - interval '1 minute'
					or last_address is distinct from $3 or last_user_agent is distinct from $4
				)
			)
			select m.organization_id, o.name, m.role, m.writable_registers, m.reads_audit_log,
				o.session_idle_minutes, o.session_max_hours,
				greatest(s.longest_idle, now() - s.last_used_at)
					> make_interval(mins => o.session_idle_minutes) as is_too_idle,
				now() - s.created_at > make_interval(hours => o.session_max_hours) as is_too_old,
				v.organization_id as vouched_for,
				r.since is not null and v.organization_id is distinct from m.organization_id as is_unvouched,
				e.user_id is not null and m.role = 'admin' as is_emergency_member,
				s.provider is null and exists (
					select from users u where u.id = m.user_id and u.two_factor_enabled
				) as is_strong,
				r.since is not null and e.user_id is not null and exists (
					select from emergency_sign_ins x
					where x.organization_id = m.organization_id and x.session_id = s.id
				) as is_noted
			from memberships m
			join organizations o on o.id = m.organization_id
			join sessions s on s.id = $2 and s.user_id = m.user_id
			left join sign_in_rules r on r.organization_id = m.organization_id
			left join emergency_members e
				on e.organization_id = m.organization_id and e.user_id = m.user_id
			left join lateral (
				select p.organization_id from identity_providers p where p.id = s.identity_provider_id
				union all
				-- The installation's provider.
				select d.organization_id from organization_domains d
				where s.provider is not null and s.identity_provider_id is null
					and d.domain = $6 and d.verified_at is not null
			) v on true
			where m.user_id = $1
				and (m.ends_on is null or is_live_membership(m.organization_id, m.ends_on))
			order by m.organization_id`,
		values: [
			userId,
			sessionId,
			from.address ?? null,
			from.client ?? null,
			isAttended,
			domainOf(email),
		],
	});
	const reached = rows.filter((row) => !isOver(row) && !isLockedOut(row));
	const vouchedFor = rows[0]?.vouched_for;
	return {
		memberships: reached.map((row) => ({
			organizationId: row.organization_id,
			role: row.role,
			...(row.writable_registers && {
				writableRegisters: row.writable_registers,
			}),
			...(row.reads_audit_log && { readsAuditLog: true }),
			...(row.is_unvouched && { isEmergency: true }),
		})),
		closed: rows
			.filter((row) => isOver(row) || isLockedOut(row))
			.map((row) => ({
				organizationId: row.organization_id,
				message: messageOf(row),
				why: isLockedOut(row) ? ("PROVIDER" as const) : ("SESSION" as const),
			})),
		...(vouchedFor && { signInOrganizationId: vouchedFor }),
		unnoted: reached
			.filter((row) => row.is_unvouched && !row.is_noted)
			.map((row) => row.organization_id),
	};
}

function isOver({ is_too_idle, is_too_old }: Row): boolean {
	return is_too_idle === true || is_too_old === true;
}

/**
 * Returns true if the organization accepts only its identity provider, and not this session. An
 * emergency account gets in with its passkey or its password while its second factor is on. A sign-in
 * with somebody else's provider does not open it.
 */
function isLockedOut({
	is_unvouched,
	is_emergency_member,
	is_strong,
}: Row): boolean {
	return is_unvouched && !(is_emergency_member && is_strong);
}

function messageOf(row: Row): string {
	if (isLockedOut(row)) {
		return `${row.name} accepts only its identity provider; sign in with it${row.is_emergency_member ? ", or with your emergency account and two-factor authentication," : ""} to continue there`;
	}
	const limit = row.is_too_old
		? `${durationWords((row.session_max_hours ?? 0) * 60)} after the sign-in`
		: `after ${durationWords(row.session_idle_minutes ?? 0)} without use`;
	return `${row.name} ends sessions ${limit}; sign in again to continue there`;
}

/** Returns a duration in the largest unit that fits, such as "90 minutes" or "12 hours". */
export function durationWords(minutes: number): string {
	for (const [unit, size] of [
		["day", 24 * 60],
		["hour", 60],
	] as const) {
		if (minutes % size !== 0) continue;
		const count = minutes / size;
		return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
	}
	return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

import { AppError, badFields } from "../../errors.ts";
import type { Context } from "../../operation.ts";
import { findPeopleOf } from "../../organizations/person-of-member.ts";
import type { DeviceException } from "./exception-record.ts";

/**
 * Days for which an administrator cannot bypass the rule of two people by switching it off, or by
 * choosing the mailbox that gets the link of a person. The audit log says when that was.
 */
const TRACE_DAYS = 30;

/** Words of the audit log for an approval without a second person. */
export type ApprovedAlone = "the only administrator" | "the requester";

interface Approval {
	/** Says, for the caller, why somebody else has to approve the exception. */
	refusal?: string;
	/** Words for the audit log if the caller would approve without a second person. */
	alone?: ApprovedAlone;
}

/**
 * Throws forbidden if somebody else has to approve the exception. If the caller approves without a
 * second person, returns the words for the audit log. An administrator who copied the link may
 * approve only if the organization has no other administrator. Throws bad_request if that approval
 * has no note.
 */
export async function requireMayApprove(
	context: Context,
	exception: DeviceException,
	note: string | undefined,
): Promise<ApprovedAlone | undefined> {
	const { refusal, alone } = await findApproval(context, exception);
	if (refusal) {
		throw new AppError("forbidden", `permission denied: ${refusal}`);
	}
	if (alone === "the only administrator" && note === undefined) {
		throw badFields([
			{
				field: "note",
				message:
					"is required, because you copied the link by which this exception was requested and there is no other administrator",
			},
		]);
	}
	return alone;
}

/** Decides whether the caller, who is an administrator, may approve the exception. */
export async function findApproval(
	context: Context,
	exception: DeviceException,
): Promise<Approval> {
	const { userId } = context.principal;
	if (userId === null) return {};
	const hasCopiedLink = userId === exception.link_copied_by_id;
	const isRequester = await isOwnRequest(context, exception, userId);
	const influence =
		isRequester || hasCopiedLink
			? undefined
			: await findInfluence(context, exception, userId);
	if (!hasCopiedLink && !isRequester && !influence) return {};
	const { needs_two, switched_off_on, has_others } = await readRule(
		context,
		userId,
	);
	const refuse = (why: string) => ({
		refusal: `${why}${has_others ? "" : "; invite one first"}`,
	});
	const needsTwo =
		exception.needs_two_people || needs_two || switched_off_on !== null;
	if (hasCopiedLink && (has_others || needsTwo)) {
		return refuse(
			"you copied the link by which this exception was requested, so another administrator has to approve it",
		);
	}
	if (needsTwo) {
		const did = influence ?? "you requested this exception";
		return refuse(
			needs_two || exception.needs_two_people
				? `${did}, and the device policy ${needs_two ? "demands" : "demanded at that time"} that another administrator approves it`
				: `${did}, and you switched the rule of two people off on ${switched_off_on}, so for ${TRACE_DAYS} days another administrator has to approve it`,
		);
	}
	if (hasCopiedLink) return { alone: "the only administrator" };
	return isRequester ? { alone: "the requester" } : {};
}

/** Two people of the register with the caller's address are both the caller. */
async function isOwnRequest(
	{ client, membership }: Context,
	{ requested_by, requested_by_person_id }: DeviceException,
	userId: string,
): Promise<boolean> {
	if (!requested_by_person_id) return requested_by?.user_id === userId;
	const own = await findPeopleOf(client, membership.organizationId, userId);
	return own.includes(requested_by_person_id);
}

/**
 * Returns in words what the caller did that may have brought the person's link into the caller's
 * own mailbox, or undefined. The caller set the person's address less than TRACE_DAYS before the
 * request. Or the caller was the last to set it, at any time, and gave the device to the person in
 * these days.
 */
async function findInfluence(
	{ client, membership }: Context,
	{ requested_by_person_id, device_id, created_at }: DeviceException,
	userId: string,
): Promise<string | undefined> {
	if (!requested_by_person_id) return undefined;
	const { rows } = await client.query<{ day: string }>(
		`with set_by as (
			select e.at, e.actor_id, row_number() over (order by e.id desc) as nth
			from audit_entries e
			where e.organization_id = $1 and e.record_id = $3 and e.outcome = 'DONE'
				and e.changes ? 'primary_email_address'
		), early as (
			select $5::timestamptz - ${TRACE_DAYS} * interval '1 day' as at
		)
		select to_char(s.at, 'YYYY-MM-DD') as day
		from set_by s, early
		where s.actor_id = $2 and (s.at > early.at or s.nth = 1 and exists (
			select from audit_entries d
			where d.organization_id = $1 and d.record_id = $4 and d.actor_id = $2 and d.outcome = 'DONE'
				and d.changes #>> '{owner_id,after}' = $3 and d.at > early.at
		))
		order by s.at desc limit 1`,
		[
			membership.organizationId,
			userId,
			requested_by_person_id,
			device_id,
			created_at,
		],
	);
	return (
		rows[0] && `you set the address of the person who asked on ${rows[0].day}`
	);
}

interface Rule {
	/** True if the device policy demands two people now. */
	needs_two: boolean;
	/** The day on which the caller switched that off, if it was less than TRACE_DAYS ago. */
	switched_off_on: string | null;
	/** True if the organization has another administrator. */
	has_others: boolean;
}

async function readRule(
	{ client, membership }: Context,
	userId: string,
): Promise<Rule> {
	const { rows } = await client.query<Rule>(
		`select
			exists (
				select from device_policies where organization_id = $1 and exceptions_need_two_people
			) as needs_two,
			(
				select to_char(max(e.at), 'YYYY-MM-DD') from audit_entries e
				where e.organization_id = $1 and e.record_id = $1 and e.record_kind = 'device_policy'
					and e.actor_id = $2 and e.outcome = 'DONE'
					and e.changes #>> '{exceptions_need_two_people,before}' = 'true'
					and e.at > now() - ${TRACE_DAYS} * interval '1 day'
			) as switched_off_on,
			exists (
				select from memberships m
				where m.organization_id = $1 and m.role = 'admin' and m.user_id <> $2
					and is_live_membership(m.organization_id, m.ends_on)
			) as has_others`,
		[membership.organizationId, userId],
	);
	return (
		rows[0] ?? { needs_two: true, switched_off_on: null, has_others: true }
	);
}

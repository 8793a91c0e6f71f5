import { withTenant } from "../db/pool.ts";
import { IS_LATE, SIGN_WITHIN_DAYS } from "../documents/late-signatures.ts";
import { noteReminders } from "../documents/reach.ts";
import { makeSignToken, signUrl } from "../documents/sign-link.ts";
import { type IdKind, kindNoun } from "../id.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { dueDates } from "../records/due-dates.ts";
import { namedKinds } from "../records/searchable-kinds.ts";
import { findRecipient } from "./recipient.ts";
import { makeStopToken, stopHeaders, stopUrl } from "./stop-link.ts";

/** Most records that a mail lists. */
const MAX_LISTED = 50;

interface Overdue {
	kind: IdKind;
	id: string;
	name: string | null;
	field: string;
	due_on: string;
	/** The request to sign that is overdue. Null for other work. */
	signature_id: string | null;
}

/** SQL for the documents that people were asked to sign a week ago or earlier. */
const UNSIGNED = `select 'document' as kind, v.document_id as id, s.person_id as people_id,
		left(v.title, 200) as name, 'signature' as field,
		(s.requested_at at time zone (select time_zone from organizations where id = $1))::date
			+ ${SIGN_WITHIN_DAYS} as due_on, s.id as signature_id
	from document_signatures s
	join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
	where s.organization_id = $1 and s.person_id is not null
		and ${IS_LATE}`;

/**
 * SQL for the overdue work of the organization $1: the person who answers for it, and the record.
 * It covers due dates, reviews, expiries and requests to sign.
 */
export function overdueWork(): string {
	const selects = dueDates.flatMap(({ kind, date, person, open }) => {
		const named = namedKinds.find((one) => one.kind === kind.kind);
		if (!named) return [];
		return `select '${kind.kind}' as kind, t.id, t.${person} as people_id,
				left(${named.nameOf("t")}, 200) as name, '${date}' as field, t.${date} as due_on,
				null::typed_id as signature_id
			from ${kind.table} t
			where t.organization_id = $1 and t.${person} is not null and t.${date} < ${TODAY}
				and ${open}`;
	});
	return [...selects, UNSIGNED].join(" union all ");
}

const MEANINGS: Readonly<Record<string, string>> = {
	signature: "to be signed by",
	valid_until: "valid until",
	renewal_notice_date: "notice until",
	starts_on: "to begin on",
	accepted_until: "accepted until",
};

/** Says what a date means, such as "next review on". */
function whatIsDue(field: string): string {
	if (field.startsWith("next_review_")) return "next review on";
	return MEANINGS[field] ?? "due on";
}

/** Makes the weekly mail about overdue work. Returns null if nothing is overdue any more. */
export const composeOverdueWork: Compose = async (parts, mail) => {
	const { organization_id: organizationId, people_id: peopleId } = mail;
	if (!organizationId || !peopleId) return null;
	const { appPool, baseUrl, secret } = parts;
	const { recipient, work, toSign } = await withTenant(
		appPool,
		organizationId,
		async (client) => {
			const { rows: work } = await client.query<Overdue>(
				`select w.kind, w.id, w.name, w.field, w.due_on::text as due_on, w.signature_id
				from (${overdueWork()}) w
				where w.people_id = $2 order by w.due_on, w.id, w.field limit $3`,
				[organizationId, peopleId, MAX_LISTED + 1],
			);
			const recipient = await findRecipient(client, mail);
			const listed = recipient ? work.slice(0, MAX_LISTED) : [];
			const toSign = await noteReminders(
				client,
				organizationId,
				listed.flatMap(({ signature_id: id }) => id ?? []),
			);
			return { recipient, work, toSign };
		},
	);
	if (!recipient || work.length === 0) return null;
	/**
	 * Address at which the person does the work. Somebody without an account needs a link to sign.
	 */
	const urlOf = ({ kind, id, signature_id: signatureId }: Overdue): string => {
		const page = `${baseUrl}/o/${organizationId}/r/${kind}/${id}`;
		const signing = signatureId && toSign.get(signatureId);
		if (!signing) return page;
		if (signing.reach !== "LINK") return `${page}?show=${signing.version_id}`;
		const request = { organizationId, signatureId };
		return signUrl(baseUrl, makeSignToken(secret, request, recipient.email));
	};
	const stop = makeStopToken(secret, {
		organizationId,
		peopleId,
		kind: "OVERDUE_WORK",
	});
	const lines = work.slice(0, MAX_LISTED).map((one) => {
		const noun = kindNoun(one.kind);
		return `- ${noun.charAt(0).toUpperCase()}${noun.slice(1)} "${nameInMail(one.name ?? "")}", ${whatIsDue(one.field)} ${one.due_on}: ${urlOf(one)}`;
	});
	if (work.length > MAX_LISTED) lines.push("- and more");
	return {
		to: recipient.email,
		subject: `Overdue work at ${recipient.organization}`,
		text: `Hello ${recipient.name},

you answer for this work at ${recipient.organization}, and it is overdue:

${lines.join("\n")}

This mail comes once a week, and only if something is overdue. Stop it here:

${stopUrl(baseUrl, stop)}
`,
		headers: stopHeaders(baseUrl, stop),
	};
};

import { withTenant } from "../db/pool.ts";
import { type IdKind, kindNoun } from "../id.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { namedKinds } from "../records/searchable-kinds.ts";
import { recordKinds } from "../registers/all.ts";
import { findRecipient } from "./recipient.ts";
import { makeStopToken, stopHeaders, stopUrl } from "./stop-link.ts";

/** Most records that a mail lists. */
const MAX_LISTED = 50;

interface Overdue {
	kind: IdKind;
	id: string;
	name: string | null;
	due_on: string;
}

/**
 * SQL for the overdue work of the organization $1: the person who answers for it, and the record.
 * It covers every register whose records have a due date.
 */
export function overdueWork(): string {
	const selects = recordKinds.flatMap(({ kind, table, due, fields }) => {
		const owner = Object.entries(fields).find(
			([, { reference, join }]) => reference === "people" && !join,
		)?.[0];
		const named = namedKinds.find((one) => one.kind === kind);
		if (!due || !owner || !named) return [];
		return `select '${kind}' as kind, t.id, t.${owner} as people_id,
				left(${named.nameOf("t")}, 200) as name, t.${due.date} as due_on
			from ${table} t
			where t.organization_id = $1 and t.${owner} is not null and t.${due.date} < ${TODAY}
				and t.${due.done.field} <> '${due.done.value}'`;
	});
	return selects.join(" union all ");
}

/** Makes the weekly mail about overdue work. Returns null if nothing is overdue any more. */
export const composeOverdueWork: Compose = async (parts, mail) => {
	const { organization_id: organizationId, people_id: peopleId } = mail;
	if (!organizationId || !peopleId) return null;
	const { appPool, baseUrl, secret } = parts;
	const { recipient, work } = await withTenant(
		appPool,
		organizationId,
		async (client) => {
			const { rows } = await client.query<Overdue>(
				`select w.kind, w.id, w.name, w.due_on::text as due_on from (${overdueWork()}) w
				where w.people_id = $2 order by w.due_on, w.id limit $3`,
				[organizationId, peopleId, MAX_LISTED + 1],
			);
			return { recipient: await findRecipient(client, mail), work: rows };
		},
	);
	if (!recipient || work.length === 0) return null;
	const stop = makeStopToken(secret, {
		organizationId,
		peopleId,
		kind: "OVERDUE_WORK",
	});
	const lines = work.slice(0, MAX_LISTED).map(({ kind, id, name, due_on }) => {
		const noun = kindNoun(kind);
		return `- ${noun.charAt(0).toUpperCase()}${noun.slice(1)} "${nameInMail(name ?? "")}", due on ${due_on}: ${baseUrl}/o/${organizationId}/r/${kind}/${id}`;
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

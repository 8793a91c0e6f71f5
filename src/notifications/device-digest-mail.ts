import type { PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import { checkStates } from "../devices/check-states.ts";
import { checkName } from "../devices/device-record.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { linkForMail } from "../my-devices/link-mail.ts";
import { dayIn } from "../organizations/time-zone.ts";
import { findRecipient } from "./recipient.ts";
import { makeStopToken, stopHeaders, stopUrl } from "./stop-link.ts";

/** Most failing checks that a mail lists. */
const MAX_LISTED = 30;

interface Failing {
	device: string | null;
	check_key: string;
	state: "FAILING" | "IN_GRACE";
	since: string;
	grace_until: string;
}

/** Reads the checks that fail on a person's devices at this moment, the oldest failure first. */
async function readFailing(
	client: PoolClient,
	organizationId: string,
	peopleId: string,
): Promise<Failing[]> {
	const { rows } = await client.query<Failing>(
		`select coalesce(d.name, d.hostname) as device, c.check_key, c.state, c.since, c.grace_until
		from (${checkStates({
			ids: "array(select x.id::text from devices x where x.organization_id = $1 and x.owner_id = $2)",
		})}) c
		join devices d on d.organization_id = $1 and d.id = c.device_id
		where c.state in ('FAILING', 'IN_GRACE')
		order by c.since, c.check_key limit $3`,
		[organizationId, peopleId, MAX_LISTED + 1],
	);
	return rows;
}

/**
 * Makes the weekly mail for the owner of devices. Returns null if no check fails any more, because
 * nobody needs a mail without news.
 */
export const composeDeviceDigest: Compose = async (parts, mail) => {
	const { organization_id: organizationId, people_id: peopleId } = mail;
	if (!organizationId || !peopleId) return null;
	const { appPool, baseUrl, secret } = parts;
	const { recipient, failing } = await withTenant(
		appPool,
		organizationId,
		async (client) => ({
			recipient: await findRecipient(client, mail),
			failing: await readFailing(client, organizationId, peopleId),
		}),
	);
	if (!recipient || failing.length === 0) return null;
	const link = await linkForMail(
		parts,
		mail,
		organizationId,
		peopleId,
		recipient.email,
	);
	const stop = makeStopToken(secret, {
		organizationId,
		peopleId,
		kind: "DEVICE_DIGEST",
	});
	const lines = failing
		.slice(0, MAX_LISTED)
		.map((one) => lineOf(one, recipient.timeZone));
	if (failing.length > MAX_LISTED) lines.push("- and more");
	return {
		to: recipient.email,
		subject: `${failing.length === 1 ? "One check" : "Several checks"} on your devices at ${recipient.organization}`,
		text: `Hello ${recipient.name},

these checks fail on devices that you use at ${recipient.organization}:

${lines.join("\n")}

${
	link
		? `How to fix them, without an account:

${link}`
		: "Open the link that you got with this mail before, or ask for a new one."
}

This mail comes once a week, and only if a check fails. Stop it here:

${stopUrl(baseUrl, stop)}
`,
		headers: stopHeaders(baseUrl, stop),
	};
};

function lineOf(
	{ device, check_key, state, since, grace_until }: Failing,
	timeZone: string,
) {
	const day = (time: string) => dayIn(timeZone, time);
	const name = nameInMail(device ?? "Device without a name");
	const check = nameInMail(checkName(check_key) ?? check_key);
	const until =
		state === "IN_GRACE" ? `, fix it until ${day(grace_until)}` : "";
	return `- ${name}: ${check} fails since ${day(since)}${until}`;
}

import type { PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import type { CheckState } from "../devices/check-states.ts";
import { readPostures } from "../devices/device-postures.ts";
import { checkName } from "../devices/device-record.ts";
import { readDeviceThresholds } from "../devices/device-thresholds.ts";
import { readCheckStates } from "../devices/read-check-states.ts";
import { explain } from "../devices/remediation/remediation.ts";
import type { Compose, TakenMail } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { linkForMail } from "../my-devices/link-mail.ts";
import { dayIn } from "../organizations/time-zone.ts";
import { findRecipient } from "./recipient.ts";

/** Most failures that a mail lists. */
const MAX_LISTED = 30;

/** States in which a failure is over, although its nonconformity does not know yet. */
const IS_OVER: CheckState[] = [
	"PASSING",
	"NOT_APPLICABLE",
	"EXCEPTED",
	"IN_GRACE",
];

interface Failure {
	position: string;
	device_id: string;
	device: string | null;
	platform: string | null;
	check_key: string;
	failing_since: string;
}

interface Told extends Failure {
	remediation: string | undefined;
}

/**
 * Reads the failures that a mail is about and that still last. A failure that has ended before the
 * mail is sent leaves the mail, so its owner is told if it comes back.
 */
async function readFailures(
	client: PoolClient,
	organizationId: string,
	mail: TakenMail,
): Promise<Told[]> {
	const { rows } = await client.query<Failure>(
		`select f.position::text, f.device_id, coalesce(d.name, d.hostname) as device, d.platform,
			f.check_key, f.failing_since
		from nonconformity_devices f
		join devices d on d.organization_id = $1 and d.id = f.device_id and d.owner_id = $3
			and d.status = 'ACTIVE'
		where f.organization_id = $1 and f.alert_mail_id = $2 and f.until is null
		order by f.check_key, f.failing_since, f.position limit ${MAX_LISTED + 1}`,
		[organizationId, mail.id, mail.people_id],
	);
	const ids = [...new Set(rows.map(({ device_id }) => device_id))];
	const states = await readCheckStates(client, organizationId, ids);
	const postures = await readPostures(client, organizationId, ids, {
		isList: false,
		withEvidence: true,
	});
	const limits = await readDeviceThresholds(client, organizationId, ids);
	const told = rows.flatMap((failure) => {
		const { device_id, check_key, platform } = failure;
		const state = states.get(device_id)?.checks.get(check_key)?.check_state;
		if (state === undefined || IS_OVER.includes(state)) return [];
		const shown = postures.get(device_id)?.shown ?? [];
		const posture = shown.find((one) => one.check_key === check_key);
		const { remediation } = posture
			? explain({ ...posture, platform }, shown, limits.get(device_id))
			: {};
		return { ...failure, remediation };
	});
	const over = rows.filter((row) =>
		told.every((one) => one.position !== row.position),
	);
	await client.query(
		`update nonconformity_devices set alert_mail_id = null
		where organization_id = $1 and alert_mail_id = $2
			and (until is not null or position = any ($3::bigint[]))`,
		[organizationId, mail.id, over.map(({ position }) => position)],
	);
	return told;
}

/**
 * Makes the mail that tells the owner of devices at once what fails and how to fix it. Returns null
 * if nothing fails any more.
 */
export const composeDeviceAlert: Compose = async (parts, mail) => {
	const { organization_id: organizationId, people_id: peopleId } = mail;
	if (!organizationId || !peopleId) return null;
	const { recipient, failures } = await withTenant(
		parts.appPool,
		organizationId,
		async (client) => ({
			recipient: await findRecipient(client, mail),
			failures: await readFailures(client, organizationId, mail),
		}),
	);
	if (!recipient || failures.length === 0) return null;
	const link = await linkForMail(
		parts,
		mail,
		organizationId,
		peopleId,
		recipient.email,
	);
	// Devices that need the same steps share them.
	const groups = Map.groupBy(
		failures.slice(0, MAX_LISTED),
		({ check_key, remediation }) => `${check_key} ${remediation}`,
	);
	const blocks = [...groups.values()].map((group) =>
		blockOf(group, recipient.timeZone),
	);
	if (failures.length > MAX_LISTED) blocks.push("More checks fail besides.");
	const [first] = failures as [Told];
	const checks = new Set(failures.map(({ check_key }) => check_key));
	return {
		to: recipient.email,
		subject: `Fix now: ${checks.size === 1 ? nameOf(first.check_key) : `${checks.size} checks`} on your devices at ${recipient.organization}`,
		text: `Hello ${recipient.name},

devices that you use at ${recipient.organization} fail checks that matter most. The time to fix them is over.

${blocks.join("\n\n")}

${
	link
		? `Your devices, without an account:

${link}`
		: "To see your devices, open the link that you got with this mail before, or ask for a new one."
}

You get this mail once for each failure. It is urgent, so it cannot be stopped.
`,
	};
};

function blockOf(failures: Told[], timeZone: string): string {
	const [{ check_key, remediation }] = failures as [Told];
	const devices = failures.map(
		({ device, failing_since }) =>
			`- ${nameInMail(device ?? "Device without a name")}, since ${dayIn(timeZone, failing_since)}`,
	);
	const fix = remediation ? `\n\nHow to fix it: ${remediation}` : "";
	return `${nameOf(check_key)}\n${devices.join("\n")}${fix}`;
}

const nameOf = (checkKey: string) =>
	nameInMail(checkName(checkKey) ?? checkKey);

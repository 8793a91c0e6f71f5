import { z } from "zod";
import { deviceId } from "../devices/device-record.ts";
import { AppError } from "../errors.ts";
import { queueMail } from "../mail/queue.ts";
import { type Context, defineOperation } from "../operation.ts";
import { IS_MEMBER } from "../organizations/person-of-member.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { organizationId } from "../records/list-pages.ts";
import { makeSecret } from "../tokens/secret.ts";
import { findPeopleWithWaitingLink } from "./link-mail.ts";
import { myDevicesUrl, storeMyDevicesLink } from "./links.ts";
import {
	chooseMailable,
	MAX_MAILS_OF_ORGANIZATION_A_DAY,
} from "./mail-limits.ts";

const MAX_DEVICES_OF_CALL = 500;

const admin = {
	toolset: "fleet",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

const WHY_SKIPPED = ["NOT_FOUND", "REVOKED", "NO_OWNER", "OWNER_LEFT"] as const;

interface Owned {
	device_id: string;
	people_id: string | null;
	full_name: string | null;
	why: (typeof WHY_SKIPPED)[number] | null;
	is_member: boolean;
}

/** Finds the owner who gets the link for each device, or the reason why there is none. */
async function findOwners(
	{ client, membership }: Context,
	deviceIds: string[],
): Promise<Owned[]> {
	const { rows } = await client.query<Owned>(
		`select g.id as device_id, p.id as people_id, p.full_name,
			case
				when d.id is null then 'NOT_FOUND'
				when d.status = 'REVOKED' then 'REVOKED'
				when p.id is null then 'NO_OWNER'
				when not ${IS_STAFF} then 'OWNER_LEFT'
			end as why,
			coalesce(${IS_MEMBER}, false) as is_member
		from unnest($2::text[]) with ordinality g (id, place)
		left join devices d on d.organization_id = $1 and d.id = g.id
		left join people p on p.organization_id = $1 and p.id = d.owner_id
		order by g.place`,
		[membership.organizationId, deviceIds],
	);
	return rows;
}

export const sendMyDevicesLinks = defineOperation({
	...admin,
	name: "sendMyDevicesLinks",
	title: "Send links to people's own devices",
	description:
		"Mail a link to the owner of each device. It opens a page with that person's own devices, what fails and how to fix it, without an account. An owner of several devices gets one mail.",
	input: z.strictObject({
		organization_id: organizationId(),
		device_ids: z.array(deviceId()).min(1).max(MAX_DEVICES_OF_CALL),
	}),
	output: z.object({
		people: z.array(z.object({ id: z.string(), full_name: z.string() })),
		skipped: z.array(
			z.object({ device_id: z.string(), reason: z.enum(WHY_SKIPPED) }),
		),
	}),
	run: async (context, { device_ids }) => {
		const { client, membership, services } = context;
		const { organizationId } = membership;
		if (!services.mail) {
			throw new AppError(
				"bad_request",
				"this service sends no mail; copy the link on the device's page, and pass it on yourself",
			);
		}
		if (!services.secret) throw new Error("the service has no secret");
		const owned = await findOwners(context, device_ids);
		const waiting = await findPeopleWithWaitingLink(
			client,
			services.secret,
			organizationId,
			owned.flatMap(({ people_id }) => people_id ?? []),
		);
		const people = new Map<string, string>();
		const mailed: Owned[] = [];
		for (const one of owned) {
			const { why, people_id, full_name } = one;
			if (why || !people_id || people.has(people_id)) continue;
			people.set(people_id, full_name ?? "");
			if (!waiting.has(people_id)) mailed.push(one);
		}
		const mailable = await chooseMailable(client, mailed);
		if (mailable.length < mailed.length) {
			throw new AppError(
				"bad_request",
				`for an organization that was made in the console, the service sends at most ${MAX_MAILS_OF_ORGANIZATION_A_DAY} mails a day to people who are not members; copy the links on the devices' pages, and pass them on yourself`,
			);
		}
		for (const { people_id, full_name, is_member } of mailed) {
			await queueMail(client, {
				kind: "MY_DEVICES",
				organizationId,
				peopleId: people_id as string,
				isToMember: is_member,
			});
			context.changed({
				kind: "people",
				id: people_id as string,
				name: full_name,
				fields: { link: { after: "MAILED" } },
			});
		}
		context.afterCommit(() => services.mail?.wake());
		return {
			people: [...people].map(([id, full_name]) => ({ id, full_name })),
			skipped: owned.flatMap(({ device_id, why }) =>
				why ? [{ device_id, reason: why }] : [],
			),
		};
	},
});

const REASONS: Record<(typeof WHY_SKIPPED)[number], string> = {
	NOT_FOUND: "is not a device of this organization",
	REVOKED: "is a revoked device",
	NO_OWNER: "is a device without an owner; set its owner first",
	OWNER_LEFT: "is a device whose owner's contract has ended; set another owner",
};

export const copyMyDevicesLink = defineOperation({
	...admin,
	name: "copyMyDevicesLink",
	title: "Copy a link to a person's own devices",
	description:
		"Make a link for the owner of a device that you pass on yourself. It works once. What the person asks for through it is marked, because you have seen the link.",
	input: z.strictObject({
		organization_id: organizationId(),
		device_id: deviceId(),
	}),
	output: z.object({
		link: z.string().describe("Shown only now"),
		full_name: z.string(),
		expires_at: z.string(),
	}),
	run: async (context, { device_id }) => {
		const { client, membership, principal, services } = context;
		const { organizationId } = membership;
		const [owned] = await findOwners(context, [device_id]);
		if (!owned || owned.why || !owned.people_id) {
			throw new AppError(
				owned?.why === "NOT_FOUND" ? "not_found" : "bad_request",
				`${device_id} ${REASONS[owned?.why ?? "NOT_FOUND"]}`,
			);
		}
		const token = makeSecret("myd");
		const expires_at = await storeMyDevicesLink(client, {
			organizationId,
			peopleId: owned.people_id,
			token,
			copiedBy: { userId: principal.userId },
		});
		context.changed({
			kind: "people",
			id: owned.people_id,
			name: owned.full_name,
			fields: { link: { after: "COPIED" } },
		});
		return {
			link: myDevicesUrl(services.baseUrl, token),
			full_name: owned.full_name ?? "",
			expires_at,
		};
	},
});

export const myDevicesOperations = [
	sendMyDevicesLinks,
	copyMyDevicesLink,
] as const;

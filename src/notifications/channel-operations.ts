import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { requireMailServer } from "../mail/operations.ts";
import { type Context, defineOperation } from "../operation.ts";
import { requireAllowedHost } from "../outgoing/outgoing-address.ts";
import { organizationId } from "../records/list-pages.ts";
import { nameSchema } from "../records/text-schemas.ts";
import { sealText } from "../sign-in/sealed-text.ts";
import { webAddress } from "../webhooks/operations.ts";
import {
	CHANNEL_KINDS,
	CHAT_KINDS,
	type ChannelKind,
	hasDigest,
	isChat,
	TOLD_EVENTS,
	USUAL_EVENTS,
} from "./channel-kinds.ts";
import {
	admin,
	type Channel,
	COLUMNS,
	channel,
	noteChange,
	one,
	readChannel,
} from "./channel-record.ts";
import { nextDigest } from "./next-digest.ts";

const MAX_CHATS = 20;

const given = {
	name: nameSchema(200).describe("Name of the channel"),
	address: webAddress().describe(
		"Address of the chat's incoming webhook, for SLACK and TEAMS",
	),
	event_types: z
		.array(z.enum(TOLD_EVENTS))
		.max(TOLD_EVENTS.length)
		.describe("Events that the channel tells"),
	digest_weekday: z
		.int()
		.min(1)
		.max(7)
		.describe("Day of the weekly mail: 1 is Monday, 7 is Sunday"),
};

export const listNotificationChannels = defineOperation({
	...admin,
	name: "listNotificationChannels",
	title: "List notification channels",
	description:
		"List who is told what: people by mail, and teams in their chats.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({
		sends_mail: z.boolean().describe("false: the service has no mail server"),
		channels: z.array(channel),
	}),
	run: async ({ client, membership, services }) => {
		const { rows } = await client.query<Channel>(
			`select ${COLUMNS} from notification_channels where organization_id = $1 order by created_at, id`,
			[membership.organizationId],
		);
		return { sends_mail: services.mail !== undefined, channels: rows };
	},
});

export const addNotificationChannel = defineOperation({
	...admin,
	name: "addNotificationChannel",
	title: "Add a notification channel",
	description:
		"Tell people or a team what happens: DEVICE_OWNERS and OVERDUE_WORK get a weekly mail, DEVICE_OWNERS also one at once when a device joins a nonconformity of severity MAJOR, ADMINISTRATORS get mails about events, SLACK and TEAMS get messages in a chat.",
	input: z.strictObject({
		organization_id: organizationId(),
		kind: z.enum(CHANNEL_KINDS),
		name: given.name,
		address: given.address.optional(),
		event_types: given.event_types.optional(),
		digest_weekday: given.digest_weekday.optional(),
	}),
	output: z.object({ channel }),
	run: async (
		context,
		{ kind, name, address, event_types, digest_weekday },
	) => {
		const { client, membership, services } = context;
		const { organizationId } = membership;
		checkFields(kind, { address, event_types, digest_weekday });
		if (isChat(kind) && address === undefined) {
			throw badFields([
				{ field: "address", message: `is required for ${kind}` },
			]);
		}
		if (!isChat(kind)) requireMailServer(services.mail);
		if (address !== undefined) {
			requireAllowedHost("address", address, services.outgoingRule);
		}
		await requireRoomFor(context, kind);
		const id = makeId(organizationId, "notification_channel");
		const events = hasDigest(kind) ? [] : (event_types ?? USUAL_EVENTS);
		const { rows } = await client.query<Channel>(
			`insert into notification_channels (
				organization_id, id, kind, name, sealed_address, address_host, event_types,
				digest_weekday, next_digest_at
			) values ($1, $2, $3, $5, $6, $7, $8, $4, case when $4::integer is not null then ${nextDigest("$4")} end)
			returning ${COLUMNS}`,
			[
				organizationId,
				id,
				kind,
				hasDigest(kind) ? (digest_weekday ?? 1) : null,
				name,
				address === undefined ? null : seal(context, address, id),
				address === undefined ? null : new URL(address).host,
				events,
			],
		);
		const added = rows[0] as Channel;
		noteChange(context, undefined, added);
		return { channel: added };
	},
});

export const updateNotificationChannel = defineOperation({
	...admin,
	name: "updateNotificationChannel",
	title: "Change a notification channel",
	description:
		"Change a channel's name, address, events, weekday, or whether it is enabled.",
	isIdempotent: true,
	input: z.strictObject({
		...one,
		name: given.name.optional(),
		address: given.address.optional(),
		event_types: given.event_types.optional(),
		digest_weekday: given.digest_weekday.optional(),
		is_enabled: z.boolean().optional(),
	}),
	output: z.object({ channel }),
	run: async (context, { id, ...wanted }) => {
		const { client, membership, services } = context;
		const before = await readChannel(context, id, "for update");
		checkFields(before.kind, wanted);
		const { name, address, event_types, digest_weekday, is_enabled } = wanted;
		if (address !== undefined) {
			requireAllowedHost("address", address, services.outgoingRule);
		}
		const { rows } = await client.query<Channel>(
			`update notification_channels set
				name = coalesce($3, name),
				sealed_address = coalesce($5, sealed_address),
				address_host = coalesce($6, address_host),
				event_types = coalesce($7::text[], event_types),
				digest_weekday = coalesce($4, digest_weekday),
				next_digest_at = case
					when digest_weekday is null then null
					-- A channel that was off for weeks does not send what it missed.
					when $4::integer is not null or $8 then ${nextDigest("coalesce($4, digest_weekday)")}
					else next_digest_at
				end,
				is_enabled = coalesce($8, is_enabled),
				failing_since = case
					when $5::text is null and (is_enabled or $8 is not true) then failing_since
				end,
				updated_at = now()
			where organization_id = $1 and id = $2 returning ${COLUMNS}`,
			[
				membership.organizationId,
				id,
				name,
				digest_weekday,
				address === undefined ? null : seal(context, address, id),
				address === undefined ? null : new URL(address).host,
				event_types,
				is_enabled,
			],
		);
		const after = rows[0] as Channel;
		noteChange(context, before, after, address !== undefined);
		return { channel: after };
	},
});

export const deleteNotificationChannel = defineOperation({
	...admin,
	name: "deleteNotificationChannel",
	title: "Delete a notification channel",
	description: "Delete a channel with its messages. Nobody is told any more.",
	isDestructive: true,
	isIdempotent: true,
	input: z.strictObject(one),
	output: z.object({ deleted_notification_channel_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership } = context;
		const before = await readChannel(context, id, "for update");
		await client.query(
			"delete from notification_channels where organization_id = $1 and id = $2",
			[membership.organizationId, id],
		);
		noteChange(context, before, undefined);
		return { deleted_notification_channel_id: id };
	},
});

/** Throws bad_request for a field that a channel of this kind does not have. */
function checkFields(
	kind: ChannelKind,
	wanted: Partial<
		Record<"address" | "event_types" | "digest_weekday", unknown>
	>,
): void {
	const has = {
		address: isChat(kind),
		event_types: !hasDigest(kind),
		digest_weekday: hasDigest(kind),
	};
	const wrong = (Object.keys(has) as (keyof typeof has)[]).filter(
		(field) => wanted[field] !== undefined && !has[field],
	);
	if (wrong.length === 0) return;
	throw badFields(
		wrong.map((field) => ({
			field,
			message: `must be left out, because a channel of the kind ${kind} has none`,
		})),
	);
}

/** Throws bad_request if there are too many chats, or if a kind exists once and its channel is there. */
function requireRoomFor(
	{ client, membership: { organizationId } }: Context,
	kind: ChannelKind,
): Promise<void> {
	return enforceLimit(client, {
		lock: `notification channels ${organizationId}`,
		from: "notification_channels where organization_id = $1 and kind = any($2)",
		values: [organizationId, isChat(kind) ? CHAT_KINDS : [kind]],
		max: isChat(kind) ? MAX_CHATS : 1,
		error: () =>
			isChat(kind)
				? new AppError(
						"bad_request",
						`the organization has ${MAX_CHATS} chats, which is the maximum; delete one that is no longer needed`,
					)
				: badFields([
						{
							field: "kind",
							message: `is ${kind}, and the organization has such a channel; change that one`,
						},
					]),
	});
}

function seal({ services }: Context, address: string, id: string): string {
	if (!services.secret) throw new Error("the service has no secret");
	return sealText(address, "notification address", id, {
		secret: services.secret,
	});
}

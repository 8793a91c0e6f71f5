import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { AppError } from "../errors.ts";
import { EVENT_TYPE_NAMES } from "../events/types.ts";
import { makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { DISABLED_AFTER_DAYS } from "../outgoing/disabled-after.ts";
import { requireAllowedHost } from "../outgoing/outgoing-address.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { OVERLAP_DAYS } from "./overlap-days.ts";
import { deliveryOf, insertDeliveries } from "./queue-deliveries.ts";
import { webhookSecret } from "./signature.ts";

const MAX_WEBHOOKS = 20;
const MAX_URL = 2000;
const MAX_LISTED = 50;

const admin = {
	toolset: "webhooks",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

const SUBSCRIBABLE = EVENT_TYPE_NAMES.filter((name) => name !== "webhook.test");

const webhook = z.object({
	id: z.string(),
	url: z.string(),
	description: z.string().nullable(),
	event_types: z.array(z.enum(EVENT_TYPE_NAMES)),
	is_enabled: z.boolean(),
	failing_since: z.string().nullable(),
	given_up_at: z
		.string()
		.nullable()
		.describe(
			`When the service disabled it, after ${DISABLED_AFTER_DAYS} days of failures`,
		),
	previous_secret_until: z.string().nullable(),
	created_at: z.string(),
	updated_at: z.string(),
});
type Webhook = z.output<typeof webhook>;

const COLUMNS =
	"id, url, description, event_types, is_enabled, failing_since, given_up_at, previous_secret_until, created_at, updated_at";

const given = {
	url: webAddress().describe("Address that gets the events"),
	description: z.string().max(1000).nullable(),
	event_types: z
		.array(z.enum(SUBSCRIBABLE as [string, ...string[]]))
		.min(1)
		.max(SUBSCRIBABLE.length)
		.describe("Events that are delivered"),
};

const one = { organization_id: organizationId(), id: idSchema("webhook") };

/** Returns a schema for an address that the service sends requests to. */
export function webAddress() {
	return z
		.string()
		.max(MAX_URL, { abort: true })
		.refine(isWebAddress, "must be an http or https address");
}

function isWebAddress(text: string): boolean {
	const url = URL.parse(text);
	return (
		url !== null &&
		/^https?:$/.test(url.protocol) &&
		!url.username &&
		!url.password
	);
}

export const listWebhooks = defineOperation({
	...admin,
	name: "listWebhooks",
	title: "List webhooks",
	description:
		"List the addresses to which events of an organization are sent.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ webhooks: z.array(webhook) }),
	run: async ({ client, membership }) => {
		const { rows } = await client.query<Webhook>(
			`select ${COLUMNS} from webhooks where organization_id = $1 order by created_at, id`,
			[membership.organizationId],
		);
		return { webhooks: rows };
	},
});

export const addWebhook = defineOperation({
	...admin,
	name: "addWebhook",
	title: "Add a webhook",
	description:
		"Send events of an organization to an address, signed as Standard Webhooks defines it. Returns the signing secret, shown only now.",
	input: z.strictObject({
		organization_id: organizationId(),
		url: given.url,
		description: given.description.optional(),
		event_types: given.event_types.optional(),
	}),
	output: z.object({ webhook, secret: z.string() }),
	run: async (context, { url, description, event_types }) => {
		const { client, membership, services } = context;
		requireAllowedHost("url", url, services.outgoingRule);
		await enforceLimit(client, {
			lock: `webhooks ${membership.organizationId}`,
			from: "webhooks where organization_id = $1",
			values: [membership.organizationId],
			max: MAX_WEBHOOKS,
			error: tooManyWebhooks,
		});
		const id = makeId(membership.organizationId, "webhook");
		const { rows } = await client.query<Webhook>(
			`insert into webhooks (organization_id, id, url, description, event_types)
			values ($1, $2, $3, $4, $5) returning ${COLUMNS}`,
			[
				membership.organizationId,
				id,
				url,
				description,
				event_types ?? SUBSCRIBABLE,
			],
		);
		context.changed({
			kind: "webhook",
			id,
			name: hostOf(url),
			fields: {
				host: { after: hostOf(url) },
				event_types: { after: event_types ?? SUBSCRIBABLE },
			},
		});
		return { webhook: rows[0] as Webhook, secret: secretOf(context, id, 1) };
	},
});

export const updateWebhook = defineOperation({
	...admin,
	name: "updateWebhook",
	title: "Update a webhook",
	description:
		"Change a webhook's address, description or events, or switch it on or off.",
	isIdempotent: true,
	input: z.strictObject({
		...one,
		url: given.url.optional(),
		description: given.description.optional(),
		event_types: given.event_types.optional(),
		is_enabled: z.boolean().optional(),
	}),
	output: z.object({ webhook }),
	run: async (context, { id, url, description, event_types, is_enabled }) => {
		const { client, membership, services } = context;
		const before = await lockWebhook(context, id);
		if (url !== undefined && url !== before.url) {
			requireAllowedHost("url", url, services.outgoingRule);
		}
		const { rows } = await client.query<Webhook>(
			`update webhooks set
				url = coalesce($3, url), event_types = coalesce($4, event_types),
				description = case when $5 then $6 else description end,
				is_enabled = coalesce($7, is_enabled),
				given_up_at = case when $7 then null else given_up_at end,
				failing_since = case when $7 then null else failing_since end,
				updated_at = now()
			where organization_id = $1 and id = $2 returning ${COLUMNS}`,
			[
				membership.organizationId,
				id,
				url,
				event_types,
				description !== undefined,
				description,
				is_enabled,
			],
		);
		const after = rows[0] as Webhook;
		const fields = Object.fromEntries(
			(["description", "event_types", "is_enabled"] as const)
				.filter((name) => `${before[name]}` !== `${after[name]}`)
				.map((name) => [name, { before: before[name], after: after[name] }]),
		);
		context.changed({
			kind: "webhook",
			id,
			name: hostOf(after.url),
			fields: {
				...fields,
				...(before.url !== after.url && {
					host: { before: hostOf(before.url), after: hostOf(after.url) },
				}),
			},
		});
		return { webhook: after };
	},
});

export const deleteWebhook = defineOperation({
	...admin,
	name: "deleteWebhook",
	title: "Delete a webhook",
	description: "Delete a webhook with its deliveries.",
	isDestructive: true,
	input: z.strictObject(one),
	output: z.object({ deleted_webhook_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership } = context;
		const before = await lockWebhook(context, id);
		await client.query(
			"delete from webhooks where organization_id = $1 and id = $2",
			[membership.organizationId, id],
		);
		context.changed({
			kind: "webhook",
			id,
			name: hostOf(before.url),
			fields: { host: { before: hostOf(before.url) } },
		});
		return { deleted_webhook_id: id };
	},
});

export const rotateWebhookSecret = defineOperation({
	...admin,
	name: "rotateWebhookSecret",
	title: "Rotate a webhook's secret",
	description: `Make a new signing secret, shown only now. For ${OVERLAP_DAYS} days, deliveries are signed with the old one too.`,
	isDestructive: true,
	input: z.strictObject(one),
	output: z.object({ webhook, secret: z.string() }),
	run: async (context, { id }) => {
		const { client, membership } = context;
		await lockWebhook(context, id);
		const { rows } = await client.query<Webhook & { secret_version: number }>(
			`update webhooks set secret_version = secret_version + 1, updated_at = now(),
				previous_secret_until = now() + $3 * interval '1 day'
			where organization_id = $1 and id = $2 returning secret_version, ${COLUMNS}`,
			[membership.organizationId, id, OVERLAP_DAYS],
		);
		const { secret_version, ...rotated } = rows[0] as Webhook & {
			secret_version: number;
		};
		context.changed({
			kind: "webhook",
			id,
			name: hostOf(rotated.url),
			fields: { secret: { after: "ROTATED" } },
		});
		return { webhook: rotated, secret: secretOf(context, id, secret_version) };
	},
});

export const testWebhook = defineOperation({
	...admin,
	name: "testWebhook",
	title: "Test a webhook",
	description:
		"Queue an event of the type webhook.test. listWebhookDeliveries shows the answer.",
	input: z.strictObject(one),
	output: z.object({ delivery_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership, services } = context;
		const found = await lockWebhook(context, id);
		const delivery = deliveryOf(membership.organizationId, id, {
			type: "webhook.test",
			record_id: id,
			data: {},
			occurred_at: new Date().toISOString(),
		});
		await insertDeliveries(client, membership.organizationId, [delivery]);
		context.changed({
			kind: "webhook",
			id,
			name: hostOf(found.url),
			fields: { test: { after: "QUEUED" } },
		});
		context.afterCommit(() => services.wakeDeliverer?.());
		return { delivery_id: delivery.id };
	},
});

const delivery = z.object({
	id: z.string().describe("Also the header webhook-id"),
	event_type: z.string(),
	record_id: z.string(),
	state: z.enum(["QUEUED", "DELIVERED", "FAILED"]),
	body: z.string(),
	attempts: z.int(),
	created_at: z.string(),
	next_attempt_at: z.string().nullable(),
	attempted_at: z.string().nullable(),
	duration_ms: z.int().nullable(),
	answer_status: z.int().nullable(),
	answer: z.string().nullable().describe("The first 1,000 characters"),
	failure: z.string().nullable().describe("Why there was no answer"),
});

export const listWebhookDeliveries = defineOperation({
	...admin,
	name: "listWebhookDeliveries",
	title: "List the deliveries of a webhook",
	description:
		"List the last 50 deliveries of a webhook, newest first, with request, answer and time.",
	isReadOnly: true,
	input: z.strictObject(one),
	output: z.object({ deliveries: z.array(delivery) }),
	run: async ({ client, membership }, { id }) => {
		const { rows } = await client.query<z.output<typeof delivery>>(
			`select id, event_type, record_id, state, body, attempts, created_at, due_at as next_attempt_at,
				attempted_at, duration_ms, answer_status, answer, failure
			from webhook_deliveries where organization_id = $1 and webhook_id = $2
			order by position desc limit ${MAX_LISTED}`,
			[membership.organizationId, id],
		);
		return { deliveries: rows };
	},
});

export const resendWebhookDelivery = defineOperation({
	...admin,
	name: "resendWebhookDelivery",
	title: "Send a delivery again",
	description: "Send a delivery again, with the same webhook-id and body.",
	input: z.strictObject({
		organization_id: organizationId(),
		id: idSchema("webhook_delivery"),
	}),
	output: z.object({ delivery_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership, services } = context;
		const { rows } = await client.query<{ webhook_id: string; url: string }>(
			`update webhook_deliveries d
			set state = 'QUEUED', due_at = now(), delivered_at = null, attempts = 0
			from webhooks w
			where d.organization_id = $1 and d.id = $2
				and w.organization_id = d.organization_id and w.id = d.webhook_id
			returning d.webhook_id, w.url`,
			[membership.organizationId, id],
		);
		const [found] = rows;
		if (!found) throw notFound(id);
		context.changed({
			kind: "webhook",
			id: found.webhook_id,
			name: hostOf(found.url),
			fields: { delivery: { after: id } },
		});
		context.afterCommit(() => services.wakeDeliverer?.());
		return { delivery_id: id };
	},
});

/** The host alone, because the rest of an address may contain a secret. */
function hostOf(url: string): string {
	return new URL(url).host;
}

async function lockWebhook(
	{ client, membership }: Context,
	id: string,
): Promise<Webhook> {
	const { rows } = await client.query<Webhook>(
		`select ${COLUMNS} from webhooks where organization_id = $1 and id = $2 for update`,
		[membership.organizationId, id],
	);
	if (!rows[0]) throw notFound(id);
	return rows[0];
}

function tooManyWebhooks(): AppError {
	return new AppError(
		"bad_request",
		`the organization has ${MAX_WEBHOOKS} webhooks, which is the maximum; delete one that is no longer needed`,
	);
}

function secretOf({ services }: Context, id: string, version: number): string {
	if (!services.secret) throw new Error("the service has no secret");
	return webhookSecret(services.secret, id, version);
}

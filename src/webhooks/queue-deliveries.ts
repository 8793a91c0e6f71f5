import type { PoolClient } from "pg";
import type { EventType, StoredEvent } from "../events/types.ts";
import { makeId } from "../id.ts";

interface Subscription {
	id: string;
	event_types: string[];
}

/** Queues a delivery of each event to each webhook that wants it. */
export async function queueDeliveries(
	client: PoolClient,
	organizationId: string,
	events: StoredEvent[],
): Promise<void> {
	const { rows } = await client.query<Subscription>(
		"select id, event_types from webhooks where organization_id = $1 and is_enabled order by id",
		[organizationId],
	);
	const deliveries = events.flatMap((event) =>
		rows
			.filter(({ event_types }) => event_types.includes(event.type))
			.map(({ id }) => deliveryOf(organizationId, id, event)),
	);
	await insertDeliveries(client, organizationId, deliveries);
}

export interface NewDelivery {
	id: string;
	webhook_id: string;
	event_type: EventType;
	record_id: string;
	body: string;
}

/** Makes the delivery of an event. Its body has the form that Standard Webhooks recommends. */
export function deliveryOf(
	organizationId: string,
	webhookId: string,
	event: Pick<StoredEvent, "type" | "record_id" | "data" | "occurred_at">,
): NewDelivery {
	return {
		id: makeId(organizationId, "webhook_delivery"),
		webhook_id: webhookId,
		event_type: event.type,
		record_id: event.record_id,
		body: JSON.stringify({
			type: event.type,
			timestamp: event.occurred_at,
			data: {
				organization_id: organizationId,
				record_id: event.record_id,
				...event.data,
			},
		}),
	};
}

export async function insertDeliveries(
	client: Pick<PoolClient, "query">,
	organizationId: string,
	deliveries: NewDelivery[],
): Promise<void> {
	if (deliveries.length === 0) return;
	await client.query(
		`insert into webhook_deliveries (organization_id, id, webhook_id, event_type, record_id, body)
		select $1, d.id, d.webhook_id, d.event_type, d.record_id, d.body
		from jsonb_to_recordset($2)
			d (id text, webhook_id text, event_type text, record_id text, body text)`,
		[organizationId, JSON.stringify(deliveries)],
	);
}

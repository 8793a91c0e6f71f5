import type { Client } from "pg";
import { toTable } from "../report.ts";
import type { Arrived } from "./consequences.ts";

/** A kind of consequence: how many there are, and how many are wrong. */
interface Row {
	name: string;
	expected: number;
	stored: number;
	lost: number;
	twice: number;
	/** Arrivals of something that had arrived before. Only what leaves the service has some. */
	repeated?: number;
}

export interface Consequences {
	markdown: string;
	broken: string[];
}

/** Compares what the devices reported and what arrived with the database. */
export async function checkConsequences(
	client: Client,
	kills: number,
	changes: Map<string, string>,
	arrived: Arrived,
): Promise<Consequences> {
	const rows = [
		await checkEvents(client, changes),
		await checkDeliveries(client, arrived),
		await checkMails(client, arrived),
		await checkChats(client, arrived),
		await checkNonconformities(client),
	];
	const order = await findDisorder(client, arrived);
	const markdown = toTable(
		[
			"Consequence",
			"Expected",
			"Stored",
			"Lost",
			"Twice",
			"Arrived again, same id",
		],
		rows.map(({ name, expected, stored, lost, twice, repeated }) => [
			name,
			expected,
			stored,
			lost,
			twice,
			repeated ?? "–",
		]),
	);
	const broken = rows
		.filter(({ lost, twice, stored }) => lost + twice > 0 || stored === 0)
		.map(({ name }) => `${name}: lost, stored twice, or none`);
	if (order.length > 0) broken.push(`out of order: ${order.slice(0, 5)}`);
	return { markdown: `\n${kills} kills\n\n${markdown}\n`, broken };
}

async function checkEvents(
	client: Client,
	changes: Map<string, string>,
): Promise<Row> {
	const { rows } = await client.query<{ name: string; count: number }>(
		`select type || ' ' || (data ->> 'report_id') as name, count(*)::integer as count
		from events where type like 'posture.%' group by 1`,
	);
	const expected = new Set([...changes].map(([id, type]) => `${type} ${id}`));
	const stored = new Map(rows.map(({ name, count }) => [name, count]));
	return {
		name: "Events of checks",
		expected: expected.size,
		stored: stored.size,
		lost: expected.difference(stored).size,
		twice:
			rows.filter(({ count }) => count > 1).length +
			new Set(stored.keys()).difference(expected).size,
	};
}

/** Every event has one delivery, and every delivery has arrived with its id and body. */
async function checkDeliveries(
	client: Client,
	{ deliveries }: Arrived,
): Promise<Row> {
	const { rows: events } = await client.query(
		"select from events e join webhooks w on e.type = any (w.event_types)",
	);
	const { rows } = await client.query<{ id: string; body: string }>(
		"select id, body from webhook_deliveries where state = 'DELIVERED'",
	);
	const bodies = new Map(deliveries.map(({ id, body }) => [id, body]));
	const isWhole = ({ id, body }: { id: string; body: string }) =>
		bodies.get(id) === body;
	const ids = new Set(rows.map(({ id }) => id));
	return {
		name: "Deliveries to the webhook",
		expected: events.length,
		stored: rows.length,
		lost:
			Math.max(0, events.length - rows.length) +
			rows.filter((row) => !isWhole(row)).length,
		twice:
			Math.max(0, new Set(rows.map(({ body }) => body)).size - events.length) +
			Math.max(0, rows.length - events.length) +
			new Set(bodies.keys()).difference(ids).size,
		repeated: deliveries.length - bodies.size,
	};
}

async function checkMails(
	client: Client,
	{ messageIds }: Arrived,
): Promise<Row> {
	const { rows } = await client.query<{ id: string; state: string }>(
		"select id, state from mails",
	);
	const sent = new Set(
		rows.filter(({ state }) => state === "SENT").map(({ id }) => id),
	);
	const known = new Set(rows.map(({ id }) => id));
	const arrived = new Set(messageIds);
	return {
		name: "Mails to owners and administrators",
		expected: sent.size,
		stored: sent.size,
		lost:
			sent.difference(arrived).size +
			rows.filter(({ state }) => state !== "SENT" && state !== "NOT_NEEDED")
				.length,
		twice: arrived.difference(known).size,
		repeated: messageIds.length - arrived.size,
	};
}

async function checkChats(client: Client, { chats }: Arrived): Promise<Row> {
	const { rows } = await client.query<{ body: string; state: string }>(
		"select body, state from notification_messages",
	);
	const arrived = new Set(chats);
	return {
		name: "Messages to the chat",
		expected: rows.length,
		stored: rows.filter(({ state }) => state === "DELIVERED").length,
		lost: rows.filter(({ body }) => !arrived.has(body)).length,
		twice: 0,
		repeated: chats.length - rows.length,
	};
}

/**
 * Each failing check has one nonconformity, which opens and closes in turn. Its status changes only
 * with an event, its audit entry comes with the event, and no failure of a device is in it twice.
 */
async function checkNonconformities(client: Client): Promise<Row> {
	const { rows } = await client.query<{
		events: number;
		entries: number;
		disorder: number;
		records: number;
		checks: number;
		open: number;
		doubles: number;
	}>(
		`with happened as (
			select record_id, type = 'nonconformity.closed' as is_closed,
				lag(type = 'nonconformity.closed') over (partition by record_id order by id) as was_closed
			from events where type like 'nonconformity.%'
		)
		select
			(select count(*)::integer from happened) as events,
			(select count(*)::integer from audit_entries
				where operation = 'settleNonconformities' and record_kind = 'nonconformity'
					and changes ? 'status') as entries,
			(select count(*)::integer from happened
				where is_closed is not distinct from coalesce(was_closed, true)) as disorder,
			(select count(*)::integer from check_nonconformities) as records,
			(select count(distinct check_key)::integer from check_nonconformities) as checks,
			(select count(*)::integer from nonconformities where status <> 'CLOSED') as open,
			(select count(*)::integer from (
				select from nonconformity_devices
				group by device_id, check_key, failing_since having count(*) > 1
			) d) as doubles`,
	);
	const [found] = rows;
	if (!found) throw new Error("a count has a row");
	return {
		name: "Nonconformities opened, reopened or closed",
		expected: found.events,
		stored: found.entries,
		lost: Math.max(0, found.events - found.entries) + found.open,
		twice:
			Math.max(0, found.entries - found.events) +
			found.disorder +
			(found.records - found.checks) +
			found.doubles,
	};
}

/**
 * Returns the records whose deliveries first arrived in another order than their events happened.
 */
async function findDisorder(
	client: Client,
	{ deliveries }: Arrived,
): Promise<string[]> {
	const { rows } = await client.query<{ id: string; record_id: string }>(
		"select id, record_id from webhook_deliveries order by position",
	);
	const place = new Map<string, number>();
	for (const [at, { id }] of deliveries.entries()) {
		if (!place.has(id)) place.set(id, at);
	}
	const wrong = new Set<string>();
	const last = new Map<string, number>();
	for (const { id, record_id } of rows) {
		const at = place.get(id) ?? -1;
		if (at < (last.get(record_id) ?? -1)) wrong.add(record_id);
		last.set(record_id, at);
	}
	return [...wrong];
}

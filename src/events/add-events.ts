import type { PoolClient, QueryConfig } from "pg";
import type { EventType } from "./types.ts";

export interface NewEvent {
	type: EventType;
	record_id: string;
	/** Ids and codes. Names and addresses do not belong here. */
	data?: Record<string, unknown>;
}

/** Stores events in the client's transaction, which is one of the organization. */
export async function addEvents(
	client: Pick<PoolClient, "query">,
	organizationId: string,
	events: NewEvent[],
): Promise<void> {
	for (const statement of eventStatements(organizationId, events)) {
		await client.query(statement);
	}
}

/** Returns the statements that store events in a transaction of the organization. */
export function eventStatements(
	organizationId: string,
	events: NewEvent[],
): QueryConfig[] {
	if (events.length === 0) return [];
	return [
		{
			// Each change of a record sends it, so it is planned once for each connection.
			name: "add_events",
			text: `insert into events (organization_id, type, record_id, data)
			select $1, e.type, e.record_id, coalesce(e.data, '{}')
			from jsonb_to_recordset($2) e (type text, record_id text, data jsonb)`,
			values: [organizationId, JSON.stringify(events)],
		},
	];
}

import { z } from "zod";
import { notFound } from "../invoke.ts";
import type { Context } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { CHANNEL_KINDS, TOLD_EVENTS } from "./channel-kinds.ts";

/** Parts that the operations on channels share. */
export const admin = {
	toolset: "notifications",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

export const channel = z.object({
	id: z.string(),
	kind: z.enum(CHANNEL_KINDS),
	name: z.string(),
	address_host: z
		.string()
		.nullable()
		.describe("Host of the chat; the rest of its address is a secret"),
	event_types: z.array(z.enum(TOLD_EVENTS)),
	digest_weekday: z.int().nullable().describe("1: Monday, 7: Sunday"),
	next_digest_at: z.string().nullable(),
	is_enabled: z.boolean(),
	failing_since: z.string().nullable(),
	unmailed_count: z
		.int()
		.describe("People who got no mail the last time, because of a limit"),
	unmailed_at: z.string().nullable(),
	created_at: z.string(),
	updated_at: z.string(),
});
export type Channel = z.output<typeof channel>;

export const COLUMNS =
	"id, kind, name, address_host, event_types, digest_weekday, next_digest_at, is_enabled, failing_since, unmailed_count, unmailed_at, created_at, updated_at";

/** The input that names a channel. */
export const one = {
	organization_id: organizationId(),
	id: idSchema("notification_channel"),
};

export async function readChannel(
	{ client, membership }: Context,
	id: string,
	lock = "",
): Promise<Channel> {
	const { rows } = await client.query<Channel>(
		`select ${COLUMNS} from notification_channels where organization_id = $1 and id = $2 ${lock}`,
		[membership.organizationId, id],
	);
	if (!rows[0]) throw notFound(id);
	return rows[0];
}

const AUDITED = [
	"kind",
	"name",
	"address_host",
	"event_types",
	"digest_weekday",
	"is_enabled",
] as const;

/** Notes the change for the audit log, without the address. */
export function noteChange(
	context: Context,
	before: Channel | undefined,
	after: Channel | undefined,
	hasNewAddress = false,
): void {
	const known = after ?? before;
	if (!known) return;
	const fields: Record<string, { before?: unknown; after?: unknown }> = {};
	for (const field of AUDITED) {
		const [was, is] = [before?.[field] ?? null, after?.[field] ?? null];
		if (JSON.stringify(was) === JSON.stringify(is)) continue;
		fields[field] = {
			...(before && { before: was }),
			...(after && { after: is }),
		};
	}
	if (before && hasNewAddress) fields.address = { after: "CHANGED" };
	if (Object.keys(fields).length === 0) return;
	context.changed({
		kind: "notification_channel",
		id: known.id,
		name: known.name,
		fields,
	});
}

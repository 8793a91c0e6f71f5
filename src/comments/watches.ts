import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { takeTransactionLocks } from "../db/transaction-locks.ts";
import { AppError } from "../errors.ts";
import { type Context, defineOperation } from "../operation.ts";
import { type NamedRecord, recordId, requireRecord } from "./records.ts";

/** Most records of an organization that a user may watch. */
export const MAX_WATCHED = 1000;

const common = {
	toolset: "comments",
	access: "write",
	isIdempotent: true,
	tenant: "record_id",
	input: z.strictObject({ record_id: recordId() }),
	output: z.object({ record_id: z.string(), is_watching: z.boolean() }),
} as const;

export const watchRecord = defineOperation({
	...common,
	name: "watchRecord",
	title: "Watch a record",
	description:
		"Watch a record: your home page then shows new comments on it. Commenting and being mentioned do this too.",
	run: async (context, { record_id }) => {
		const { client, membership, principal } = context;
		const { organizationId } = membership;
		const { userId } = principal;
		const record = await requireRecord(
			client,
			organizationId,
			record_id,
			"for key share",
		);
		await enforceLimit(client, {
			lock: lockOf(organizationId, userId),
			// Whoever watches the record already may say so again.
			from: "record_watches where organization_id = $1 and user_id = $2 and record_id <> $3",
			values: [organizationId, userId, record_id],
			max: MAX_WATCHED,
			error: tooManyWatched,
		});
		await addWatches(context, record, [userId]);
		return { record_id, is_watching: true };
	},
});

export const unwatchRecord = defineOperation({
	...common,
	name: "unwatchRecord",
	title: "Stop watching a record",
	description: "Stop watching a record. Mentions still reach you.",
	run: async ({ client, membership, principal }, { record_id }) => {
		await client.query(
			"delete from record_watches where organization_id = $1 and user_id = $2 and record_id = $3",
			[membership.organizationId, principal.userId, record_id],
		);
		return { record_id, is_watching: false };
	},
});

/**
 * Lets users watch a record. Those who watch as many records as they may do not watch this one.
 */
export async function addWatches(
	{ client, membership }: Context,
	record: NamedRecord,
	userIds: readonly (string | null)[],
): Promise<void> {
	const { organizationId } = membership;
	await takeTransactionLocks(
		client,
		...userIds.map((id) => lockOf(organizationId, id)),
	);
	await client.query(
		`insert into record_watches (organization_id, user_id, record_id, record_kind)
		select $1::text, m.user_id, $2::text, $3::text from memberships m
		where m.organization_id = $1::text and m.user_id = any($4) and (
			select count(*) from record_watches w
			where w.organization_id = $1::text and w.user_id = m.user_id
		) < ${MAX_WATCHED}
		on conflict do nothing`,
		[
			organizationId,
			record.id,
			record.kind,
			userIds.filter((id) => id !== null),
		],
	);
}

function lockOf(organizationId: string, userId: string | null): string {
	return `watches ${organizationId} ${userId}`;
}

function tooManyWatched(): AppError {
	return new AppError(
		"bad_request",
		`you watch ${MAX_WATCHED} records, which is the maximum; stop watching some first`,
	);
}

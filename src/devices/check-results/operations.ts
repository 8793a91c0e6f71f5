import type { PoolClient } from "pg";
import { z } from "zod";
import { badFields } from "../../errors.ts";
import { defineOperation } from "../../operation.ts";
import { organizationId } from "../../records/list-pages.ts";
import { obvious } from "../../records/shown-in-tool-list.ts";
import { findCheckKey } from "../check-keys.ts";
import { checkKeySchema } from "../device-record.ts";
import { LATEST_COUNTED_AT, LATEST_COUNTS } from "./count-sql.ts";
import { type CheckCounts, checkResult, resultOf } from "./counts.ts";

/** Most checks that a caller may name. */
const MAX_CHECKS = 20;

/** Longest history that a caller may ask for, in days. */
const MAX_DAYS = 366;

export const getCheckResults = defineOperation({
	name: "getCheckResults",
	title: "Get the results of device checks",
	description:
		"Read how many ACTIVE devices pass each required check, as last counted, and the counts of past days.",
	toolset: "devices",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		check_keys: z
			.array(checkKeySchema())
			.min(1)
			.max(MAX_CHECKS)
			.optional()
			.meta(obvious("Keys or names; all required checks by default")),
		history_days: z
			.int()
			.min(1)
			.max(MAX_DAYS)
			.optional()
			.describe("Needs check_keys"),
	}),
	output: z.object({
		counted_at: z
			.string()
			.nullable()
			.describe("null: not counted within a day, so nothing is known"),
		checks: z.array(checkResult),
		history: z
			.array(
				z.object({
					day: z.string().describe("In UTC"),
					check_key: z.string(),
					pass_percent: z.number().nullable(),
					passing: z.int(),
					failing: z.int(),
					in_grace: z.int(),
					excepted: z.int(),
					unknown: z.int().describe("UNKNOWN, STALE or NOT_REPORTED"),
				}),
			)
			.describe("Oldest day first, today last"),
	}),
	run: async ({ client }, input) => {
		const { organization_id, history_days } = input;
		if (history_days && !input.check_keys) {
			throw badFields([
				{ field: "check_keys", message: "is required with history_days" },
			]);
		}
		const wanted: string[] = [];
		for (const [at, text] of (input.check_keys ?? []).entries()) {
			const field = `check_keys[${at}]`;
			wanted.push(await findCheckKey(client, organization_id, text, field));
		}
		const latest = await readLatest(client);
		const keys = input.check_keys
			? [...new Set(wanted)]
			: Object.keys(latest.counts).sort();
		const history = history_days
			? await readHistory(client, organization_id, keys, history_days)
			: [];
		return {
			counted_at: latest.counted_at,
			checks: keys.map((key) => resultOf(key, latest.counts)),
			history,
		};
	},
});

/** Reads the last count of the transaction's organization. */
export async function readLatest(
	client: PoolClient,
): Promise<{ counts: CheckCounts; counted_at: string | null }> {
	const { rows } = await client.query<{
		counts: CheckCounts | null;
		counted_at: string | null;
	}>({
		name: "check_counts.latest",
		text: `select ${LATEST_COUNTS} as counts, ${LATEST_COUNTED_AT} as counted_at`,
	});
	return {
		counts: rows[0]?.counts ?? {},
		counted_at: rows[0]?.counted_at ?? null,
	};
}

async function readHistory(
	client: PoolClient,
	organizationId: string,
	keys: readonly string[],
	days: number,
) {
	const { rows } = await client.query<{ day: string; counts: CheckCounts }>({
		name: "check_counts.history",
		text: `
			select to_char(k.day, 'YYYY-MM-DD') as day, k.counts from check_count_days k
			where k.organization_id = $1 and k.day >= (now() at time zone 'UTC')::date - $2::int
			order by k.day`,
		values: [organizationId, days],
	});
	return rows.flatMap(({ day, counts }) =>
		keys
			.filter((key) => counts[key])
			.map((check_key) => {
				const { states, pass_percent } = resultOf(check_key, counts);
				return {
					day,
					check_key,
					pass_percent,
					passing: states.PASSING,
					failing: states.FAILING,
					in_grace: states.IN_GRACE,
					excepted: states.EXCEPTED,
					unknown: states.UNKNOWN + states.STALE + states.NOT_REPORTED,
				};
			}),
	);
}

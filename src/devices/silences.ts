import type { PoolClient } from "pg";
import { z } from "zod";
import { SILENCE_DAYS } from "./check-rules.ts";
import { policyOf } from "./required-checks.ts";

/** SQL of the longest silence that the organization $1 permits, in days. */
const USUAL_DAYS = `(
	select coalesce(max(y.max_silence_days), ${SILENCE_DAYS.default})
	from device_policies y where y.organization_id = $1
)`;

/** SQL of the shortest or longest silence that any of its policies permits. */
const ofAnyPolicy = (least: "least" | "greatest", min: "min" | "max") => `(
	select ${least}(${min}(y.max_silence_days), ${USUAL_DAYS}) * interval '24 hours'
	from device_group_policies y where y.organization_id = $1
)`;
const SHORTEST = ofAnyPolicy("least", "min");
const LONGEST = ofAnyPolicy("greatest", "max");

/** Returns an SQL expression for the longest silence that a device's policy permits. */
export const maxSilenceOf = (device: string) => `(
	coalesce((
		select ruling.max_silence_days from device_group_policies ruling
		where ruling.organization_id = $1 and ruling.id = ${policyOf(device, undefined)}
	), ${USUAL_DAYS}) * interval '24 hours'
)`;

/**
 * Returns an SQL condition: a device has been silent since a time for longer than its policy
 * permits. Its policy is looked up only if the answer depends on it.
 */
export const isSilentSince = (since: string, device: string, now: string) => `(
	${since} < ${now} - ${LONGEST} or ${since} < ${now} - ${SHORTEST}
		and ${since} < ${now} - ${maxSilenceOf(device)}
)`;

/**
 * Returns a query for the devices of the organization $1 that were silent at a time, each with its
 * last observation before the silence. The silences shorter than a day are not kept.
 *
 * @param at SQL of the time
 * @param ids SQL array that limits the query to these devices
 */
export const silencesAt = (at: string, ids?: string) => `(
	select y.device_id, y.since from device_silences y
	where y.organization_id = $1 and y.since < ${at} and y.until > ${at}
		${ids === undefined ? "" : `and y.device_id = any(${ids})`}
)`;

/** Largest number of silences in the result of a tool. */
const MAX_SHOWN = 100;

export const silencesShape = {
	silences: z
		.array(
			z.object({
				since: z.string().describe("Last observation before"),
				until: z
					.string()
					.nullable()
					.describe("First observation after; null: none yet"),
			}),
		)
		.describe(
			`Times without any report that are longer than the policy's max_silence_days, newest first, at most ${MAX_SHOWN}. They hold for all checks: no status is proved then`,
		),
};

type Silence = z.input<typeof silencesShape.silences>[number];

/**
 * Returns the silences of a device that overlap the period and are longer than its policy
 * permits, newest first. The last one may still go on.
 */
export async function readSilences(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
	{ from, until }: { from?: string | undefined; until?: string | undefined },
): Promise<Silence[]> {
	const { rows } = await client.query<Silence>({
		name: "silences",
		text: `
			select x.since, x.until
			from (
				select y.since, y.until from device_silences y
				where y.organization_id = $1 and y.device_id = $2
				union all
				select max(s.last_observed_at), null from posture_spans s
				where s.organization_id = $1 and s.device_id = $2 and s.is_current
			) x
			where coalesce(x.until, now()) > x.since + ${maxSilenceOf("$2")}
				and coalesce(x.until > $3::timestamptz, true)
				and coalesce(x.since < $4::timestamptz, true)
			order by x.since desc
			limit ${MAX_SHOWN}`,
		values: [organizationId, deviceId, from ?? null, until ?? null],
	});
	return rows;
}

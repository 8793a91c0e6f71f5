import type { PoolClient } from "pg";
import { z } from "zod";
import { SILENCE_DAYS } from "./check-rules.ts";
import { policyOf } from "./required-checks.ts";

/**
 * SQL of the limit of a policy that counted before the first change after the moment, or else of the
 * present one. `present` is a query for it.
 */
const limitAt = (isPolicy: string, present: string, at: string | undefined) =>
	at === undefined
		? `(${present})`
		: `(
	select l.max_silence_days from (
		select false as is_present, f.valid_until, f.max_silence_days from silence_limits f
		where f.organization_id = $1 and ${isPolicy} and f.valid_until > ${at}
		union all
		select true, null, p.days from (${present}) p (days)
	) l order by l.is_present, l.valid_until limit 1
)`;

/** SQL of the longest silence that the organization $1 permits, in days. */
const usualDays = (at: string | undefined) =>
	limitAt(
		"f.policy_id is null",
		`select coalesce(max(y.max_silence_days), ${SILENCE_DAYS.default})
		from device_policies y where y.organization_id = $1`,
		at,
	);

/** SQL of the shortest or longest silence that any of its policies permits, or has permitted. */
const ofAnyPolicy = (
	least: "least" | "greatest",
	min: "min" | "max",
	at: string | undefined,
) => `(
	select ${least}(${min}(y.max_silence_days), ${usualDays(at)}) * interval '24 hours'
	from (
		select p.max_silence_days from device_group_policies p where p.organization_id = $1
		${at === undefined ? "" : `union all select f.max_silence_days from silence_limits f where f.organization_id = $1 and f.policy_id is not null`}
	) y
)`;

/** Returns an SQL expression for the longest silence that a device's policy permitted at a time. */
export const maxSilenceOf = (device: string, at: string | undefined) => `(
	coalesce(${limitAt(
		`f.policy_id = ${policyOf(device, at)}`,
		`select ruling.max_silence_days from device_group_policies ruling
		where ruling.organization_id = $1 and ruling.id = ${policyOf(device, at)}`,
		at,
	)}, ${usualDays(at)}) * interval '24 hours'
)`;

/**
 * Returns an SQL condition: at the moment, or now, a device had been silent since a time for longer
 * than its policy permitted. Its policy is looked up only if the answer depends on it.
 */
export function isSilentSince(
	since: string,
	device: string,
	at: string | undefined,
): string {
	const now = at ?? "now()";
	return `(
	${since} < ${now} - ${ofAnyPolicy("greatest", "max", at)}
	or ${since} < ${now} - ${ofAnyPolicy("least", "min", at)}
		and ${since} < ${now} - ${maxSilenceOf(device, at)}
)`;
}

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
 * permitted when they ended, newest first. The last one may still go on.
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
			where coalesce(x.until, now()) > x.since + ${maxSilenceOf("$2", "coalesce(x.until, now())")}
				and coalesce(x.until > $3::timestamptz, true)
				and coalesce(x.since < $4::timestamptz, true)
			order by x.since desc
			limit ${MAX_SHOWN}`,
		values: [organizationId, deviceId, from ?? null, until ?? null],
	});
	return rows;
}

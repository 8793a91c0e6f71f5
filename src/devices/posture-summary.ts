import type { PoolClient } from "pg";
import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import {
	complianceCounts,
	countFleet,
	type FleetCounts,
	type StateCounts,
	stateCounts,
} from "./count-states.ts";
import {
	checkName,
	DEVICE_STATUSES,
	DEVICES,
	FRESHNESS,
	FRESHNESSES,
	HAS_CLAIMED_OWNER,
	statusAt,
} from "./device-record.ts";
import { countAgents, MAX_AGENT_VERSIONS } from "./outdated-agents.ts";
import { fleetPassPercent, passPercent } from "./pass-rate.ts";
import {
	type Group,
	groupBy,
	groupParts,
	groupsShape,
	readGroups,
} from "./posture-groups.ts";
import { CHECK_KEYS } from "./terms.ts";
import { endOfMillisecond, pastTimestampSchema } from "./timestamps.ts";

/**
 * Largest number of non-canonical checks that the summary lists. The most common ones come first.
 */
const MAX_SHOWN_CHECKS = 100;

const count = () => z.int();

const checkSummary = z.object({
	check_key: z.string(),
	check_name: z.string().nullable(),
	pass: count(),
	fail: count(),
	fail_excepted: count().describe("Of fail, those that an exception excuses"),
	unknown: count(),
	not_applicable: count(),
	stale: count().describe(
		"Devices that reported it but are not ONLINE now, or no longer report; neither passing nor failing",
	),
	not_reported: count().describe("Devices that never reported it"),
	pass_percent: z
		.number()
		.nullable()
		.describe(
			"Share of PASSING in states without EXCEPTED and NOT_APPLICABLE, 0 to 100; null: the policy requires it of nobody",
		),
	states: stateCounts().describe("Every ACTIVE device, by the device policy"),
});

export type CheckSummary = z.output<typeof checkSummary>;

export const listPostureSummary = defineOperation({
	name: "listPostureSummary",
	title: "Summarize postures",
	description:
		"Count an organization's ACTIVE devices by check and status, and its devices by status and freshness. stale is about the device: it is silent now (not ONLINE, or no report for two posture intervals), so none of its checks pass or fail. states and devices_by_compliance judge by the device policy: STALE there is a check that nothing confirmed for max_silence_days. With as_of, the counts are those at that time. group_by also counts which checks fail by platform or owner.",
	toolset: "devices",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		as_of: pastTimestampSchema()
			.optional()
			.describe("A time in the past, RFC 3339 with offset; now by default"),
		group_by: groupBy().optional().describe("Also count each group"),
	}),
	output: z.object({
		active_devices: count().describe(
			"Number of devices that the counts of checks cover",
		),
		stale_devices: count().describe(
			"Number of these devices that are not ONLINE or no longer report",
		),
		not_reporting: count().describe(
			"Number of ONLINE devices without a report for two posture intervals",
		),
		pass_percent: z
			.number()
			.nullable()
			.describe("The same of all required checks together"),
		checks: z.array(checkSummary),
		omitted_checks: count().describe("Number of less common checks left out"),
		devices_by_status: byName(DEVICE_STATUSES),
		devices_by_compliance: complianceCounts().describe("ACTIVE devices"),
		compliant_by_exception: count().describe(
			"COMPLIANT devices that an exception excuses from a check",
		),
		pending_in_conflict: count().describe(
			"PENDING devices whose heartbeat was turned away because another device has the hardware",
		),
		devices_by_freshness: byName(FRESHNESSES)
			.nullable()
			.describe("Devices that are not revoked; null with as_of"),
		devices_by_agent_version: z
			.array(z.object({ agent_version: z.string(), devices: count() }))
			.nullable()
			.describe(
				`ACTIVE devices, at most ${MAX_AGENT_VERSIONS} versions, the most common first; null with as_of`,
			),
		outdated_agents: z
			.object({
				devices: count(),
				agent_older_than: z.string().describe("The filter that lists them"),
			})
			.nullable()
			.describe(
				"ACTIVE devices whose agent of Assay is older than the newest one that this service offers; null with as_of or if it offers none",
			),
		owners_to_confirm: count()
			.nullable()
			.describe("Devices with has_claimed_owner; null with as_of"),
		...groupsShape,
	}),
	run: async ({ client, services }, { organization_id, as_of, group_by }) => {
		const moment = as_of && endOfMillisecond(as_of);
		const counts = await countFleet<{ groups?: Group[] | null }>(
			client,
			organization_id,
			moment,
			group_by && groupParts(group_by),
		);
		const [fleet, grouped] = await Promise.all([
			countDevices(client, organization_id, moment),
			group_by
				? readGroups(
						client,
						organization_id,
						group_by,
						counts.more.groups ?? [],
					)
				: { groups: [], omitted_groups: 0 },
		]);
		const agents = as_of
			? undefined
			: await countAgents(
					client,
					organization_id,
					services.newestAgents?.() ?? {},
				);
		const all = summarize(counts);
		const listed = all.slice(0, CHECK_KEYS.length + MAX_SHOWN_CHECKS);
		return {
			active_devices: counts.active,
			stale_devices: counts.stale,
			not_reporting: counts.notReporting,
			pass_percent: fleetPassPercent(counts),
			checks: listed,
			omitted_checks: all.length - listed.length,
			devices_by_status: fleet.status,
			devices_by_compliance: counts.compliance,
			compliant_by_exception: counts.compliantByException,
			pending_in_conflict: fleet.inConflict,
			devices_by_freshness: as_of ? null : fleet.freshness,
			devices_by_agent_version: agents?.versions ?? null,
			outdated_agents: agents?.outdated ?? null,
			owners_to_confirm: as_of ? null : fleet.ownersToConfirm,
			...grouped,
		};
	},
});

function byName<const Name extends string>(names: readonly Name[]) {
	return z.object(
		Object.fromEntries(names.map((name) => [name, count()])) as Record<
			Name,
			z.ZodInt
		>,
	);
}

/**
 * Counts the devices that there are now by status and freshness. A time in the past gives the
 * status at that time.
 */
async function countDevices(
	client: PoolClient,
	organizationId: string,
	asOf: string | undefined,
) {
	const { rows } = await client.query<{
		status: (typeof DEVICE_STATUSES)[number];
		freshness: (typeof FRESHNESSES)[number];
		in_conflict: boolean;
		devices: number;
		claimed: number;
	}>({
		name: "summary.devices",
		text: `
			select
				case when $2::timestamptz is null then t.status else ${statusAt("$2")} end as status,
				${FRESHNESS} as freshness,
				exists (
					select from device_conflicts c
					where c.organization_id = t.organization_id and c.device_id = t.id
						and c.kind = 'DUPLICATE_HARDWARE'
				) as in_conflict,
				count(*)::int as devices,
				(count(*) filter (where ${HAS_CLAIMED_OWNER}))::int as claimed
			from ${DEVICES}
			where t.organization_id = $1
				and ($2::timestamptz is null or ${statusAt("$2")} is not null)
			group by 1, 2, 3`,
		values: [organizationId, asOf ?? null],
	});
	const status = { PENDING: 0, ACTIVE: 0, REVOKED: 0 };
	const freshness = { ONLINE: 0, STALE: 0, MISSING: 0, NEVER: 0 };
	let inConflict = 0;
	let ownersToConfirm = 0;
	for (const row of rows) {
		status[row.status] += row.devices;
		ownersToConfirm += row.claimed;
		if (row.status !== "REVOKED") freshness[row.freshness] += row.devices;
		if (row.status === "PENDING" && row.in_conflict) inConflict += row.devices;
	}
	return { status, freshness, inConflict, ownersToConfirm };
}

/**
 * Lists the canonical checks first, whether or not a device has reported them. The other checks
 * follow, the most common ones first.
 */
function summarize({ active, statuses, ofCheck }: FleetCounts): CheckSummary[] {
	const empty = (key: string) => emptySummary(key, active, ofCheck(key));
	const summaries = new Map(
		CHECK_KEYS.map<[string, CheckSummary]>((key) => [key, empty(key)]),
	);
	for (const found of statuses) {
		const { check_key, status, is_stale, is_excepted, devices } = found;
		const summary = summaries.get(check_key) ?? empty(check_key);
		summaries.set(check_key, summary);
		summary.not_reported -= devices;
		if (is_stale) summary.stale += devices;
		else summary[FIELD_OF[status]] += devices;
		if (!is_stale && is_excepted && status === "FAIL") {
			summary.fail_excepted += devices;
		}
	}
	const [canonical, others] = [
		[...summaries.values()].slice(0, CHECK_KEYS.length),
		[...summaries.values()].slice(CHECK_KEYS.length),
	];
	others.sort(
		(a, b) =>
			a.not_reported - b.not_reported || (a.check_key < b.check_key ? -1 : 1),
	);
	return [...canonical, ...others];
}

const FIELD_OF = {
	PASS: "pass",
	FAIL: "fail",
	UNKNOWN: "unknown",
	NOT_APPLICABLE: "not_applicable",
} as const;

function emptySummary(
	checkKey: string,
	active: number,
	states: StateCounts,
): CheckSummary {
	return {
		check_key: checkKey,
		check_name: checkName(checkKey),
		pass: 0,
		fail: 0,
		fail_excepted: 0,
		unknown: 0,
		not_applicable: 0,
		stale: 0,
		not_reported: active,
		pass_percent: passPercent([states]),
		states,
	};
}

import type { PoolClient } from "pg";
import { z } from "zod";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import { listInput, pageShape, readPage } from "../records/list-pages.ts";
import { detailSchema } from "../records/result-rows.ts";
import { CHECK_KEYS_TEXT } from "./check-keys.ts";
import { listConflicts } from "./conflicts.ts";
import { groupsOfDevices } from "./device-groups.ts";
import {
	byFailingSince,
	deviceListing,
	pastFilters,
} from "./device-listing.ts";
import { findDevice, readPostures, toDevice } from "./device-postures.ts";
import {
	currentPosture,
	DEVICE_COLUMNS,
	DEVICES,
	type Device,
	type DeviceRow,
	device,
	deviceId,
	listedDevice,
	type PastDevice,
	toBrief,
} from "./device-record.ts";
import { readDeviceThresholds } from "./device-thresholds.ts";
import { readDevicesAsOf, rejectPresent } from "./devices-as-of.ts";
import { findEnrollmentToken } from "./enrollment.ts";
import { readPoliciesOfDevice } from "./group-policies/store.ts";
import { openNonconformities } from "./nonconformities/of-device.ts";
import { openTasksShape, readOpenTasks } from "./open-tasks.ts";
import { readCheckStates, withStates } from "./read-check-states.ts";
import { explain } from "./remediation/remediation.ts";
import type { PostureStatus } from "./terms.ts";
import { endOfMillisecond, pastTimestampSchema } from "./timestamps.ts";

const { orders, filters } = deviceListing;

export const listDevices = defineOperation({
	name: "listDevices",
	title: "List devices",
	description: `List the devices of an organization with their freshness, conflicts and the latest state of each check, a page at a time. The state of a silent device (not ONLINE, or is_stale with as_of) is only the last known one. FAIL without a check_state is FAILING. Checks are ${CHECK_KEYS_TEXT}, or an agent's own.`,
	toolset: "devices",
	access: "read",
	tenant: "organization_id",
	input: listInput(
		orders,
		filters,
		"Words, all in its name, hostname, serial number, system or owner's name",
	).extend({
		as_of: pastTimestampSchema()
			.optional()
			.describe(
				"The list as known at this time; give the same time for each page to pin it",
			),
		detail: detailSchema(),
		include_evidence: z
			.boolean()
			.optional()
			.describe(
				"Also return the evidence of each check, which is long; false by default",
			),
	}),
	output: z.object({
		// The console and the command line ask for full rows, so this is the type of a full row. The
		// cast takes two steps, because a brief row has not all of its fields.
		devices: z.array(listedDevice as unknown as typeof device),
		...pageShape,
	}),
	run: async ({ client, membership }, input) => {
		const { organizationId } = membership;
		const asOf = input.as_of && endOfMillisecond(input.as_of);
		const given: Record<string, unknown> = { ...input.filter };
		if (asOf) rejectPresent(input);
		const isBrief = input.detail === "brief" && !input.include_evidence;
		const { rows, ...page } = await readPage<DeviceRow>(
			client,
			{
				// A cursor is valid only for the time that returned it.
				tool: asOf ? `listDevices@${asOf}` : "listDevices",
				columns: DEVICE_COLUMNS,
				from: DEVICES,
				searched: "devices",
				people: deviceListing.people,
				repeated: deviceListing.repeated,
				orders: {
					...orders,
					failing_since: byFailingSince(given.failing_check),
				},
				filters: asOf ? pastFilters : filters,
			},
			asOf ? { ...input, filter: { ...input.filter, as_of: asOf } } : input,
		);
		const devices: (Device | PastDevice)[] = asOf
			? await readDevicesAsOf(client, organizationId, rows, asOf)
			: await readDevices(client, organizationId, rows, {
					withEvidence: input.include_evidence ?? false,
				});
		return {
			devices: (isBrief ? devices.map(toBrief) : devices) as Device[],
			...page,
		};
	},
});

async function readDevices(
	client: PoolClient,
	organizationId: string,
	rows: DeviceRow[],
	{ withEvidence }: { withEvidence: boolean },
): Promise<Device[]> {
	const ids = rows.map(({ id }) => id);
	const options = { isList: true, withEvidence };
	const [postures, states, groups] = await Promise.all([
		readPostures(client, organizationId, ids, options),
		readCheckStates(client, organizationId, ids),
		groupsOfDevices(client, organizationId, ids, filters),
	]);
	return rows.map((row) => ({
		...withStates(toDevice(row, postures), states),
		groups: groups.get(row.id) ?? [],
	}));
}

/** Only what fails or is not known needs a task. */
const isOpen = ({ status }: { status: PostureStatus }) =>
	status === "FAIL" || status === "UNKNOWN";

const explainedPosture = currentPosture.extend({
	reason: z.string().optional().describe("Why it has this status"),
	remediation: z.string().optional().describe("How to fix it"),
	nonconformity_id: z.string().optional().describe("Open one that lists it"),
	nonconformity_reference_id: z.string().optional(),
	...openTasksShape,
});

export const getDevice = defineOperation({
	name: "getDevice",
	title: "Get a device",
	description:
		"Read a device by its id: what it is, who owns it, its freshness, the latest state of each check with the agent's evidence and how to fix it, its conflicts (hardware that another device has, or a key used on two machines), and whether it has an unused enrollment token. The state of a silent device (not ONLINE) is only the last known one.",
	toolset: "devices",
	access: "read",
	tenant: "id",
	input: z.strictObject({ id: deviceId() }),
	output: z.object({
		device: device.extend({ postures: z.array(explainedPosture) }),
		conflicts: z.array(
			z.object({
				kind: z.enum(["DUPLICATE_HARDWARE", "POSSIBLE_CLONE"]),
				other_device_id: z
					.string()
					.nullable()
					.describe("The live device that has the hardware"),
				hardware_uuid: z.string().describe("As the other machine reported it"),
				platform: z.string(),
				hostname: z.string(),
				occurrences: z.int(),
				first_seen_at: z.string(),
				last_seen_at: z.string(),
			}),
		),
		enrollment_token: z
			.object({
				id: z.string(),
				state: z.enum(["OPEN", "EXPIRED", "REVOKED"]),
				expires_at: z.string(),
				created_at: z.string(),
				created_by: z.string().nullable(),
			})
			.nullable()
			.describe(
				"Newest token since the device last enrolled, without its secret; null once exchanged",
			),
	}),
	run: async ({ client, membership: { organizationId } }, { id }) => {
		const [found, inGroups, policies, conflicts, token, open, limits, tasks] =
			await Promise.all([
				findDevice(client, organizationId, id),
				groupsOfDevices(client, organizationId, [id], filters),
				readPoliciesOfDevice(client, organizationId, id),
				listConflicts(client, organizationId, id),
				findEnrollmentToken(client, organizationId, id),
				openNonconformities(client, organizationId, id),
				readDeviceThresholds(client, organizationId, [id]),
				readOpenTasks(client, organizationId, id),
			]);
		if (!found) throw notFound(id);
		const postures = found.postures.map((posture) => ({
			...posture,
			...open.get(posture.check_key),
			...(isOpen(posture) &&
				tasks(
					posture.check_key,
					open.get(posture.check_key)?.nonconformity_id,
				)),
			...explain(
				{ ...posture, platform: found.platform },
				found.postures,
				limits.get(id),
			),
		}));
		const groups = inGroups.get(id) ?? [];
		return {
			device: {
				...found,
				groups,
				group_policies: policies.filter(
					({ group_id, applies }) =>
						applies || groups.some((group) => group.id === group_id),
				),
				postures,
			},
			conflicts,
			enrollment_token: token,
		};
	},
});

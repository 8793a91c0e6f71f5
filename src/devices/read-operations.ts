import { z } from "zod";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import {
	byText,
	byTime,
	type Filter,
	listInput,
	type Order,
	pageShape,
	readPage,
} from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { CONFLICT_KINDS, listConflicts } from "./conflicts.ts";
import {
	checkKeySchema,
	DEVICE_COLUMNS,
	DEVICE_STATUSES,
	DEVICES,
	type DeviceRow,
	device,
	deviceId,
	FRESHNESS,
	FRESHNESSES,
	findDevice,
	readPostures,
	toDevice,
} from "./device-record.ts";
import { findEnrollmentToken } from "./enrollment.ts";
import { PLATFORMS, type PostureStatus } from "./terms.ts";

const orders: Record<string, Order> = {
	created_at: byTime("created_at"),
	name: byText("name"),
	hostname: byText("hostname"),
	// No index has this column, because every heartbeat would have to update that index. Instead, the
	// query reads and sorts all devices of the organization, which takes 100 ms for 100,000 devices.
	last_seen_at: {
		expression: "coalesce(t.last_seen_at, '-infinity'::timestamptz)",
		type: "timestamptz",
		direction: "DESC",
	},
};

const checkFilter = (status: PostureStatus, sql: Filter["sql"]): Filter => ({
	schema: checkKeySchema().describe(
		`Devices whose latest state of this check is ${status}`,
	),
	sql,
});

/**
 * Most devices match this filter. Reading them in the order of the list therefore fills a page
 * quickly.
 */
const byCheck = (status: PostureStatus) =>
	checkFilter(
		status,
		(parameter) => `exists (
			select from posture_spans s
			where s.organization_id = $1 and s.device_id = t.id and s.check_key = ${parameter}
				and s.is_current and s.status = '${status}'
		)`,
	);

const filters: Record<string, Filter> = {
	status: {
		schema: z.enum(DEVICE_STATUSES).describe("This status only"),
		sql: (parameter) => `t.status = ${parameter}`,
	},
	freshness: {
		schema: z
			.enum(FRESHNESSES)
			.describe(
				"ONLINE: a heartbeat within two intervals and a minute; STALE: none; MISSING: none for 7 days; NEVER: none yet",
			),
		sql: (parameter) => `(${FRESHNESS}) = ${parameter}`,
	},
	platform: {
		schema: z.enum(PLATFORMS).describe("This platform only"),
		sql: (parameter) => `t.platform = ${parameter}`,
	},
	owner_id: {
		schema: idSchema("people")
			.nullable()
			.describe("Devices of this person only; null: devices without an owner"),
		sql: (parameter) => `t.owner_id = ${parameter}`,
		whenNull: "t.owner_id is null",
	},
	// The subquery finds the failing devices through their own index first. With a join, PostgreSQL's
	// planner would read all devices.
	failing_check: checkFilter(
		"FAIL",
		(parameter) => `t.id = any(array(
			select s.device_id::text from posture_spans s
			where s.organization_id = $1 and s.check_key = ${parameter} and s.is_current and s.status = 'FAIL'
		))`,
	),
	conflict: {
		schema: z
			.enum(["ANY", ...CONFLICT_KINDS])
			.describe(
				"Devices with a conflict of this kind that an administrator should resolve",
			),
		sql: (parameter) => `t.id = any(array(
			select c.device_id::text from device_conflicts c
			where c.organization_id = $1 and (${parameter} = 'ANY' or c.kind = ${parameter})
		))`,
	},
	passing_check: byCheck("PASS"),
	unknown_check: byCheck("UNKNOWN"),
};

export const listDevices = defineOperation({
	name: "listDevices",
	title: "List devices",
	description:
		"List the devices of an organization with their freshness, conflicts and the latest state of each check, a page at a time. A state is only as current as the last heartbeat.",
	toolset: "devices",
	access: "read",
	tenant: "organization_id",
	input: listInput(
		orders,
		filters,
		"Words that must all occur in its name, hostname or serial number, or the name of its owner",
	).extend({
		include_evidence: z
			.boolean()
			.optional()
			.describe(
				"Also return the evidence of each check, which is long; false unless given",
			),
	}),
	output: z.object({
		devices: z.array(device),
		...pageShape,
	}),
	run: async ({ client, membership }, input) => {
		const { rows, ...page } = await readPage<DeviceRow>(
			client,
			{
				tool: "listDevices",
				columns: DEVICE_COLUMNS,
				from: DEVICES,
				searched: "devices",
				people: ["owner_id"],
				orders,
				filters,
			},
			input,
		);
		const postures = await readPostures(
			client,
			membership.organizationId,
			rows.map((row) => row.id),
			{ isList: true, withEvidence: input.include_evidence ?? false },
		);
		return {
			devices: rows.map((row) => toDevice(row, postures)),
			...page,
		};
	},
});

export const getDevice = defineOperation({
	name: "getDevice",
	title: "Get a device",
	description:
		"Read a device by its id: what it is, who owns it, its freshness, the latest state of each check with the agent's evidence, its conflicts (hardware that another device has, or a key used on two machines), and whether it has an unused enrollment token.",
	toolset: "devices",
	access: "read",
	tenant: "id",
	input: z.strictObject({ id: deviceId() }),
	output: z.object({
		device,
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
		const [found, conflicts, token] = await Promise.all([
			findDevice(client, organizationId, id),
			listConflicts(client, organizationId, id),
			findEnrollmentToken(client, organizationId, id),
		]);
		if (!found) throw notFound(id);
		return { device: found, conflicts, enrollment_token: token };
	},
});

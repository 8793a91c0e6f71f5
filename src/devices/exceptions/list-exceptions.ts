import { z } from "zod";
import { textArray } from "../../db/array.ts";
import { defineOperation } from "../../operation.ts";
import type { Filter } from "../../records/filter.ts";
import {
	byTime,
	listInput,
	type Order,
	pageShape,
	readPage,
} from "../../records/list-pages.ts";
import { whyNoReference } from "../../records/no-match-messages.ts";
import { obvious } from "../../records/shown-in-tool-list.ts";
import { idSchema } from "../../records/text-schemas.ts";
import { checkKeysOf, whyNoCheck } from "../check-keys.ts";
import { namedCheck } from "../device-record.ts";
import {
	type DeviceException,
	deviceException,
	EXCEPTION_COLUMNS,
	withCheckName,
} from "./exception-record.ts";
import {
	ENDING_DAYS,
	ENDS_SOON,
	EXCEPTION_STATUS,
	EXCEPTION_STATUSES,
} from "./exception-status.ts";

const orders: Record<string, Order> = {
	created_at: byTime("created_at"),
	ends_at: { ...byTime("ends_at"), direction: "ASC" },
};

const filters: Record<string, Filter> = {
	status: {
		schema: z
			.union([
				z.enum(EXCEPTION_STATUSES),
				z
					.array(z.enum(EXCEPTION_STATUSES))
					.min(1)
					.max(EXCEPTION_STATUSES.length),
			])
			.meta(obvious("One or several")),
		sql: (parameter) => `(${EXCEPTION_STATUS}) = any(${parameter}::text[])`,
		toParameter: (value) => textArray([value].flat() as string[]),
	},
	is_ending_soon: {
		schema: z.boolean().describe(`Ends within ${ENDING_DAYS} days`),
		sql: () => "true",
		flag: { true: ENDS_SOON, false: `(${ENDS_SOON}) is not true` },
	},
	is_self_approved: {
		schema: z.boolean().meta(obvious("Approved by its requester")),
		sql: () => "true",
		flag: { true: "t.is_self_approved", false: "not t.is_self_approved" },
	},
	check: {
		schema: namedCheck(),
		sql: (parameter) => `t.check_key = any(${parameter}::text[])`,
		toParameter: (value) => textArray(checkKeysOf(String(value))),
		whyNone: (client, organizationId, value) =>
			whyNoCheck(client, organizationId, String(value)),
	},
	device_id: {
		schema: idSchema("device").describe("For this device, by any scope"),
		sql: (parameter) => `(
			t.device_id = ${parameter} or t.scope = 'ALL'
			or t.scope = 'PLATFORM' and t.platform = (
				select d.platform from devices d where d.organization_id = $1 and d.id = ${parameter}
			)
			or t.scope = 'GROUP' and exists (
				select from device_exception_members m
				where m.organization_id = $1 and m.exception_id = t.id and m.device_id = ${parameter}
			)
		)`,
		whyNone: (client, organizationId, value) =>
			whyNoReference(client, "device", organizationId, String(value)),
	},
};

export const listDeviceExceptions = defineOperation({
	name: "listDeviceExceptions",
	title: "List exceptions",
	description:
		"List the exceptions that excuse devices from checks, also requested and ended ones. getDeviceException has the devices that one covered.",
	toolset: "exceptions",
	access: "read",
	tenant: "organization_id",
	input: listInput(
		orders,
		filters,
		"Words that must all occur in the check's key or the reason",
	),
	output: z.object({
		device_exceptions: z.array(deviceException),
		...pageShape,
	}),
	run: async ({ client }, input) => {
		const { rows, ...page } = await readPage<DeviceException>(
			client,
			{
				tool: "listDeviceExceptions",
				columns: EXCEPTION_COLUMNS,
				from: "device_exceptions t",
				orders,
				filters,
			},
			input,
		);
		return { device_exceptions: rows.map(withCheckName), ...page };
	},
});

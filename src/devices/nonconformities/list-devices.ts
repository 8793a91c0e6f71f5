import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import {
	byTime,
	pageCursor,
	pageShape,
	pageSize,
	readPage,
} from "../../records/list-pages.ts";
import { findId, recordInput } from "../../records/reference-ids.ts";
import { existing } from "../../records/store.ts";
import { nonconformity } from "../../registers/nonconformity.ts";
import { END_REASONS } from "./end-places.ts";

const place = z.object({
	device_id: z.string().nullable().describe("null: it was deleted"),
	device_name: z.string().nullable(),
	owner_id: z.string().nullable(),
	owner_name: z.string().nullable(),
	check_key: z.string(),
	since: z.string().describe("When it joined the nonconformity"),
	failing_since: z.string(),
	report_id: z.string().describe("Report with which the failure began"),
	until: z.string().nullable().describe("null: it still fails"),
	end_reason: z
		.enum(END_REASONS)
		.nullable()
		.describe("CLOSED, DELETED: a person did so while it failed"),
	end_report_id: z.string().nullable().describe("Report that ended it"),
});
type Place = z.output<typeof place>;

const COLUMNS = `
	t.id::text, t.device_id, t.check_key, t.since, t.failing_since, t.report_id, t.until,
	t.end_reason, t.end_report_id,
	(
		select coalesce(d.name, d.hostname) from devices d
		where d.organization_id = t.organization_id and d.id = t.device_id
	) as device_name,
	(
		select d.owner_id from devices d
		where d.organization_id = t.organization_id and d.id = t.device_id
	) as owner_id,
	(
		select p.full_name from devices d
		join people p on p.organization_id = d.organization_id and p.id = d.owner_id
		where d.organization_id = t.organization_id and d.id = t.device_id
	) as owner_name`;

const filters = {
	nonconformity_id: {
		schema: z.unknown(),
		sql: (parameter: string) => `t.nonconformity_id = ${parameter}`,
	},
	is_failing: {
		schema: z.unknown(),
		sql: (parameter: string) => `(t.until is null) = ${parameter}`,
	},
};

export const listNonconformityDevices = defineOperation({
	name: "listNonconformityDevices",
	title: "List the devices of a nonconformity",
	description:
		"List the devices for which the service opened a nonconformity: since when, until when, why it ended, and the reports that prove it, the latest first. Empty for one that a person opened.",
	toolset: "nonconformities",
	access: "read",
	tenant: "id",
	input: z.strictObject({
		...recordInput(nonconformity),
		is_failing: z
			.boolean()
			.optional()
			.describe("true: that still fail; false: that no longer do"),
		size: pageSize("Devices"),
		cursor: pageCursor(),
	}),
	output: z.object({ nonconformity_devices: z.array(place), ...pageShape }),
	run: async (context, { id: named, is_failing, size, cursor }) => {
		const id = await findId(context, nonconformity, named);
		await existing(context, nonconformity, id);
		const { rows, ...page } = await readPage<Place>(
			context.client,
			{
				tool: "listNonconformityDevices",
				columns: COLUMNS,
				from: "(select p.*, p.position as id from nonconformity_devices p) t",
				within: {
					sql: "t.organization_id = $1",
					value: context.membership.organizationId,
				},
				orders: { since: byTime("since") },
				filters,
			},
			{
				size,
				cursor,
				order_by: { field: "since" },
				filter: {
					nonconformity_id: id,
					...(is_failing !== undefined && { is_failing }),
				},
			},
		);
		return { nonconformity_devices: rows, ...page };
	},
});

import { z } from "zod";
import { AppError, badFields } from "../../errors.ts";
import { type Context, defineOperation } from "../../operation.ts";
import { idempotencyShape } from "../../records/idempotency.ts";
import {
	organizationId,
	pageCursor,
	pageShape,
	pageSize,
} from "../../records/list-pages.ts";
import { obvious } from "../../records/shown-in-tool-list.ts";
import {
	filledTextSchema,
	idSchema,
	timeSchema,
} from "../../records/text-schemas.ts";
import { requireUnchanged, unchangedShape } from "../../records/unchanged.ts";
import { namedCheck } from "../device-record.ts";
import { PLATFORMS } from "../terms.ts";
import { coveredDevice, readCovered } from "./covered-devices.ts";
import { noteException } from "./exception-changes.ts";
import {
	type DeviceException,
	deviceException,
	eventData,
	readException,
} from "./exception-record.ts";
import { MAX_EXCEPTION_DAYS } from "./exception-status.ts";
import { noteGroupDevices } from "./group-exceptions.ts";
import { checkPeriod, requestException } from "./request-exception.ts";
import { findApproval, requireMayApprove } from "./second-person.ts";

const one = z.object({ device_exception: deviceException });
const exceptionId = () =>
	idSchema("device_exception").meta(obvious("Id of the exception"));

export const getDeviceException = defineOperation({
	name: "getDeviceException",
	title: "Get an exception",
	description:
		"Read an exception, with a page of the times for which it excused a failing device, the latest first.",
	toolset: "exceptions",
	access: "read",
	tenant: "id",
	input: z.strictObject({
		id: exceptionId(),
		size: pageSize(),
		cursor: pageCursor(),
	}),
	output: one.extend({
		why_not_approve: z
			.string()
			.nullable()
			.describe(
				"Why you, an administrator, may not approve the open request; else null",
			),
		covered: z.array(coveredDevice),
		...pageShape,
	}),
	run: async (context, { id, ...page }) => {
		const found = await readException(context, id);
		const mayDecide =
			found.status === "REQUESTED" && context.membership.role === "admin";
		const approval = mayDecide ? await findApproval(context, found) : {};
		return {
			device_exception: found,
			why_not_approve: approval.refusal ?? null,
			...(await readCovered(context.client, id, page)),
		};
	},
});

export const addDeviceException = defineOperation({
	name: "addDeviceException",
	title: "Request an exception",
	description:
		"Ask that a device, a group, a platform or, with none of these, all devices be excused from a check for a time. It counts once an administrator approves it (approveDeviceException).",
	toolset: "exceptions",
	access: "write",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		check: namedCheck(),
		device_id: idSchema("device").optional().meta(obvious("One device")),
		group_id: idSchema("device_group")
			.optional()
			.meta(obvious("Group of devices")),
		platform: z.enum(PLATFORMS).optional().meta(obvious("One platform")),
		reason: filledTextSchema().describe("Why, and what is done instead"),
		starts_at: timeSchema().optional().meta(obvious("Now by default")),
		ends_at: timeSchema().describe(`At most ${MAX_EXCEPTION_DAYS} days later`),
		...idempotencyShape,
	}),
	output: one,
	run: async (context, { organization_id, ...wanted }) => {
		const { userId, name } = context.principal;
		const id = await requestException(context.client, organization_id, wanted, {
			userId,
			name,
		});
		const added = await readException(context, id);
		noteException(context, undefined, added);
		context.happened({
			type: "exception.requested",
			record_id: id,
			data: eventData(added),
		});
		return { device_exception: added };
	},
});

export const updateDeviceException = defineOperation({
	name: "updateDeviceException",
	title: "Change an exception",
	description:
		"Change a requested exception. Once it is approved, an administrator can only give an earlier ends_at; a time in the past ends it now. To excuse for longer, request another exception.",
	toolset: "exceptions",
	access: "write",
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({
		id: exceptionId(),
		reason: filledTextSchema().optional().meta(obvious("Why")),
		starts_at: timeSchema().optional().meta(obvious("Start")),
		ends_at: timeSchema().optional().meta(obvious("End")),
		...unchangedShape,
	}),
	output: one,
	run: async (context, { id, if_updated_at, ...given }) => {
		const before = await readException(context, id, "for update of t");
		requireUnchanged("exception", before, if_updated_at);
		if (before.status === "REQUESTED") {
			checkPeriod(
				given.starts_at ?? before.starts_at,
				given.ends_at ?? before.ends_at,
			);
		} else checkEarlierEnd(context, before, given);
		await context.client.query(
			`update device_exceptions t set
				reason = coalesce($3, reason), starts_at = coalesce($4, starts_at),
				ends_at = case
					when $5::timestamptz is null then ends_at
					when decision is null then $5
					-- An approved exception ends now at the earliest, so the past stays as it was.
					else greatest($5, starts_at, now())
				end,
				updated_at = now()
			where t.organization_id = $1 and t.id = $2`,
			[
				context.membership.organizationId,
				id,
				given.reason,
				given.starts_at,
				given.ends_at,
			],
		);
		const after = await readException(context, id);
		noteException(context, before, after);
		return { device_exception: after };
	},
});

function checkEarlierEnd(
	{ membership }: Context,
	before: DeviceException,
	given: { reason?: string; starts_at?: string; ends_at?: string } | object,
): void {
	const { ends_at, ...others } = given as Record<string, string | undefined>;
	if (membership.role !== "admin") {
		throw new AppError(
			"forbidden",
			"permission denied: only an administrator can end an exception that was decided",
		);
	}
	if (before.status === "ENDED" || before.status === "REJECTED") {
		const done = before.status === "ENDED" ? "has ended" : "was rejected";
		throw badFields([
			{
				field: "id",
				message: `the exception ${done}; request another exception`,
			},
		]);
	}
	const issues = Object.keys(others)
		.filter((field) => others[field] !== undefined)
		.map((field) => ({
			field,
			message:
				"cannot change after the approval; request another exception instead",
		}));
	if (ends_at !== undefined && Date.parse(ends_at) > Date.parse(before.ends_at))
		issues.push({
			field: "ends_at",
			message: `must not be later than ${before.ends_at}, the end that was approved; request another exception instead`,
		});
	if (issues.length > 0) throw badFields(issues);
}

export const approveDeviceException = defineOperation({
	name: "approveDeviceException",
	title: "Decide about an exception",
	description:
		"Approve a requested exception, or reject it with is_approved false.",
	toolset: "exceptions",
	access: "admin",
	tenant: "id",
	input: z.strictObject({
		id: exceptionId(),
		is_approved: z.boolean().optional().describe("true by default"),
		note: filledTextSchema().optional().describe("Why, kept for auditors"),
	}),
	output: one,
	run: async (context, { id, is_approved = true, note }) => {
		const { client, membership, principal } = context;
		const before = await readException(context, id, "for update of t");
		if (before.status !== "REQUESTED") {
			const done = before.decided_at ? "was already decided" : "has ended";
			throw badFields([
				{
					field: "id",
					message: `the exception ${done}; request another one if it is still needed`,
				},
			]);
		}
		const alone = is_approved
			? await requireMayApprove(context, before, note)
			: undefined;
		await client.query(
			`update device_exceptions set decision = $3, decided_at = now(), decided_by_id = $4,
				decided_by_name = $5, decision_note = $6, is_self_approved = $7, updated_at = now()
			where organization_id = $1 and id = $2`,
			[
				membership.organizationId,
				id,
				is_approved ? "APPROVED" : "REJECTED",
				principal.userId,
				principal.name,
				note,
				alone !== undefined,
			],
		);
		if (is_approved && before.group_id) {
			await noteGroupDevices(
				client,
				membership.organizationId,
				before.group_id,
			);
		}
		const after = await readException(context, id);
		noteException(
			context,
			before,
			after,
			alone ? { approved_by: { after: alone } } : {},
		);
		context.happened({
			type: is_approved ? "exception.approved" : "exception.rejected",
			record_id: id,
			data: eventData(after),
		});
		return { device_exception: after };
	},
});

export const deleteDeviceException = defineOperation({
	name: "deleteDeviceException",
	title: "Delete an exception",
	description:
		"Delete an exception that never excused a device: one that was not approved or has not begun. End another one with updateDeviceException.",
	toolset: "exceptions",
	access: "admin",
	isDestructive: true,
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({ id: exceptionId() }),
	output: z.object({ deleted_device_exception_id: z.string() }),
	run: async (context, { id }) => {
		const before = await readException(context, id, "for update of t");
		const wasInForce =
			before.decided_by !== null &&
			(before.status === "IN_FORCE" || before.status === "ENDED");
		if (wasInForce) {
			throw badFields([
				{
					field: "id",
					message:
						"the exception has been in force, so it stays for auditors; end it with updateDeviceException",
				},
			]);
		}
		await context.client.query(
			"delete from device_exceptions where organization_id = $1 and id = $2",
			[context.membership.organizationId, id],
		);
		noteException(context, before, undefined);
		return { deleted_device_exception_id: id };
	},
});

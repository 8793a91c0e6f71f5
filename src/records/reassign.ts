import { z } from "zod";
import { handOverRules } from "../devices/hand-over-rules.ts";
import { AppError, badFields } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { recordKinds } from "../registers/all.ts";
import { outOfScope } from "../tokens/scopes.ts";
import { type AnyRecordKind, toolsetOf } from "./kind.ts";
import { readRemainingDuties, remainingDuties } from "./remaining-duties.ts";
import { columnsOf } from "./result-rows.ts";
import { missingReference, noteStored } from "./store.ts";
import { idSchema } from "./text-schemas.ts";
import type { Values } from "./values.ts";

/** Largest number of records that one call hands over, all in one transaction. */
const MAX_REASSIGNED = 5_000;

/** The fields of each register that name one person, such as owner_id and assigned_to_id. */
const HOLDINGS = recordKinds.flatMap((kind) => {
	const fields = Object.entries(kind.fields)
		.filter(([, { reference, join }]) => reference === "people" && !join)
		.map(([name]) => name);
	return fields.length > 0 ? [{ kind, fields }] : [];
});

export const reassignRecords = defineOperation({
	name: "reassignRecords",
	title: "Hand over a person's records",
	description: `Hand over everything that a person owns or is assigned, in all registers and devices, to another person. Use it when somebody leaves. All or nothing, up to ${MAX_REASSIGNED} records. Returns the counts by kind.`,
	toolset: "bulk",
	access: "write",
	isIdempotent: true,
	tenant: "from",
	input: z.strictObject({
		from: idSchema("people").describe("Person who hands over"),
		to: idSchema("people").describe("Person who takes over"),
	}),
	output: z.object({
		reassigned: z.array(z.object({ kind: z.string(), count: z.int() })),
		total: z.int(),
		left: remainingDuties.describe("What still needs a decision"),
	}),
	run: async (context, people) => {
		await requirePeople(context, people);
		const rules = mayChangePolicy(context)
			? await handOverRules(context, people)
			: 0;
		const held = [];
		for (const { kind, fields } of HOLDINGS) {
			const records = await lockHeld(context, kind, fields, people.from);
			held.push({ kind, fields, records });
		}
		const devices = await lockDevices(context, people.from);
		const reassigned = [
			...held.map(({ kind, records }) => ({
				kind: kind.kind as string,
				toolset: toolsetOf(kind),
				count: records.length,
			})),
			{ kind: "device", toolset: "devices", count: devices.length },
		].filter(({ count }) => count > 0);
		for (const { toolset } of reassigned) requireScope(context, toolset);
		const total = reassigned.reduce((sum, { count }) => sum + count, 0);
		if (total > MAX_REASSIGNED) {
			throw badFields([
				{
					field: "from",
					message: `this person has more than ${MAX_REASSIGNED} records; change the owner of some of them first, and hand over the rest`,
				},
			]);
		}
		for (const { kind, fields, records } of held) {
			if (records.length === 0) continue;
			await moveHeld(context, kind, fields, records, people);
		}
		await moveDevices(context, devices, people);
		return {
			reassigned: [
				...reassigned.map(({ kind, count }) => ({ kind, count })),
				...(rules > 0 ? [{ kind: "device_policy", count: rules }] : []),
			],
			total: total + rules,
			left: await readRemainingDuties(context, people.from),
		};
	},
});

interface People {
	from: string;
	to: string;
}

async function requirePeople(
	{ client, membership }: Context,
	{ from, to }: People,
): Promise<void> {
	if (from === to) {
		throw badFields([{ field: "to", message: "must be another person" }]);
	}
	const { rows } = await client.query<{ id: string }>(
		"select p.id from people p where p.organization_id = $1 and p.id = any($2) order by p.id for key share",
		[membership.organizationId, [from, to]],
	);
	const there = rows.map(({ id }) => id);
	if (!there.includes(from)) throw notFound(from);
	if (!there.includes(to)) {
		throw badFields([missingReference("to", "people", to)]);
	}
}

/** Returns true if the caller may change the rules of checks. Others leave them as they are. */
const mayChangePolicy = ({ principal, membership }: Context): boolean =>
	membership.role === "admin" &&
	!outOfScope(principal, {
		name: "updateDevicePolicy",
		toolset: "device_policy",
		isReadOnly: false,
	});

/** Rejects a call that would change records outside the scope of the caller's API token. */
function requireScope({ principal }: Context, toolset: string): void {
	const excluded = outOfScope(principal, {
		name: `a record of ${toolset}`,
		toolset,
		isReadOnly: false,
	});
	if (excluded) throw new AppError("forbidden", excluded);
}

async function lockHeld(
	{ client, membership }: Context,
	kind: AnyRecordKind,
	fields: readonly string[],
	person: string,
): Promise<Values[]> {
	const holds = fields.map((field) => `t.${field} = $2`).join(" or ");
	const { rows } = await client.query<Values>({
		name: `held.${kind.kind}`,
		text: `select ${columnsOf(kind)} from ${kind.table} t
			where t.organization_id = $1 and (${holds})
			order by t.id limit ${MAX_REASSIGNED + 1} for update of t`,
		values: [membership.organizationId, person],
	});
	return rows;
}

async function moveHeld(
	context: Context,
	kind: AnyRecordKind,
	fields: readonly string[],
	records: readonly Values[],
	{ from, to }: People,
): Promise<void> {
	const assignments = fields.map(
		(field) => `${field} = case ${field} when $3 then $4 else ${field} end`,
	);
	const ids = records.map(({ id }) => String(id));
	await context.client.query(
		`update ${kind.table} set ${assignments.join(", ")}, updated_at = now()
		where organization_id = $1 and id = any($2)`,
		[context.membership.organizationId, ids, from, to],
	);
	const noted = records.map((before) => ({ id: String(before.id), before }));
	await noteStored(context, kind, noted);
}

interface HeldDevice {
	id: string;
	name: string | null;
}

async function lockDevices(
	{ client, membership }: Context,
	person: string,
): Promise<HeldDevice[]> {
	const { rows } = await client.query<HeldDevice>(
		`select t.id, coalesce(t.name, t.hostname) as name from devices t
		where t.organization_id = $1 and t.owner_id = $2
		order by t.id limit ${MAX_REASSIGNED + 1} for update`,
		[membership.organizationId, person],
	);
	return rows;
}

async function moveDevices(
	{ client, membership, changed }: Context,
	devices: readonly HeldDevice[],
	{ from, to }: People,
): Promise<void> {
	if (devices.length === 0) return;
	await client.query(
		"update devices set owner_id = $3, updated_at = now() where organization_id = $1 and id = any($2)",
		[membership.organizationId, devices.map(({ id }) => id), to],
	);
	for (const { id, name } of devices) {
		const fields = { owner_id: { before: from, after: to } };
		changed({ kind: "device", id, name, fields });
	}
}

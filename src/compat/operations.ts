import { z } from "zod";
import { AppError, badFields } from "../errors.ts";
import type { IdKind } from "../id.ts";
import { type Context, defineOperation } from "../operation.ts";
import { linkRecords, unlinkRecords } from "../records/links.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { changeRecord, existing } from "../records/store.ts";
import { idSchema } from "../records/text-schemas.ts";
import { prepareUpdate } from "../records/values.ts";
import { task } from "../registers/task.ts";

// Names of tools that prompts for other servers use. Each does the same as a tool of Assay, and is
// listed only for clients that ask for the toolset `compat`.

const id = (kind: IdKind) =>
	idSchema(kind).meta(obvious(`Id of the ${kind.replaceAll("_", " ")}`));

const taskOutput = z.object({
	task: z.object({
		id: z.string(),
		name: z.string(),
		state: z.string(),
		assigned_to_id: z.string().nullable(),
		assigned_to_name: z.string().nullable(),
		updated_at: z.string(),
	}),
});

async function assign(
	context: Context,
	taskId: string,
	personId: string | null,
): Promise<z.output<typeof taskOutput>> {
	const before = await existing(context, task, taskId, "for update");
	const different = prepareUpdate(task, before, { assigned_to_id: personId });
	const after =
		Object.keys(different).length === 0
			? before
			: await changeRecord(context, task, before, different);
	return { task: taskOutput.shape.task.parse(after) };
}

const assignTask = defineOperation({
	name: "assignTask",
	title: "Assign a task",
	description:
		"Assign a task to a person, as updateTask does with assigned_to_id.",
	toolset: "compat",
	access: "write",
	isIdempotent: true,
	tenant: "task_id",
	input: z.strictObject({
		task_id: id("task"),
		assigned_to_id: idSchema("people").describe("Person who does the task"),
	}),
	output: taskOutput,
	run: (context, input) => assign(context, input.task_id, input.assigned_to_id),
});

const unassignTask = defineOperation({
	name: "unassignTask",
	title: "Unassign a task",
	description: "Take a task from its person, as updateTask does with null.",
	toolset: "compat",
	access: "write",
	isIdempotent: true,
	tenant: "task_id",
	input: z.strictObject({ task_id: id("task") }),
	output: taskOutput,
	run: (context, input) => assign(context, input.task_id, null),
});

/** Returns linkControl… and unlinkControl… for a kind of record. */
function controlLinks<
	const Name extends string,
	const Kind extends "measure" | "document" | "audit" | "snapshot",
>(name: Name, kind: Kind) {
	const other = `${kind}_id` as const;
	const input = z.strictObject({
		control_id: id("control"),
		[other]: id(kind),
	});
	const endsOf = (given: Record<string, string>) => ({
		record_id: given.control_id ?? "",
		linked_record_id: given[other] ?? "",
	});
	/** Makes an error name the field of this tool instead of that of linkRecords. */
	const renameField = (error: unknown): never => {
		const fields = error instanceof AppError ? error.fields : undefined;
		if (!fields) throw error;
		throw badFields(
			fields.map(({ field, message }) => ({
				field: field === "linked_record_id" ? other : field,
				message,
			})),
		);
	};
	const link = defineOperation({
		name: `linkControl${name}`,
		title: `Link a control and ${kind === "audit" ? "an" : "a"} ${kind}`,
		description: `Link a control to ${kind === "audit" ? "an" : "a"} ${kind}, as linkRecords does.`,
		toolset: "compat",
		access: "write",
		isIdempotent: true,
		tenant: "control_id",
		input,
		output: linkRecords.output,
		run: (context, given) =>
			linkRecords.run(context, endsOf(given)).catch(renameField),
	});
	const unlink = defineOperation({
		name: `unlinkControl${name}`,
		title: `Unlink a control and ${kind === "audit" ? "an" : "a"} ${kind}`,
		description: `Remove the link between a control and ${kind === "audit" ? "an" : "a"} ${kind}, as unlinkRecords does.`,
		toolset: "compat",
		access: "write",
		isIdempotent: true,
		isDestructive: true,
		tenant: "control_id",
		input,
		output: unlinkRecords.output,
		run: (context, given) =>
			unlinkRecords.run(context, endsOf(given)).catch(renameField),
	});
	return [link, unlink] as const;
}

export const compatOperations = [
	assignTask,
	unassignTask,
	...controlLinks("Measure", "measure"),
	...controlLinks("Document", "document"),
	...controlLinks("Audit", "audit"),
	...controlLinks("Snapshot", "snapshot"),
] as const;

import type { PoolClient } from "pg";
import { z } from "zod";
import { checkName } from "./device-record.ts";

/** Most tasks of a device that are looked at. */
const MAX_TASKS = 50;

const openTask = z.object({
	id: z.string(),
	name: z.string(),
	assigned_to_name: z.string().nullable(),
	deadline: z.string().nullable(),
});

export const openTasksShape = {
	open_tasks: z
		.array(openTask)
		.optional()
		.describe("Tasks for it that are not done and linked to the device"),
};

/** Returns the open tasks for a check of the device. */
type TasksOf = (
	checkKey: string,
	nonconformityId: string | undefined,
) => { open_tasks?: z.output<typeof openTask>[] };

/**
 * Reads the open tasks that are linked to a device. No task has a field for a check. A task is for a
 * check if it is also linked to the nonconformity that lists the device for it, or if its name or
 * description names the check, as that of a task from the page of the device does.
 */
export async function readOpenTasks(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
): Promise<TasksOf> {
	const { rows } = await client.query<
		z.output<typeof openTask> & { words: string; linked_ids: string[] }
	>({
		name: "device.open_tasks",
		text: `
			select t.id, t.name, p.full_name as assigned_to_name, t.deadline::text as deadline,
				lower(concat_ws(' ', t.name, t.description)) as words,
				array(
					select l.first_id::text from record_links l
					where l.organization_id = $1 and l.second_id = t.id and l.first_kind = 'nonconformity'
					union all
					select l.second_id::text from record_links l
					where l.organization_id = $1 and l.first_id = t.id and l.second_kind = 'nonconformity'
				) as linked_ids
			from (
				select l.second_id as id from record_links l
				where l.organization_id = $1 and l.first_id = $2 and l.second_kind = 'task'
				union all
				select l.first_id from record_links l
				where l.organization_id = $1 and l.second_id = $2 and l.first_kind = 'task'
			) linked
			join tasks t on t.organization_id = $1 and t.id = linked.id and t.state <> 'DONE'
			left join people p on p.organization_id = $1 and p.id = t.assigned_to_id
			order by t.deadline nulls last, t.created_at, t.id
			limit ${MAX_TASKS}`,
		values: [organizationId, deviceId],
	});
	return (checkKey, nonconformityId) => {
		const names = [checkKey, checkName(checkKey) ?? checkKey].map((name) =>
			name.toLowerCase(),
		);
		const tasks = rows
			.filter(
				({ words, linked_ids: ids }) =>
					(nonconformityId !== undefined && ids.includes(nonconformityId)) ||
					names.some((name) => words.includes(name)),
			)
			.map(({ words: _, linked_ids: __, ...task }) => task);
		return tasks.length > 0 ? { open_tasks: tasks } : {};
	};
}

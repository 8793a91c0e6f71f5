import { Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { formatDay } from "../../parts/days.ts";
import { TextLink } from "../../parts/links.tsx";

type Posture = OutputOf<"getDevice">["device"]["postures"][number];

/** Lists the open tasks for a check of a device, so that nobody makes a second one. */
export function OpenTasks({
	tasks,
	checkName,
}: {
	tasks: NonNullable<Posture["open_tasks"]>;
	checkName: string;
}) {
	const { organizationId } = useOrganization();
	return (
		<section aria-label={`Open tasks: ${checkName}`}>
			<Text size="sm" fw={500}>
				{tasks.length === 1 ? "Open task" : "Open tasks"}
			</Text>
			<ul style={{ listStyle: "none", margin: 0, padding: 0 }}>
				{tasks.map(({ id, name, assigned_to_name: owner, deadline }) => (
					<li key={id}>
						<TextLink
							to="/o/$org/r/$kind/$id"
							params={{ org: organizationId, kind: "task", id }}
							size="sm"
							style={{ overflowWrap: "anywhere" }}
						>
							{name}
						</TextLink>
						<Text size="xs" c="dimmed">
							{owner ?? "Assigned to nobody"},{" "}
							{deadline ? `due ${formatDay(deadline)}` : "no due date"}
						</Text>
					</li>
				))}
			</ul>
		</section>
	);
}

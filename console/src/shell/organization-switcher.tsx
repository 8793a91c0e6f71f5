import { Button, Menu, Text } from "@mantine/core";
import { IconCheck, IconSelector } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useShownOrganization } from "../organization.ts";
import { organizationsQuery } from "../queries.ts";

/** Shows the current organization and lets the user switch to another one. */
export function OrganizationSwitcher() {
	const { data = [] } = useQuery(organizationsQuery);
	const current = useShownOrganization();
	if (data.length === 0) return null;
	return (
		<Menu position="bottom-start" width={260}>
			<Menu.Target>
				<Button
					variant="subtle"
					color="gray"
					c="var(--mantine-color-text)"
					px="xs"
					miw={0}
					maw={260}
					rightSection={<IconSelector size={16} aria-hidden />}
					aria-label={`Organization: ${current?.name ?? "Choose an organization"}`}
				>
					<Text truncate size="sm" fw={500}>
						{current?.name ?? "Choose an organization"}
					</Text>
				</Button>
			</Menu.Target>
			<Menu.Dropdown mah="70vh" style={{ overflowY: "auto" }}>
				<Menu.Label>Organizations</Menu.Label>
				{data.map(({ id, name, role }) => (
					<Menu.Item
						key={id}
						component={Link}
						to="/o/$org"
						params={{ org: id } as never}
						rightSection={
							id === current?.id && <IconCheck size={16} aria-label="current" />
						}
					>
						<Text size="sm" truncate>
							{name}
						</Text>
						<Text size="xs" c="dimmed">
							You are {role === "admin" ? "an" : "a"} {role}
						</Text>
					</Menu.Item>
				))}
			</Menu.Dropdown>
		</Menu>
	);
}

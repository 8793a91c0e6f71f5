import { Button, Menu, Text } from "@mantine/core";
import { IconCheck, IconPlus, IconSelector } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useShownOrganization } from "../organization.ts";
import { ROLES } from "../parts/roles.tsx";
import { NOW } from "../past.ts";
import { organizationsQuery } from "../queries.ts";

const CreateOrganization = lazy(async () => ({
	default: (await import("../pages/settings/create-organization.tsx"))
		.CreateOrganization,
}));

/** Shows the current organization and lets the user switch to another one. */
export function OrganizationSwitcher() {
	const { data = [] } = useQuery(organizationsQuery);
	const current = useShownOrganization();
	const [isCreating, setCreating] = useState(false);
	const mayCreate = data.some(({ role }) => role !== "viewer");
	if (data.length === 0) return null;
	return (
		<>
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
							search={{ as_of: NOW } as never}
							rightSection={
								id === current?.id && (
									<IconCheck size={16} aria-label="current" />
								)
							}
						>
							<Text size="sm" truncate>
								{name}
							</Text>
							<Text size="xs" c="dimmed">
								You are {role === "admin" ? "an" : "a"}{" "}
								{ROLES[role].label.toLowerCase()}
							</Text>
						</Menu.Item>
					))}
					{mayCreate && (
						<>
							<Menu.Divider />
							<Menu.Item
								leftSection={<IconPlus size={16} aria-hidden />}
								onClick={() => setCreating(true)}
							>
								New organization …
							</Menu.Item>
						</>
					)}
				</Menu.Dropdown>
			</Menu>
			{isCreating && (
				<Suspense>
					<CreateOrganization opened onClose={() => setCreating(false)} />
				</Suspense>
			)}
		</>
	);
}

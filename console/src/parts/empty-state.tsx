import { Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** Says that there is nothing to show, and what to do. */
export function EmptyState({
	title,
	icon,
	children,
	actions,
}: {
	title: string;
	icon?: ReactNode;
	/** One sentence that says what to do. */
	children?: ReactNode;
	actions?: ReactNode;
}) {
	return (
		<Paper withBorder p="xl">
			<Stack align="center" gap="xs" ta="center" py="md">
				{icon}
				<Title order={2} style={{ overflowWrap: "anywhere" }}>
					{title}
				</Title>
				{children && (
					<Text c="dimmed" maw={480} component="div">
						{children}
					</Text>
				)}
				{actions && (
					<Group mt="sm" justify="center">
						{actions}
					</Group>
				)}
			</Stack>
		</Paper>
	);
}

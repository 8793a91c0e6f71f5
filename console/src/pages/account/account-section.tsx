import { Group, Paper, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

/** A section of the account page. */
export function Section({
	title,
	description,
	action,
	children,
}: {
	title: string;
	description?: ReactNode;
	/** A control at the right of the title. */
	action?: ReactNode;
	children?: ReactNode;
}) {
	const id = useId();
	return (
		<Paper withBorder p="md" component="section" aria-labelledby={id}>
			<Group
				justify="space-between"
				align="center"
				gap="xs"
				{...(children ? { mb: "sm" } : {})}
			>
				<div>
					<Title order={2} id={id}>
						{title}
					</Title>
					{description && (
						<Text size="sm" c="dimmed">
							{description}
						</Text>
					)}
				</div>
				{action}
			</Group>
			{children}
		</Paper>
	);
}

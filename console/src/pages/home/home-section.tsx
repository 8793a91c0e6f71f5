import { Group, Paper, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

/** A section of the home page, with a heading and a link to a page that shows more. */
export function Section({
	title,
	more,
	children,
}: {
	title: string;
	more?: ReactNode;
	children: ReactNode;
}) {
	const id = useId();
	return (
		<Paper
			withBorder
			p="md"
			h="100%"
			component="section"
			aria-labelledby={id}
			style={{ minWidth: 0 }}
		>
			<Group justify="space-between" align="baseline" mb="md" gap="xs">
				<Title order={2} id={id}>
					{title}
				</Title>
				{more}
			</Group>
			{children}
		</Paper>
	);
}

import { Group, Paper, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";
import { PlainText } from "../../parts/plain-text.tsx";

/** A section of the home page, with a heading and a link to a page that shows more. */
export function Section({
	title,
	more,
	none,
	children,
}: {
	title: string;
	more?: ReactNode;
	/** Says that there is nothing, and what to do. The section is then one line. */
	none?: ReactNode;
	children?: ReactNode;
}) {
	const id = useId();
	const isEmpty = none !== undefined;
	return (
		<Paper
			withBorder
			px="md"
			py={isEmpty ? 8 : "md"}
			h="100%"
			component="section"
			aria-labelledby={id}
			style={{ minWidth: 0 }}
		>
			<Group
				justify="space-between"
				align="baseline"
				mb={isEmpty ? 0 : "md"}
				gap="xs"
			>
				<Group align="baseline" gap="2px 12px">
					<Title order={2} id={id} {...(isEmpty && { fz: "md" })}>
						{title}
					</Title>
					{isEmpty && (
						<PlainText size="sm" c="dimmed">
							{none}
						</PlainText>
					)}
				</Group>
				{more}
			</Group>
			{!isEmpty && children}
		</Paper>
	);
}

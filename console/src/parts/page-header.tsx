import { Box, Group, Text, Title } from "@mantine/core";
import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

let shown: string | undefined;

/**
 * The heading of a page, which is also the document's title. After a navigation it takes
 * the focus, so that a screen reader says where one has come to.
 */
export function PageHeader({
	title,
	description,
	actions,
}: {
	title: string;
	description?: ReactNode;
	/** Buttons; the most important one last. */
	actions?: ReactNode;
}) {
	const heading = useRef<HTMLHeadingElement>(null);
	const pathname = useRouterState({
		// Where one has come to, not where one is going: the old page is still there meanwhile.
		select: ({ resolvedLocation, location }) =>
			(resolvedLocation ?? location).pathname,
	});
	useEffect(() => {
		document.title = `${title} · Assay`;
	}, [title]);
	useEffect(() => {
		const isNavigation = shown !== undefined && shown !== pathname;
		shown = pathname;
		// A form that is all that one came for has put the focus into its first field.
		const isInForm = document.activeElement?.closest("form");
		if (isNavigation && !isInForm) {
			heading.current?.focus({ preventScroll: true });
		}
	}, [pathname]);
	return (
		<Group justify="space-between" align="flex-start" mb="lg" gap="sm">
			<Box miw={0} flex="1 1 320px">
				<Title
					order={1}
					ref={heading}
					tabIndex={-1}
					textWrap="balance"
					style={{ overflowWrap: "anywhere" }}
				>
					{title}
				</Title>
				{description && (
					<Text c="dimmed" size="sm" mt={4} component="div">
						{description}
					</Text>
				)}
			</Box>
			{actions && <Group gap="xs">{actions}</Group>}
		</Group>
	);
}

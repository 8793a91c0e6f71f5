import { Box, Group, Text, Title } from "@mantine/core";
import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

let shown: string | undefined;

/**
 * Shows the heading of a page, which is also the title of the document. After a navigation the
 * heading takes the focus, so that screen readers announce the new page.
 */
export function PageHeader({
	title,
	parent,
	description,
	actions,
	isWide = false,
}: {
	title: string;
	/** A link to the list that the page belongs to. It stands above the title. */
	parent?: ReactNode;
	description?: ReactNode;
	/** The page's buttons. The most important one comes last. */
	actions?: ReactNode;
	/** True for a list, which uses the whole width of the window. */
	isWide?: boolean;
}) {
	const heading = useRef<HTMLHeadingElement>(null);
	const place = useRouterState({
		// The old page stays visible until the new one is ready, so the heading belongs to the page
		// that is shown and not to the one that is loading.
		select: ({ resolvedLocation, location }) => {
			const { pathname, search } = resolvedLocation ?? location;
			// The form of a record has the record's address, but is a page of its own.
			return "edit" in search ? `${pathname}?edit` : pathname;
		},
	});
	useEffect(() => {
		document.title = `${title} · Assay`;
	}, [title]);
	useEffect(() => {
		const isNavigation = shown !== undefined && shown !== place;
		shown = place;
		// On a page that is only a form, the first field already has the focus.
		const isInForm = document.activeElement?.closest("form");
		if (isNavigation && !isInForm) {
			heading.current?.focus({ preventScroll: true });
		}
	}, [place]);
	return (
		<Group
			justify="space-between"
			align="flex-start"
			mb="lg"
			gap="sm"
			data-wide={isWide || undefined}
		>
			<Box miw={0} flex="1 1 320px">
				{parent && (
					<Text size="sm" mb={4} component="nav" aria-label="Where you are">
						{parent}
					</Text>
				)}
				<Title
					order={1}
					// The links above lead to the pages that this one belongs to.
					aria-current={parent ? "page" : undefined}
					ref={heading}
					tabIndex={-1}
					textWrap="balance"
					style={{ overflowWrap: "anywhere" }}
				>
					{title}
				</Title>
				{description && (
					<Text
						c="dimmed"
						size="sm"
						mt={4}
						component="div"
						style={{ overflowWrap: "anywhere" }}
					>
						{description}
					</Text>
				)}
			</Box>
			{actions && (
				<Group gap="xs" className="page-actions">
					{actions}
				</Group>
			)}
		</Group>
	);
}

import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ApiError } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

/** Shows a message instead of a form to visitors who are not signed in. */
export function Message({
	title,
	children,
	actions,
}: {
	title: string;
	children: ReactNode;
	actions?: ReactNode;
}) {
	return (
		<>
			<PageHeader title={title} />
			<Stack>
				<Text component="div">{children}</Text>
				{actions}
			</Stack>
		</>
	);
}

/** Says why a link does not work and what to do. If a retry may help, offers one. */
export function LinkProblem({
	error,
	onRetry,
	title,
	children,
	actions,
}: {
	/** The error of linkQuery, or null if the address contains no secret. */
	error: unknown;
	onRetry: () => unknown;
	title: string;
	/** Says what has happened to a link that is complete, and what to do. */
	children: ReactNode;
	actions?: ReactNode;
}) {
	const mayRetry = !(error instanceof ApiError) || error.mayRetry;
	if (error !== null && mayRetry) {
		return (
			<>
				<PageHeader title={title} />
				<ErrorState error={error} onRetry={onRetry} />
			</>
		);
	}
	const isBroken =
		error === null || error.fields.some(({ field }) => field === "token");
	return (
		<Message
			title={isBroken ? "This link is not complete" : title}
			actions={actions}
		>
			{isBroken
				? "The end of the link is missing. Copy the complete link, with everything after the #, and open it again."
				: children}
		</Message>
	);
}

import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ApiError } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

/** A page for whoever has not signed in that has something to say instead of a form. */
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

/** Why a link does not work, with what to do; or a way to try again where that may help. */
export function LinkProblem({
	error,
	onRetry,
	title,
	children,
	actions,
}: {
	/** Of linkQuery; null: the address has no secret at all. */
	error: unknown;
	onRetry: () => unknown;
	title: string;
	/** What happened to a link that is whole, and what to do. */
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

import { Alert, Anchor, Box, Button, Stack } from "@mantine/core";
import { IconAlertCircle } from "@tabler/icons-react";
import {
	type ErrorComponentProps,
	Link,
	useRouter,
} from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { ApiError } from "../api.ts";
import { EmptyState } from "./empty-state.tsx";
import { PageHeader } from "./page-header.tsx";

/** Returns the error as a sentence for the reader. */
export function sentenceOf(error: unknown): string {
	return error instanceof ApiError
		? error.message
		: "This page failed. Reload it. If it fails again, tell your administrator.";
}

/** Time after which a page that maintenance has stopped tries again. */
const MAINTENANCE_MS = 10_000;

const NOT_LOADED = "This could not be loaded";
/** The title if the server failed or could not be reached, so that a retry may help. */
const NOT_DONE = "This could not be saved";

function isMaintenance(error: unknown): boolean {
	return error instanceof ApiError && error.isMaintenance;
}

function isOutage(error: unknown): boolean {
	return error instanceof ApiError && error.mayRetry;
}

/** Shows what went wrong, with a button to retry. The message scrolls into view by itself. */
export function ErrorState({
	error,
	onRetry,
	title = NOT_LOADED,
}: {
	error: unknown;
	onRetry?: () => unknown;
	/** The title if the server rejected the request. It names what was not done. */
	title?: string;
}) {
	const message = useRef<HTMLDivElement>(null);
	// biome-ignore lint/correctness/useExhaustiveDependencies: each new error scrolls into view.
	useEffect(() => {
		// A wrong field has the focus and must stay in view, so the page does not scroll.
		if (document.activeElement?.ariaInvalid === "true") return;
		message.current?.scrollIntoView({ block: "nearest" });
	}, [error]);
	return (
		<Alert
			ref={message}
			color="red"
			variant="outline"
			title={title !== NOT_LOADED && isOutage(error) ? NOT_DONE : title}
			icon={<IconAlertCircle aria-hidden />}
			role="alert"
		>
			<Stack gap="sm" align="flex-start">
				{sentenceOf(error)}
				{onRetry && (
					<Button variant="default" size="xs" onClick={() => onRetry()}>
						Try again
					</Button>
				)}
			</Stack>
		</Alert>
	);
}

/** Shown instead of a page that failed. During maintenance, it tries again by itself. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
	const router = useRouter();
	const again = () => {
		reset();
		return router.invalidate();
	};
	// biome-ignore lint/correctness/useExhaustiveDependencies: each new error starts the time anew.
	useEffect(() => {
		if (!isMaintenance(error)) return;
		const timer = setTimeout(again, MAINTENANCE_MS);
		return () => clearTimeout(timer);
	}, [error]);
	return <ErrorState error={error} onRetry={again} />;
}

/** Shown instead of the whole window, if not even the frame of the pages could be loaded. */
export function ErrorWindow(props: ErrorComponentProps) {
	return (
		<Box component="main" p="md" pt="xl" maw="40rem" mx="auto">
			<ErrorPage {...props} />
		</Box>
	);
}

export function NotFoundPage() {
	return (
		<>
			<PageHeader title="Not found" />
			<EmptyState title="There is nothing at this address">
				It may have been deleted, or it may belong to an organization that you
				are not a member of.{" "}
				<Anchor component={Link} to="/" underline="always">
					Go to the home page
				</Anchor>
			</EmptyState>
		</>
	);
}

import { Alert, Anchor, Button, Stack } from "@mantine/core";
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

/** The error as a sentence for the reader. */
export function sentenceOf(error: unknown): string {
	return error instanceof ApiError
		? error.message
		: "This page has failed. Reload it. If it fails again, tell your administrator.";
}

const NOT_LOADED = "This could not be loaded";
/** Nobody has refused anything. */
const NOT_DONE = "This could not be saved";

function isOutage(error: unknown): boolean {
	return error instanceof ApiError && error.mayRetry;
}

/** What went wrong, and a way to try again. Comes into view by itself. */
export function ErrorState({
	error,
	onRetry,
	title = NOT_LOADED,
}: {
	error: unknown;
	onRetry?: () => unknown;
	/** What the server has not done because it refused. */
	title?: string;
}) {
	const message = useRef<HTMLDivElement>(null);
	// biome-ignore lint/correctness/useExhaustiveDependencies: each error is a message of its own.
	useEffect(() => {
		// A field that is at fault has the focus, and is to stay in view.
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

/** In the place of a page that failed. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
	const router = useRouter();
	return (
		<ErrorState
			error={error}
			onRetry={() => {
				reset();
				return router.invalidate();
			}}
		/>
	);
}

export function NotFoundPage() {
	return (
		<>
			<PageHeader title="Not found" />
			<EmptyState title="Page not found">
				It may have been deleted, or it may belong to an organization that you
				are not a member of.{" "}
				<Anchor component={Link} to="/" underline="always">
					Go to the home page
				</Anchor>
			</EmptyState>
		</>
	);
}

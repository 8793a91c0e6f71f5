import { Button, Group, Modal, Text } from "@mantine/core";

/** The part of useBlocker's result that is used here. */
interface Guard {
	status: "idle" | "blocked";
	next?: { pathname: string } | undefined;
	proceed?: (() => void) | undefined;
	reset?: (() => void) | undefined;
}

/**
 * Asks before unsaved input is lost. If the session has ended, the dialog says how the input can
 * still be saved.
 */
export function LeaveGuard({ guard }: { guard: Guard }) {
	const isBlocked = guard.status === "blocked";
	const isSignedOut = isBlocked && guard.next?.pathname === "/sign-in";
	return (
		<Modal
			opened={isBlocked}
			onClose={() => guard.reset?.()}
			title={isSignedOut ? "You are signed out" : "Leave without saving?"}
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Text>
				{isSignedOut
					? "Your input is still here but is not saved. Sign in in another tab, come back to this one, and save again."
					: "Your input is not saved and will be lost."}
			</Text>
			<Group justify="flex-end" mt="md">
				<Button
					variant="default"
					data-autofocus
					onClick={() => guard.reset?.()}
				>
					Stay here
				</Button>
				{isSignedOut && (
					<Button component="a" href="/sign-in" target="_blank">
						Sign in in another tab
					</Button>
				)}
				<Button color="red.9" onClick={() => guard.proceed?.()}>
					{isSignedOut ? "Discard it" : "Leave"}
				</Button>
			</Group>
		</Modal>
	);
}

import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { Dialog } from "./dialog.tsx";
import { ErrorState } from "./error-state.tsx";
import { useReturnFocus } from "./return-focus.ts";

/**
 * Asks for confirmation before an action that cannot be undone. The dialog says what will happen.
 * If the server rejects the request, it shows the reason. When the action is done, it closes
 * itself.
 */
export function Confirm({
	opened,
	onClose,
	title,
	children,
	action,
	onConfirm,
	isDangerous = true,
	isBlocked = false,
}: {
	opened: boolean;
	onClose: () => void;
	/** The question, such as "Delete the risk?". */
	title: string;
	/** Text that says what the consequence is. */
	children: ReactNode;
	/** The label of the button, such as "Delete the risk". */
	action: string;
	onConfirm: () => Promise<unknown>;
	isDangerous?: boolean;
	/** True if the action cannot succeed now. The text then says why. */
	isBlocked?: boolean;
}) {
	// The state of the mutation is known only after the next render.
	const isBusy = useRef(false);
	const doing = useMutation({
		mutationFn: onConfirm,
		onSettled: () => {
			isBusy.current = false;
		},
	});
	const confirm = () => {
		if (isBusy.current) return;
		isBusy.current = true;
		doing.mutate(undefined, { onSuccess: close });
	};
	useReturnFocus(opened);
	const close = () => {
		doing.reset();
		onClose();
	};
	return (
		<Dialog opened={opened} onClose={close} title={title}>
			<Stack>
				<Text component="div">{children}</Text>
				{doing.isError && (
					<ErrorState error={doing.error} title="The action failed" />
				)}
				<Group justify="flex-end">
					<Button variant="default" onClick={close} data-autofocus>
						Cancel
					</Button>
					<Button
						{...(isDangerous ? { color: "red.9" } : {})}
						loading={doing.isPending}
						disabled={isBlocked}
						onClick={confirm}
					>
						{action}
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}

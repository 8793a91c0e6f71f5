import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { useReturnFocus } from "../../parts/return-focus.ts";

/** A dialog of the account page. */
export function Dialogue({
	title,
	onClose,
	children,
}: {
	title: string;
	onClose: () => void;
	children: ReactNode;
}) {
	useReturnFocus();
	return (
		<Modal
			opened
			onClose={onClose}
			title={title}
			closeButtonProps={{ "aria-label": "Close" }}
		>
			{children}
		</Modal>
	);
}

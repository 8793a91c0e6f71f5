import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { useReturnFocus } from "../../parts/return-focus.ts";

/**
 * A dialog. With `mustBeRead`, a click outside does not close it. This is for content that is shown
 * only once.
 */
export function Dialogue({
	title,
	onClose,
	mustBeRead = false,
	children,
}: {
	title: string;
	onClose: () => void;
	mustBeRead?: boolean;
	children: ReactNode;
}) {
	useReturnFocus();
	return (
		<Modal
			opened
			onClose={onClose}
			title={title}
			withCloseButton={!mustBeRead}
			closeButtonProps={{ "aria-label": "Close" }}
			closeOnClickOutside={!mustBeRead}
			closeOnEscape={!mustBeRead}
		>
			{children}
		</Modal>
	);
}

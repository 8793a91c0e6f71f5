import { Modal, type ModalProps } from "@mantine/core";
import { useIsMutating } from "@tanstack/react-query";

/**
 * A dialog that changes something. While its request runs, neither the Escape key nor a click
 * outside closes it, because the reader would not see whether the request failed.
 */
export function Dialog(props: ModalProps) {
	const isSaving = useIsMutating() > 0;
	return (
		<Modal
			closeOnEscape={!isSaving}
			closeOnClickOutside={!isSaving}
			closeButtonProps={{ "aria-label": "Close" }}
			{...props}
		/>
	);
}

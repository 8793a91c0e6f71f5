import type { ReactNode } from "react";
import { Dialog } from "../../parts/dialog.tsx";
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
		<Dialog opened onClose={onClose} title={title}>
			{children}
		</Dialog>
	);
}

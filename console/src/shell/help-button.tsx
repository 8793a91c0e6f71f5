import { ActionIcon, Tooltip } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconHelp } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";

const HelpDialog = lazy(async () => ({
	default: (await import("./help-dialog.tsx")).HelpDialog,
}));

/** Opens the help, with a button or from anywhere with the key `?`. */
export function HelpButton() {
	const [isOpen, setOpen] = useState(false);
	// The key needs Shift on some keyboards and not on others.
	useHotkeys([
		["?", () => setOpen(true)],
		["shift+?", () => setOpen(true)],
	]);
	return (
		<>
			<Tooltip label="Help">
				<ActionIcon
					variant="subtle"
					color="gray"
					c="var(--mantine-color-text)"
					size="lg"
					aria-label="Help"
					aria-keyshortcuts="?"
					onClick={() => setOpen(true)}
				>
					<IconHelp size={18} aria-hidden />
				</ActionIcon>
			</Tooltip>
			{isOpen && (
				<Suspense>
					<HelpDialog onClose={() => setOpen(false)} />
				</Suspense>
			)}
		</>
	);
}

import { notifications } from "@mantine/notifications";

/** How long the message stays, so that there is time to read it. */
const FAILURE_MS = 30_000;

/** The ids of the last messages, by their titles. */
const shown = new Map<string, string>();

/**
 * Says that something failed. A later failure with the same title takes the place of the message, and
 * screen readers read it out again. With `stays`, the message stays until the reader closes it, because
 * there is something to do.
 */
export function showFailure(
	title: string,
	message: string,
	{ stays = false }: { stays?: boolean } = {},
): void {
	const last = shown.get(title);
	if (last !== undefined) notifications.hide(last);
	const id = notifications.show({
		color: "red",
		title,
		message,
		autoClose: stays ? false : FAILURE_MS,
	});
	shown.set(title, id);
}

import { notifications } from "@mantine/notifications";

/**
 * Says that something failed. The message stays until the reader closes it. A later failure with the
 * same title takes its place.
 */
export function showFailure(title: string, message: string): void {
	notifications.hide(title);
	notifications.show({
		id: title,
		color: "red",
		title,
		message,
		autoClose: false,
	});
}

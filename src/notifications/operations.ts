import {
	addNotificationChannel,
	deleteNotificationChannel,
	listNotificationChannels,
	updateNotificationChannel,
} from "./channel-operations.ts";
import {
	listNotificationDeliveries,
	testNotificationChannel,
} from "./delivery-operations.ts";

/** All operations on channels for notifications and on their deliveries. */
export const notificationOperations = [
	listNotificationChannels,
	addNotificationChannel,
	updateNotificationChannel,
	deleteNotificationChannel,
	testNotificationChannel,
	listNotificationDeliveries,
] as const;

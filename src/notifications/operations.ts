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

export const notificationOperations = [
	listNotificationChannels,
	addNotificationChannel,
	updateNotificationChannel,
	deleteNotificationChannel,
	testNotificationChannel,
	listNotificationDeliveries,
] as const;

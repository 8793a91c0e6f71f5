import { setTimeout } from "node:timers/promises";
import { sendTo } from "../../support/console-client.ts";
import type { TestService } from "../../support/service.ts";
import type { Walk } from "./callers.ts";

/** Waits until every queued mail was sent. */
export async function untilMailed({
	service,
	database,
}: TestService): Promise<void> {
	// A mail about a document waits a minute for further news, so this makes it due at once.
	await database.owner.query(
		"update mails set due_at = now() where state = 'QUEUED' and attempts = 0",
	);
	const queued = "select from mails where state = 'QUEUED'";
	while ((await database.owner.query(queued)).rowCount) {
		service.wake();
		await setTimeout(20);
	}
}

/** Uses webhooks, messages to chats, and links to My devices. */
export async function useOutgoing({
	running,
	organization_id,
	admin: { use },
}: Walk): Promise<void> {
	const { url } = running.service;
	const { database } = running;
	const { webhook } = await use("addWebhook", {
		organization_id,
		url: "https://assay.invalid/hook",
	});
	const hook = { organization_id, id: webhook.id };
	const { delivery_id } = await use("testWebhook", hook);
	await use("listWebhookDeliveries", hook);
	await use("resendWebhookDelivery", { organization_id, id: delivery_id });
	await use("rotateWebhookSecret", hook);
	await use("updateWebhook", { ...hook, is_enabled: false });
	await use("deleteWebhook", hook);
	const told = await use("addNotificationChannel", {
		organization_id,
		kind: "SLACK",
		name: "Chat",
		address: "https://assay.invalid/hook",
	});
	const chat = { organization_id, id: told.channel.id };
	await use("listNotificationChannels", { organization_id });
	await use("testNotificationChannel", chat);
	await use("listNotificationDeliveries", chat);
	await use("updateNotificationChannel", { ...chat, is_enabled: false });
	await use("deleteNotificationChannel", chat);
	const { people } = await use("addPeople", {
		organization_id,
		full_name: "Grace",
		primary_email_address: "grace@example.com",
		kind: "EMPLOYEE",
	});
	const owned = await use("addDevice", {
		organization_id,
		name: "Grace's laptop",
		owner_id: people.id,
	});
	await use("sendMyDevicesLinks", {
		organization_id,
		device_ids: [owned.device.id],
	});
	const copied = await use("copyMyDevicesLink", {
		organization_id,
		device_id: owned.device.id,
	});
	const token = copied.link.split("#")[1];
	const opened = await sendTo(url, "/api/my-devices/open", { token });
	const page = { cookie: opened.cookie };
	await sendTo(url, "/api/my-devices", undefined, page);
	await sendTo(url, "/api/my-devices/close", {}, page);
	await sendTo(url, "/api/my-devices/new-link", { token });
	await untilMailed(running);
	const { mail_id } = await use("sendTestMail", { organization_id });
	// The state of the mail decides whether it can be retried, so it must not change meanwhile.
	await untilMailed(running);
	await database.owner.query(
		"update mails set state = 'FAILED', due_at = null, sent_at = null where id = $1",
		[mail_id],
	);
	await use("retryMail", { organization_id, id: mail_id });
}

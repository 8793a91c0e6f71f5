import { expect } from "vitest";
import { isTransactionConflict } from "../../src/db/sqlstate.ts";
import { makeLogger } from "../../src/log.ts";
import { startDigests } from "../../src/notifications/digest.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import { postureResult, startService } from "../support/service.ts";
import { openSmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";
import { makeReceiver } from "../webhooks/receiver.ts";

/** A part of a chat's address that must not appear anywhere. */
export const SECRET_PART = "XXXXsecretXXXX";

export type Stand = Awaited<ReturnType<typeof openStand>>;

/** Repeats work that met a deadlock, because the service still sends messages meanwhile. */
async function withoutDeadlock(work: () => Promise<unknown>): Promise<void> {
	for (;;) {
		try {
			await work();
			return;
		} catch (error) {
			if (!isTransactionConflict(error)) throw error;
		}
	}
}

/** Starts the service with a chat and a mail server that keep what they get. */
export async function openStand() {
	const receiver = makeReceiver();
	const address = (await receiver.listen()).replace(
		"/hook",
		`/services/T000/B000/${SECRET_PART}`,
	);
	const sink = await openSmtpSink();
	const served = await startService(undefined, {
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	const { owner } = served.database;
	const url = served.service.url;
	const { email } = await makeUser(
		served.database,
		{ organizationId: served.organizationId, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const { cookie } = await sendTo(url, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	});
	let people = 0;

	const call = (name: string, input: object = {}) =>
		sendTo(
			url,
			`/api/console/${name}`,
			{ organization_id: served.organizationId, ...input },
			{ cookie },
		);

	async function use(name: string, input: object = {}) {
		const { status, body } = await call(name, input);
		expect(status, JSON.stringify(body)).toBe(200);
		return body;
	}

	/** Returns the messages that have arrived, oldest first. */
	const received = () =>
		receiver.received.map(({ headers, body }) => ({
			headers,
			body: JSON.parse(body),
		}));

	const arrived = (count: number) =>
		until(`message ${count}`, () => {
			served.service.wake();
			return receiver.received.length >= count && received();
		});

	async function addChannel(kind: string, fields: object = {}) {
		const isChat = kind === "SLACK" || kind === "TEAMS";
		const { channel } = await use("addNotificationChannel", {
			kind,
			name: kind,
			...(isChat && { address }),
			...fields,
		});
		return channel as { id: string };
	}

	const deliveryOf = (
		id: string,
		isReached: (one: Record<string, unknown>) => boolean,
	) =>
		until("the state of a delivery", async () => {
			served.service.wake();
			const { deliveries } = await use("listNotificationDeliveries", { id });
			return deliveries.find(isReached);
		});

	/**
	 * Lets the time pass for which messages and mails collect events, or until a message is tried
	 * again. What is being sent has no result yet, and would be sent twice.
	 */
	async function hurry(): Promise<void> {
		await owner.query(
			`with m as (
				update mails set due_at = now()
				where state = 'QUEUED' and kind <> 'TEST' and attempts = 0
			)
			update notification_messages set due_at = now()
			where state = 'QUEUED'
				and (attempts = 0 or failure is not null or answer_status is not null)`,
		);
		served.service.wake();
	}

	/** Waits until the service has handled all events. */
	const untilHandled = () =>
		until("the service to handle all events", async () => {
			served.service.wake();
			const { rowCount } = await owner.query(
				"select from events where handled_at is null",
			);
			return rowCount === 0;
		});

	async function addPerson() {
		const { people: person } = await use("addPeople", {
			full_name: `Owner ${++people}`,
			primary_email_address: `owner${people}@example.com`,
			kind: "EMPLOYEE",
		});
		return person as { id: string; primary_email_address: string };
	}

	async function addFailingDevice(personId?: string) {
		const device = await served.activateDevice();
		if (personId) {
			await use("updateDevice", {
				organization_id: undefined,
				id: device.id,
				owner_id: personId,
			});
		}
		await served.post(
			"postures",
			{ results: [postureResult({ status: "FAIL" })] },
			{ key: device.key },
		);
		return device;
	}

	/**
	 * Queues the weekly mails that are due. The service does so every minute, and another process may
	 * do the same work at any time.
	 */
	async function queueDigests(): Promise<void> {
		const mailer = { wake: served.service.wake, idle: async () => {} };
		const log = makeLogger("silent");
		const poller = startDigests(served.database.pool, mailer, log);
		await poller.idle();
		await poller.stop();
	}

	/** Makes a weekly channel due, and returns the mails that are then sent. */
	async function digestNow(channelId: string, count: number) {
		await owner.query(
			"update notification_channels set next_digest_at = now() where id = $1",
			[channelId],
		);
		await queueDigests();
		const mails = [];
		for (let n = 0; n < count; n++) mails.push(await sink.next());
		return mails;
	}

	return {
		served,
		url,
		owner,
		sink,
		receiver,
		address,
		email,
		call,
		use,
		received,
		arrived,
		addChannel,
		deliveryOf,
		hurry,
		untilHandled,
		addPerson,
		addFailingDevice,
		queueDigests,
		digestNow,
		/** Removes the channels, and forgets what has arrived. */
		reset: async () => {
			receiver.reset();
			receiver.hangUp();
			await withoutDeadlock(() =>
				owner.query("delete from notification_channels"),
			);
			receiver.received.length = 0;
			while (sink.waiting() > 0) await sink.next();
		},
		close: async () => {
			await served.close();
			sink.close();
			receiver.close();
		},
	};
}

export const messageId = (text: string) =>
	/^Message-ID: (.*)$/im.exec(text)?.[1];

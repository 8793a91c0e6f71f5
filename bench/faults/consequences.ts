import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { EVENT_TYPE_NAMES } from "../../src/events/types.ts";
import { makeId } from "../../src/id.ts";
import { sealText } from "../../src/sign-in/sealed-text.ts";
import { openSmtpSink, type SmtpSink } from "../../test/support/smtp-sink.ts";
import { makeReceiver, type Receiver } from "../../test/webhooks/receiver.ts";
import { makeFleet } from "../fleet.ts";
import { insertToken } from "../mcp-seed.ts";
import { OwnPostgres } from "../own-postgres.ts";
import { BENCH_SECRET, freePort, OwnService } from "../own-service.ts";
import { say, type Undo } from "../run.ts";
import { seed } from "../seed.ts";
import { CHECKS, ChangingDevices } from "./changing-devices.ts";
import { type Consequences, checkConsequences } from "./check-consequences.ts";
import { makeBenchFolder } from "./stand.ts";

export const CONSEQUENCES = "service killed (kill -9) while events are handled";

/** The events that are told. Those of the devices' enrollment came before the webhook. */
const TOLD = EVENT_TYPE_NAMES.filter((name) =>
	/^(posture|nonconformity)\./.test(name),
);
const DEVICES = 24;
const PEOPLE = 6;
/** Longest time between a start and a kill. The service looks for events every 5 to 6 s. */
const MOST_RUNNING_MS = 7_000;
const QUIET_TIMEOUT_MS = 120_000;

/** Everything that the receivers got: mails by Message-ID, deliveries, and messages to the chat. */
export interface Arrived {
	messageIds: string[];
	deliveries: { id: string; body: string }[];
	chats: string[];
}

/**
 * Kills the service `kills` times while devices change and their events have consequences:
 * nonconformities, mails, deliveries to a webhook and messages to a chat. A third of the kills
 * comes at a random moment, a third when a delivery has arrived and is not yet answered, and a
 * third when a mail has arrived. Then every device passes, and the database is compared with what
 * arrived.
 */
export async function killWhileEventsAreHandled(
	kills: number,
	undo: Undo[],
): Promise<Consequences> {
	say(CONSEQUENCES);
	const folder = makeBenchFolder();
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const receiver = makeReceiver();
	const hook = await receiver.listen();
	undo.push(receiver.close);
	const sink = await openSmtpSink();
	undo.push(sink.close);
	const postgres = await OwnPostgres.create(join(folder, "db"));
	undo.push(() => postgres.stop());
	const port = await freePort();
	const service = new OwnService(port, join(folder, "service"), postgres.url, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
	});
	undo.push(() => service.stop());
	await service.start();
	const client = await postgres.connect();
	undo.push(() => client.end());
	const fleet = makeFleet(DEVICES, 1);
	const [organization = ""] = fleet.organizations;
	await seed(client, fleet);
	await prepare(client, organization, fleet.ids, port, hook);

	const moments = watchArrivals(receiver, sink);
	const devices = new ChangingDevices(port, fleet);
	await devices.begin();
	devices.start();
	await untilOpened(client);
	for (let kill = 0; kill < kills; kill++) {
		const late = sleep(Math.random() * MOST_RUNNING_MS);
		if (kill % 3 === 0) await late;
		else {
			const event = kill % 3 === 1 ? moments.delivery() : moments.mail();
			await Promise.race([event, sleep(MOST_RUNNING_MS)]);
		}
		await service.kill();
		await hurry(client);
		await service.start();
	}
	await devices.stop();
	await becomeQuiet(client, service);
	return checkConsequences(client, kills, devices.changes, moments.arrived());
}

/** Adds owners, a policy without grace, a webhook and channels. */
async function prepare(
	client: Client,
	organization: string,
	deviceIds: string[],
	port: number,
	hook: string,
): Promise<void> {
	const token = await insertToken(client, organization, "admin");
	// biome-ignore lint/suspicious/noExplicitAny: the answers of tools have many forms.
	const use = async (tool: string, input: object): Promise<any> => {
		const answer = await fetch(
			`http://127.0.0.1:${port}/api/mcp/tools/${tool}`,
			{
				method: "POST",
				headers: { authorization: `Bearer ${token}` },
				body: JSON.stringify(input),
			},
		);
		const body = await answer.json();
		if (!answer.ok) throw new Error(`${tool}: ${JSON.stringify(body)}`);
		return body;
	};
	const owners: string[] = [];
	for (let n = 0; n < PEOPLE; n++) {
		const { people } = await use("addPeople", {
			organization_id: organization,
			full_name: `Owner ${n}`,
			primary_email_address: `owner${n}@example.com`,
			kind: "EMPLOYEE",
		});
		owners.push(people.id);
	}
	for (const [at, id] of deviceIds.entries()) {
		await use("updateDevice", { id, owner_id: owners[at % PEOPLE] });
	}
	await use("updateDevicePolicy", {
		organization_id: organization,
		checks: CHECKS.map((check_key) => ({
			check_key,
			grace_days: 0,
			new_device_grace_days: 0,
			severity: "MAJOR",
		})),
	});
	await client.query(
		"insert into webhooks (organization_id, id, url, event_types) values ($1, $2, $3, $4)",
		[organization, makeId(organization, "webhook"), hook, TOLD],
	);
	const channel = (kind: string, chat: string | null, events: string[]) => {
		const id = makeId(organization, "notification_channel");
		return client.query(
			`insert into notification_channels (organization_id, id, kind, name, sealed_address,
				address_host, event_types, digest_weekday, next_digest_at)
			select $1, $2, $3::text, $3, $4, $5, $6, d, now() + d * interval '7 days'
			from (select case $3 when 'DEVICE_OWNERS' then 1 end as d) x`,
			[
				organization,
				id,
				kind,
				chat &&
					sealText(chat, "notification address", id, { secret: BENCH_SECRET }),
				chat && new URL(chat).host,
				events,
			],
		);
	};
	await channel("DEVICE_OWNERS", null, []);
	await channel("ADMINISTRATORS", null, TOLD);
	await channel("SLACK", hook.replace("/hook", "/chat"), TOLD);
}

/** Notes what arrives. `delivery` and `mail` resolve when the next one has just arrived. */
function watchArrivals(receiver: Receiver, sink: SmtpSink) {
	const mails: string[] = [];
	const next = { delivery: () => {}, mail: () => {} };
	receiver.behave = (response, request) => {
		const isDelivery = request.headers["webhook-id"] !== undefined;
		// A kill between the arrival and the answer needs a moment in which there is no answer.
		setTimeout(() => response.end("thanks"), 5);
		if (isDelivery) next.delivery();
	};
	void (async () => {
		for (;;) {
			const { text } = await sink.next();
			mails.push(/^Message-ID: <([^@>]+)/im.exec(text)?.[1] ?? "");
			next.mail();
		}
	})();
	const once = (what: keyof typeof next) =>
		new Promise<void>((resolve) => {
			next[what] = resolve;
		});
	return {
		delivery: () => once("delivery"),
		mail: () => once("mail"),
		arrived: (): Arrived => ({
			messageIds: mails,
			deliveries: receiver.received.flatMap(({ headers, body }) => {
				const id = headers["webhook-id"];
				return typeof id === "string" ? { id, body } : [];
			}),
			chats: receiver.received.flatMap(({ headers, body }) =>
				headers["webhook-id"] === undefined ? body : [],
			),
		}),
	};
}

/**
 * Lets the time pass for which jobs of a killed process stay taken, and for which mails and
 * messages collect events. The service must not run.
 */
async function hurry(client: Client): Promise<void> {
	for (const table of [
		"webhook_deliveries",
		"notification_messages",
		"mails",
	]) {
		await client.query(
			`update ${table} set due_at = now() where state = 'QUEUED'`,
		);
	}
}

/** Resolves when the service has opened a nonconformity. On a slow machine, that takes a while. */
async function untilOpened(client: Client): Promise<void> {
	const until = Date.now() + QUIET_TIMEOUT_MS;
	while (Date.now() < until) {
		const { rowCount } = await client.query(
			"select from check_nonconformities limit 1",
		);
		if (rowCount) return;
		await sleep(200);
	}
}

/** Resolves when every event is handled, every job is done and no nonconformity is open. */
async function becomeQuiet(client: Client, service: OwnService): Promise<void> {
	const until = Date.now() + QUIET_TIMEOUT_MS;
	while (Date.now() < until) {
		// Mails collect events for an hour. Nobody waits for that here.
		await service.stop();
		await hurry(client);
		await service.start();
		await sleep(6_000);
		const { rows } = await client.query<{ left: number }>(
			`select (select count(*) from events where handled_at is null)
				+ (select count(*) from webhook_deliveries where state = 'QUEUED')
				+ (select count(*) from notification_messages where state = 'QUEUED')
				+ (select count(*) from mails where state = 'QUEUED')
				+ (select count(*) from nonconformity_devices where until is null) as left`,
		);
		if (Number(rows[0]?.left) === 0) return;
	}
	say("the service did not become quiet");
}

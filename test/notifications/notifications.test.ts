import { once } from "node:events";
import {
	createServer,
	type IncomingMessage,
	type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import {
	postureResult,
	startService,
	type TestService,
} from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

const SECRET_PATH = "/services/T000/B000/XXXXsecretXXXX";

type Behavior = (response: ServerResponse, request: IncomingMessage) => void;
const accept: Behavior = (response) => response.end("ok");
let behave: Behavior = accept;
// biome-ignore lint/suspicious/noExplicitAny: the test checks the form of the body.
const received: { headers: IncomingMessage["headers"]; body: any }[] = [];
const receiver = createServer(async (request, response) => {
	request.on("error", () => {});
	let body = "";
	for await (const chunk of request) body += chunk;
	received.push({ headers: request.headers, body: JSON.parse(body) });
	behave(response, request);
});

let served: TestService;
let sink: SmtpSink;
let address: string;
let cookie: string;
let email: string;
beforeAll(async () => {
	receiver.listen(0, "127.0.0.1");
	await once(receiver, "listening");
	address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${SECRET_PATH}`;
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	({ email } = await makeUser(
		served.database,
		{ organizationId: served.organizationId, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	));
	({ cookie } = await sendTo(served.service.url, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	}));
});
afterEach(async () => {
	behave = accept;
	receiver.closeAllConnections();
	await owner().query("delete from notification_channels");
	received.length = 0;
	while (sink.waiting() > 0) await sink.next();
});
afterAll(async () => {
	await served.close();
	sink.close();
	receiver.closeAllConnections();
	receiver.close();
});

const owner = () => served.database.owner;
const url = () => served.service.url;

const call = (name: string, input: object = {}) =>
	sendTo(
		url(),
		`/api/console/${name}`,
		{ organization_id: served.organizationId, ...input },
		{ cookie },
	);

async function use(name: string, input: object = {}) {
	const { status, body } = await call(name, input);
	expect(status, JSON.stringify(body)).toBe(200);
	return body;
}

async function until<T>(read: () => Promise<T | undefined> | T | undefined) {
	for (;;) {
		const found = await read();
		if (found !== undefined && found !== false) return found;
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

const arrived = (count: number) =>
	until(() => (received.length >= count ? received : undefined));

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
	until(async () => {
		const { deliveries } = await use("listNotificationDeliveries", { id });
		return deliveries.find(isReached);
	});

/** Lets the time pass for which messages and mails collect events. */
const hurry = () =>
	owner().query(
		`with m as (
			update mails set due_at = now() where state = 'QUEUED' and kind <> 'TEST'
		)
		update notification_messages set due_at = now() where state = 'QUEUED'`,
	);

/** Waits until the service has handled all events. */
const untilHandled = () =>
	until(async () => {
		const { rowCount } = await owner().query(
			"select from events where handled_at is null",
		);
		return rowCount === 0 ? true : undefined;
	});

let people = 0;
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

const stopIn = (text: string) => /stop-mails#(\S+)/.exec(text)?.[1] as string;
const messageId = (text: string) => /^Message-ID: (.*)$/im.exec(text)?.[1];

/** Makes a weekly channel due, and returns the mails that are then sent. */
async function digestNow(channelId: string, count: number) {
	await owner().query(
		"update notification_channels set next_digest_at = now() where id = $1",
		[channelId],
	);
	// The service looks every minute. Another process may do the same work at any time.
	const { startDigests } = await import("../../src/notifications/digest.ts");
	const { pino } = await import("pino");
	const wake = { wake: () => {}, idle: async () => {} };
	const poller = startDigests(
		served.database.pool,
		wake,
		pino({ level: "silent" }),
	);
	await poller.idle();
	await poller.stop();
	const mails = [];
	for (let n = 0; n < count; n++) mails.push(await sink.next());
	return mails;
}

test("a storm is one message in a chat, in the form that Slack documents", async () => {
	const { id } = await addChannel("SLACK", { event_types: ["posture.failed"] });
	const devices = [];
	for (let n = 0; n < 7; n++) devices.push(await addFailingDevice());
	await untilHandled();
	await hurry();
	await arrived(1);
	const [{ body, headers }] = received as [(typeof received)[0]];
	expect(headers["content-type"]).toBe("application/json");
	// docs.slack.dev: text is the fallback, a header takes 150 characters, a section 3,000.
	expect(body.text).toContain("Full-disk encryption fails now: ");
	expect(body.text).toContain("and 2 more");
	const [header, section, context] = body.blocks;
	expect(header).toMatchObject({
		type: "header",
		text: { type: "plain_text", text: "Acme: 7 events" },
	});
	expect(section).toMatchObject({ type: "section", text: { type: "mrkdwn" } });
	expect(section.text.text.length).toBeLessThanOrEqual(3000);
	expect(context.elements[0].text).toContain("|Open Assay>");
	const delivery = await deliveryOf(id, ({ state }) => state === "DELIVERED");
	expect(delivery).toMatchObject({
		what: "EVENTS",
		event_count: 7,
		recipient: new URL(address).host,
		answer_status: 200,
		answer: "ok",
	});
	expect(received).toHaveLength(1);
});

test("a message to Teams is an Adaptive Card, and names cannot call everybody or become links", async () => {
	await addChannel("TEAMS", { event_types: ["record.created"] });
	await addChannel("SLACK", { event_types: ["record.created"] });
	await use("addVendor", { name: "<!channel> [here](https://evil.example)" });
	await untilHandled();
	await hurry();
	await arrived(2);
	const teams = received.find(({ body }) => body.type === "message")?.body;
	expect(teams.attachments).toHaveLength(1);
	const [{ contentType, content }] = teams.attachments;
	expect(contentType).toBe("application/vnd.microsoft.card.adaptive");
	expect(content).toMatchObject({ type: "AdaptiveCard", version: "1.4" });
	expect(
		content.body.every(({ type }: { type: string }) => type === "TextBlock"),
	).toBe(true);
	expect(content.actions).toMatchObject([{ type: "Action.OpenUrl" }]);
	const card = JSON.stringify(content.body);
	expect(card).toContain("Vendor created");
	expect(card).not.toContain("[here](https://evil");
	const slack = received.find(({ body }) => body.blocks)?.body;
	expect(slack.text).toContain("&lt;!channel&gt;");
	expect(JSON.stringify(slack)).not.toContain("<!channel>");
});

test("the address of a chat is not shown, stored in readable form, audited or logged", async () => {
	const { id } = await addChannel("SLACK");
	behave = (response) => {
		response.writeHead(404);
		// Error pages often repeat the path, which is the secret.
		response.end(`no_service: Cannot POST ${response.req.url}`);
	};
	await use("testNotificationChannel", { id });
	const failed = await deliveryOf(id, ({ attempts }) => attempts === 1);
	expect(failed).toMatchObject({ what: "TEST", state: "QUEUED" });
	await until(async () => {
		const { deliveries } = await use("listNotificationDeliveries", { id });
		return deliveries[0].answer_status === 404 ? true : undefined;
	});
	await use("updateNotificationChannel", { id, address: `${address}2` });
	const shown = [
		await use("listNotificationChannels"),
		await use("listNotificationDeliveries", { id }),
	];
	const { rows } = await owner().query(
		`select (select string_agg(c::text, ' ') from notification_channels c)
			|| (select string_agg(m::text, ' ') from notification_messages m)
			|| (select string_agg(a::text, ' ') from audit_entries a) as all`,
	);
	const everything = JSON.stringify(shown) + rows[0].all;
	expect(everything).not.toContain("XXXXsecretXXXX");
	expect(everything).toContain(new URL(address).host);
});

test("a receiver that hangs, floods or redirects holds up nobody else", async () => {
	const other = createServer((_request, response) => response.end("ok"));
	other.listen(0, "127.0.0.1");
	await once(other, "listening");
	const bad = await addChannel("SLACK");
	const good = await addChannel("TEAMS", {
		address: `http://127.0.0.1:${(other.address() as AddressInfo).port}/`,
	});
	behave = () => {};
	await use("testNotificationChannel", { id: bad.id });
	await arrived(1);
	await use("testNotificationChannel", { id: good.id });
	await deliveryOf(good.id, ({ state }) => state === "DELIVERED");
	other.close();
	receiver.closeAllConnections();
	await deliveryOf(bad.id, ({ failure }) => failure !== null);

	behave = (response) => {
		response.writeHead(302, { location: "http://127.0.0.1:1/elsewhere" });
		response.end();
	};
	await hurry();
	await deliveryOf(bad.id, ({ answer_status }) => answer_status === 302);

	behave = (response) => {
		response.writeHead(500);
		const pour = () => {
			while (!response.destroyed && response.write("x".repeat(65_536)));
			if (!response.destroyed) response.once("drain", pour);
		};
		pour();
	};
	await hurry();
	const flooded = await deliveryOf(
		bad.id,
		({ answer_status }) => answer_status === 500,
	);
	expect(flooded.answer).toHaveLength(1000);
	const { channels } = await use("listNotificationChannels");
	expect(
		channels.find(({ id }: { id: string }) => id === bad.id).failing_since,
	).not.toBeNull();
});

test("an administrator gets one mail about a storm, and it repeats with the same Message-ID after a crash", async () => {
	const { id } = await addChannel("ADMINISTRATORS", {
		event_types: ["posture.failed", "device.activated"],
	});
	for (let n = 0; n < 5; n++) await addFailingDevice();
	await untilHandled();
	await hurry();
	const first = await sink.next();
	expect(first.to).toBe(email);
	expect(first.text).toContain("Full-disk encryption fails now: ");
	const sent = await deliveryOf(id, ({ state }) => state === "DELIVERED");
	expect(sent).toMatchObject({ recipient: email, event_count: 10 });
	// A process that is killed before it notes the end leaves the row like this, and the time passes.
	await owner().query(
		"update mails set state = 'QUEUED', sent_at = null, due_at = now() where id = $1",
		[sent.id],
	);
	expect(messageId((await sink.next()).text)).toBe(messageId(first.text));
	// What happens within the hour goes into one more mail, which waits.
	await addFailingDevice();
	await addFailingDevice();
	await untilHandled();
	const next = await deliveryOf(id, ({ state }) => state === "QUEUED");
	expect(next.event_count).toBe(4);
	const waitMs = Date.parse(next.next_attempt_at) - Date.now();
	expect(waitMs).toBeGreaterThan(45 * 60_000);
});

test("the owner of failing devices gets one weekly mail with a link, and can stop it with one click", async () => {
	const [failing, fine] = [await addPerson(), await addPerson()];
	await addFailingDevice(failing.id);
	await addFailingDevice(failing.id);
	const device = await served.activateDevice();
	await use("updateDevice", {
		organization_id: undefined,
		id: device.id,
		owner_id: fine.id,
	});
	const { id } = await addChannel("DEVICE_OWNERS");
	const [mail] = await digestNow(id, 1);
	expect(mail?.to).toBe(failing.primary_email_address);
	expect(mail?.text).toContain("Full-disk encryption fails since");
	const token = /my-devices#(asy_myd_\w+)/.exec(mail?.text ?? "")?.[1];
	const opened = await sendTo(url(), "/api/my-devices/open", { token });
	expect(opened.status).toBe(200);

	const header = /^List-Unsubscribe:\s*<([^>]+)>/im.exec(
		(mail?.text ?? "").replace(/\r?\n[ \t]+/g, ""),
	)?.[1];
	expect(mail?.text).toMatch(
		/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/im,
	);
	const path = new URL(header ?? "").pathname + new URL(header ?? "").search;
	const stops = async () =>
		(await owner().query("select from notification_stops")).rowCount;
	// Programs that fetch the address stop nothing.
	const fetched = await fetch(`${url()}${path}`, { redirect: "manual" });
	expect(fetched.status).toBe(302);
	expect(fetched.headers.get("location")).toContain("/stop-mails#");
	expect(await stops()).toBe(0);
	const wrong = `${path.slice(0, -3)}${path.endsWith("AAA") ? "BBB" : "AAA"}`;
	const oneClick = (to: string) =>
		fetch(`${url()}${to}`, {
			method: "POST",
			headers: { "content-type": "application/x-www-form-urlencoded" },
			body: "List-Unsubscribe=One-Click",
		});
	expect((await oneClick(wrong)).status).toBe(400);
	expect((await oneClick(path)).status).toBe(200);
	expect(await stops()).toBe(1);
	await digestNow(id, 0);
	const { rows } = await owner().query(
		"select count(*)::integer as count from mails where kind = 'DEVICE_DIGEST'",
	);
	expect(rows[0].count).toBe(1);

	const again = await sendTo(url(), "/api/stop-mails/choice", {
		token: stopIn(mail?.text ?? ""),
		is_stopped: false,
	});
	expect(again.body).toEqual({ kind: "DEVICE_DIGEST", is_stopped: false });
	expect(await stops()).toBe(0);
});

test("owners of overdue work get one weekly mail, and nobody else does", async () => {
	const [late, early] = [await addPerson(), await addPerson()];
	const { id } = await addChannel("OVERDUE_WORK", { digest_weekday: 5 });
	const { channels } = await use("listNotificationChannels");
	const next = new Date(channels[0].next_digest_at);
	expect(next.getUTCHours()).toBe(7);
	expect(next.getUTCDay()).toBe(5);
	expect(next.getTime()).toBeGreaterThan(Date.now());
	const task = (name: string, who: string, fields: object) =>
		use("addTask", { name, assigned_to_id: who, ...fields });
	await task("Renew the certificate", late.id, { deadline: "2020-01-31" });
	await task("Done long ago", early.id, {
		deadline: "2020-01-31",
		state: "DONE",
	});
	await task("Not yet", early.id, { deadline: "2120-01-31" });
	await use("addNonconformity", {
		title: "A late one",
		owner_id: late.id,
		due_date: "2020-02-01",
	});
	const [mail] = await digestNow(id, 1);
	expect(mail?.to).toBe(late.primary_email_address);
	expect(mail?.text).toContain('Task "Renew the certificate"');
	expect(mail?.text).toContain('Nonconformity "');
	expect(mail?.text).not.toContain("Done long ago");
});

test("two processes queue the weekly mails once", async () => {
	const person = await addPerson();
	await addFailingDevice(person.id);
	const { id } = await addChannel("DEVICE_OWNERS");
	await owner().query(
		"update notification_channels set next_digest_at = now() where id = $1",
		[id],
	);
	const { startDigests } = await import("../../src/notifications/digest.ts");
	const { pino } = await import("pino");
	const wake = { wake: () => {}, idle: async () => {} };
	const log = pino({ level: "silent" });
	const pollers = [1, 2, 3].map(() =>
		startDigests(served.database.pool, wake, log),
	);
	for (const poller of pollers) await poller.idle();
	for (const poller of pollers) await poller.stop();
	const { rows } = await owner().query(
		"select count(*)::integer as count from mails where people_id = $1 and kind = 'DEVICE_DIGEST'",
		[person.id],
	);
	expect(rows[0].count).toBe(1);
});

test("an organization sends at most 20 test messages an hour to its chats", async () => {
	const { id } = await addChannel("SLACK");
	const answers = await Promise.all(
		Array.from({ length: 25 }, () => call("testNotificationChannel", { id })),
	);
	expect(answers.filter(({ status }) => status === 200).length).toBe(20);
	const rejected = answers.find(({ status }) => status !== 200);
	expect(rejected?.status).toBe(400);
	expect(rejected?.body.message).toContain("try again later");
});

test("an organization whose weekly mails fail does not hold up the others", async () => {
	const person = await addPerson();
	await addFailingDevice(person.id);
	const { id } = await addChannel("DEVICE_OWNERS");
	// The ids of organizations are random, so one of these comes first in all likelihood.
	for (let n = 0; n < 4; n++) {
		const other = await createOrganization(served.database.pool, "Other");
		await owner().query(
			`insert into notification_channels
				(organization_id, id, kind, name, digest_weekday, next_digest_at)
			values ($1, $2, 'DEVICE_OWNERS', 'broken', 1, now())`,
			[other, makeId(other, "notification_channel")],
		);
	}
	await owner().query(`
		create function fail() returns trigger language plpgsql as $$
		begin raise 'no'; end $$;
		create trigger fail before update on notification_channels for each row
			when (old.name = 'broken') execute function fail()`);
	await digestNow(id, 1);
	await owner().query("drop function fail cascade");
	await owner().query(
		"delete from notification_channels where name = 'broken'",
	);
});

test("a channel takes only the fields of its kind, and its errors name them", async () => {
	const wrong = async (input: object, field: string) => {
		const { status, body } = await call("addNotificationChannel", {
			name: "x",
			...input,
		});
		expect(status).toBe(400);
		expect(body.fields.map((one: { field: string }) => one.field)).toContain(
			field,
		);
	};
	await wrong({ kind: "SLACK" }, "address");
	await wrong({ kind: "SLACK", address: "ftp://example.com" }, "address");
	await wrong({ kind: "SLACK", address, digest_weekday: 1 }, "digest_weekday");
	// Each event that happens is compared with this list.
	const event_types = Array.from({ length: 100 }, () => "device.revoked");
	await wrong({ kind: "SLACK", address, event_types }, "event_types");
	await wrong({ kind: "DEVICE_OWNERS", address }, "address");
	await wrong(
		{ kind: "OVERDUE_WORK", event_types: ["posture.failed"] },
		"event_types",
	);
	await wrong({ kind: "OVERDUE_WORK", digest_weekday: 8 }, "digest_weekday");
	await addChannel("ADMINISTRATORS");
	await wrong({ kind: "ADMINISTRATORS" }, "kind");
	const both = await Promise.all(
		[1, 2].map(() =>
			call("addNotificationChannel", { kind: "DEVICE_OWNERS", name: "x" }),
		),
	);
	expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test("a private address is refused unless the operator allows it", async () => {
	const { id } = await addChannel("SLACK", {
		address: "http://10.1.2.3/hook",
	});
	await use("testNotificationChannel", { id });
	const failed = await deliveryOf(id, ({ failure }) => failure !== null);
	expect(failed.failure).toContain("not a public address");
	expect(failed.failure).not.toContain("/hook");
});

test("a chat that fails for three days is disabled once, and the administrators get a mail", async () => {
	const { id } = await addChannel("SLACK", { event_types: ["record.created"] });
	behave = (response) => {
		response.writeHead(410);
		response.end("gone");
	};
	const failOnce = async (attempts: number) => {
		await hurry();
		return deliveryOf(
			id,
			(one) => one.answer_status === 410 && Number(one.attempts) >= attempts,
		);
	};
	const channelNow = async () => {
		const { channels } = await use("listNotificationChannels");
		return channels.find((one: { id: string }) => one.id === id);
	};
	await use("addVendor", { name: "A vendor of the chat" });
	await untilHandled();
	await failOnce(1);
	expect(await channelNow()).toMatchObject({ is_enabled: true });
	await owner().query(
		"update notification_channels set failing_since = now() - interval '3 days 1 second'",
	);
	await failOnce(2);
	const mail = await sink.next();
	expect(mail.to).toBe(email);
	expect(mail.text).toContain("has failed for three days");
	expect(mail.text).not.toContain("XXXXsecretXXXX");
	expect(await channelNow()).toMatchObject({ is_enabled: false });
	await deliveryOf(id, ({ state }) => state === "FAILED");
	// A test shows whether the chat works again. It disables nothing a second time.
	await use("testNotificationChannel", { id });
	await deliveryOf(id, (one) => one.what === "TEST" && one.attempts === 1);
	await use("updateNotificationChannel", { id, is_enabled: true });
	expect((await channelNow()).failing_since).toBeNull();
	const { rows } = await owner().query(
		"select count(*)::integer as count from mails where kind = 'CHAT_GIVEN_UP'",
	);
	expect(rows).toEqual([{ count: 1 }]);
});

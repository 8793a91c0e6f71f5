import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
	afterAll,
	afterEach,
	beforeAll,
	expect,
	onTestFinished,
	test,
} from "vitest";
import { until } from "../support/until.ts";
import { accept } from "../webhooks/receiver.ts";
import { openStand, SECRET_PART, type Stand } from "./stand.ts";

let stand: Stand;
beforeAll(async () => {
	stand = await openStand();
});
afterEach(() => stand.reset());
afterAll(() => stand.close());

test("a storm is one message in a chat, in the form that Slack documents", async () => {
	const {
		address,
		received,
		arrived,
		addChannel,
		deliveryOf,
		hurry,
		untilHandled,
		addFailingDevice,
	} = stand;
	const { id } = await addChannel("SLACK", { event_types: ["posture.failed"] });
	const devices = [];
	for (let n = 0; n < 7; n++) devices.push(await addFailingDevice());
	await untilHandled();
	await hurry();
	await arrived(1);
	const [{ body, headers }] = received() as [ReturnType<typeof received>[0]];
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
		answer: "thanks",
	});
	expect(received()).toHaveLength(1);
});

test("a message to Teams is an Adaptive Card, and names cannot call everybody or become links", async () => {
	const { use, received, arrived, addChannel, hurry, untilHandled } = stand;
	await addChannel("TEAMS", { event_types: ["record.created"] });
	await addChannel("SLACK", { event_types: ["record.created"] });
	await use("addVendor", { name: "<!channel> [here](https://evil.example)" });
	await untilHandled();
	await hurry();
	await arrived(2);
	const teams = received().find(({ body }) => body.type === "message")?.body;
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
	const slack = received().find(({ body }) => body.blocks)?.body;
	expect(slack.text).toContain("&lt;!channel&gt;");
	expect(JSON.stringify(slack)).not.toContain("<!channel>");
});

test("the address of a chat is not shown, stored in readable form, audited or logged", async () => {
	const { owner, receiver, address, use, addChannel, deliveryOf } = stand;
	const { id } = await addChannel("SLACK");
	receiver.behave = (response) => {
		response.writeHead(404);
		// Error pages often repeat the path, which is the secret.
		response.end(`no_service: Cannot POST ${response.req.url}`);
	};
	await use("testNotificationChannel", { id });
	const failed = await deliveryOf(id, ({ attempts }) => attempts === 1);
	expect(failed).toMatchObject({ what: "TEST", state: "QUEUED" });
	await until("the answer of the chat", async () => {
		const { deliveries } = await use("listNotificationDeliveries", { id });
		return deliveries[0].answer_status === 404;
	});
	await use("updateNotificationChannel", { id, address: `${address}2` });
	const shown = [
		await use("listNotificationChannels"),
		await use("listNotificationDeliveries", { id }),
	];
	const { rows } = await owner.query(
		`select (select string_agg(c::text, ' ') from notification_channels c)
			|| (select string_agg(m::text, ' ') from notification_messages m)
			|| (select string_agg(a::text, ' ') from audit_entries a) as all`,
	);
	const everything = JSON.stringify(shown) + rows[0].all;
	expect(everything).not.toContain(SECRET_PART);
	expect(everything).toContain(new URL(address).host);
});

test("a receiver that hangs, floods or redirects holds up nobody else", async () => {
	const { receiver, use, arrived, addChannel, deliveryOf, hurry } = stand;
	const other = createServer((_request, response) => response.end("ok"));
	other.listen(0, "127.0.0.1");
	await once(other, "listening");
	const bad = await addChannel("SLACK");
	const good = await addChannel("TEAMS", {
		address: `http://127.0.0.1:${(other.address() as AddressInfo).port}/`,
	});
	receiver.behave = () => {};
	await use("testNotificationChannel", { id: bad.id });
	await arrived(1);
	await use("testNotificationChannel", { id: good.id });
	await deliveryOf(good.id, ({ state }) => state === "DELIVERED");
	other.close();
	receiver.hangUp();
	await deliveryOf(bad.id, ({ failure }) => failure !== null);

	receiver.behave = (response) => {
		response.writeHead(302, { location: "http://127.0.0.1:1/elsewhere" });
		response.end();
	};
	await hurry();
	await deliveryOf(bad.id, ({ answer_status }) => answer_status === 302);

	receiver.behave = (response) => {
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

test("a chat that fails for three days is disabled once, and the administrators get a mail", async () => {
	const {
		owner,
		sink,
		receiver,
		email,
		use,
		addChannel,
		deliveryOf,
		hurry,
		untilHandled,
	} = stand;
	const { id } = await addChannel("SLACK", { event_types: ["record.created"] });
	receiver.behave = (response) => {
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
	await owner.query(
		"update notification_channels set failing_since = now() - interval '3 days 1 second'",
	);
	await failOnce(2);
	const mail = await sink.next();
	expect(mail.to).toBe(email);
	expect(mail.text).toContain("has failed for 3 days");
	expect(mail.text).not.toContain(SECRET_PART);
	expect(await channelNow()).toMatchObject({ is_enabled: false });
	await deliveryOf(id, ({ state }) => state === "FAILED");
	// A test shows whether the chat works again. It disables nothing a second time.
	await use("testNotificationChannel", { id });
	// An attempt counts when it begins. Its answer is stored later, and then the chat fails again.
	await deliveryOf(
		id,
		(one) => one.what === "TEST" && one.answer_status === 410,
	);
	await use("updateNotificationChannel", { id, is_enabled: true });
	expect((await channelNow()).failing_since).toBeNull();
	const { rows } = await owner.query(
		"select count(*)::integer as count from mails where kind = 'CHAT_GIVEN_UP'",
	);
	expect(rows).toEqual([{ count: 1 }]);
});

test("a message that the service cannot put into words is retried like one without an answer, at most 12 times", async () => {
	const { owner, receiver, addChannel, deliveryOf, hurry } = stand;
	const { untilHandled, use } = stand;
	const { id } = await addChannel("SLACK", { event_types: ["record.created"] });
	await use("addVendor", { name: "A vendor" });
	await untilHandled();
	// No release has such an event, so the text cannot be made.
	await owner.query("update events set type = 'nothing.happened'");
	await hurry();
	const failed = await deliveryOf(id, ({ failure }) => failure !== null);
	expect(failed).toMatchObject({
		state: "QUEUED",
		attempts: 1,
		body: null,
		failure: "Assay had an internal error; the log of the service says more",
	});
	const { channels } = await use("listNotificationChannels");
	expect(channels[0].failing_since).not.toBeNull();
	await owner.query("update notification_messages set attempts = 11");
	await hurry();
	await deliveryOf(
		id,
		({ state, attempts }) => state === "FAILED" && attempts === 12,
	);
	expect(receiver.received).toHaveLength(0);
});

test("an answer that the service cannot store is an attempt too, and does not hold up the next message", async () => {
	const { owner, receiver, addChannel, deliveryOf, use } = stand;
	await owner.query(`
		create function fail() returns trigger language plpgsql as $$
		begin raise 'no'; end $$;
		create trigger fail before update on notification_messages for each row
			when (new.answer_status = 299) execute function fail()`);
	onTestFinished(async () => {
		await owner.query("drop function fail cascade");
	});
	const { id } = await addChannel("SLACK");
	receiver.behave = (response) => response.writeHead(299).end();
	await use("testNotificationChannel", { id });
	const failed = await deliveryOf(id, ({ failure }) => failure !== null);
	expect(failed).toMatchObject({ state: "QUEUED", attempts: 1 });
	receiver.behave = accept;
	await use("testNotificationChannel", { id });
	await deliveryOf(id, ({ state }) => state === "DELIVERED");
});

test("a channel that fails keeps no other channel from the event, and gets it later", async () => {
	const { owner, served, received, arrived, use, addChannel, hurry } = stand;
	const { untilHandled } = stand;
	const broken = await addChannel("TEAMS", { event_types: ["record.created"] });
	await addChannel("SLACK", { event_types: ["record.created"] });
	await owner.query(`
		create function refuse_message() returns trigger language plpgsql as $$
		begin raise 'no'; end $$;
		create trigger refuse_message before insert on notification_messages for each row
			when (new.channel_id = '${broken.id}') execute function refuse_message()`);
	onTestFinished(async () => {
		await owner.query("drop function if exists refuse_message cascade");
	});
	await use("addVendor", { name: "Paper mill" });

	const waiting = await until("the event to wait for one channel", async () => {
		served.service.wake();
		const { rows } = await owner.query(
			"select waiting_for from events where waiting_for is not null",
		);
		return rows.length > 0 && rows;
	});
	expect(waiting).toEqual([{ waiting_for: [`notifications ${broken.id}`] }]);
	await hurry();
	const [first] = await arrived(1);
	expect(first?.body.text).toContain("Paper mill");

	await owner.query("drop function refuse_message cascade");
	await owner.query(
		"update events set retry_at = now() where retry_at > now()",
	);
	await untilHandled();
	await hurry();
	const [, second] = await arrived(2);
	expect(second?.body.type).toBe("message");
	expect(JSON.stringify(second?.body)).toContain("Paper mill");
	expect(received()).toHaveLength(2);
});

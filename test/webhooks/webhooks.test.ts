import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import {
	postureResult,
	startService,
	type TestDevice,
	type TestService,
} from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";
import { accept, makeReceiver, type Received } from "./receiver.ts";

const receiver = makeReceiver();
const { received } = receiver;
let served: TestService;
let sink: SmtpSink;
let url: string;
let cookie: string;
let email: string;
beforeAll(async () => {
	url = await receiver.listen();
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	const passwordHash = await hashPassword(PASSWORD);
	const { organizationId } = served;
	({ email } = await makeUser(
		served.database,
		{ organizationId, role: "admin" },
		{ passwordHash },
	));
	({ cookie } = await sendTo(served.service.url, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	}));
});
afterEach(async () => {
	await served.database.owner.query("delete from webhooks");
	receiver.reset();
});
afterAll(async () => {
	await served.close();
	sink.close();
	receiver.close();
});

async function use(name: string, input: object = {}) {
	const { status, body } = await sendTo(
		served.service.url,
		`/api/console/${name}`,
		{ organization_id: served.organizationId, ...input },
		{ cookie },
	);
	expect(status, JSON.stringify(body)).toBe(200);
	return body;
}

const delivered = (count: number) =>
	until(`delivery ${count}`, () => {
		served.service.wake();
		return received.length >= count && received;
	});

async function deliveryOf(
	id: string,
	isReached: (one: Record<string, unknown>) => boolean,
) {
	return until("the state of a delivery", async () => {
		served.service.wake();
		const { deliveries } = await use("listWebhookDeliveries", { id });
		return deliveries.find(isReached);
	});
}

/** Verifies a delivery as standardwebhooks.com describes it, without our code. */
function isSignedBy(secret: string, { headers, body }: Received): boolean {
	const key = Buffer.from(secret.replace("whsec_", ""), "base64");
	const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
	const expected = createHmac("sha256", key).update(signed).digest("base64");
	return String(headers["webhook-signature"])
		.split(" ")
		.includes(`v1,${expected}`);
}

async function report(device: TestDevice, status: string) {
	const answer = await served.post(
		"postures",
		{ results: [postureResult({ status })] },
		{ key: device.key },
	);
	expect(answer.status).toBe(204);
}

test("a check that begins to fail and one that passes again are delivered in order, signed, and a repeated status is not", async () => {
	const device = await served.activateDevice();
	const { secret } = await use("addWebhook", {
		url,
		event_types: ["posture.failed", "posture.passed"],
	});
	for (const status of ["PASS", "PASS", "FAIL", "FAIL", "PASS"]) {
		await report(device, status);
	}
	await delivered(2);
	const bodies = received.map(({ body }) => JSON.parse(body));
	expect(bodies.map(({ type }) => type)).toEqual([
		"posture.failed",
		"posture.passed",
	]);
	expect(bodies[0].data).toMatchObject({
		organization_id: served.organizationId,
		record_id: device.id,
		check_key: "DISK_ENCRYPTION",
		previous_status: "PASS",
	});
	for (const one of received) expect(isSignedBy(secret, one)).toBe(true);
	const { rows } = await served.database.owner.query(
		"select type from events where record_id = $1 and type like 'posture.%' order by id",
		[device.id],
	);
	expect(rows).toHaveLength(2);
});

test("the life of a device and changes of records are events without names", async () => {
	await use("addWebhook", { url });
	const { risk } = await use("addRisk", {
		name: "A secret name",
		category: "IT",
		treatment: "MITIGATED",
		inherent_likelihood: 1,
		inherent_impact: 1,
		residual_likelihood: 1,
		residual_impact: 1,
	});
	const one = { organization_id: undefined, id: risk.id };
	await use("updateRisk", { ...one, name: "Another secret name" });
	await use("updateRisk", { ...one, name: "Another secret name" });
	await use("deleteRisk", one);
	const device = await served.activateDevice();
	await use("revokeDevice", { organization_id: undefined, id: device.id });
	await delivered(6);
	const bodies = received.map(({ body }) => JSON.parse(body));
	const typesOf = (id: string) =>
		bodies.filter(({ data }) => data.record_id === id).map(({ type }) => type);
	expect(typesOf(risk.id)).toEqual([
		"record.created",
		"record.updated",
		"record.deleted",
	]);
	expect(typesOf(device.id)).toEqual([
		"device.enrolled",
		"device.activated",
		"device.revoked",
	]);
	expect(
		bodies.find(({ type }) => type === "record.updated").data.fields,
	).toEqual(["name"]);
	expect(JSON.stringify(bodies)).not.toContain("secret name");
});

test("a change that is rolled back leaves no event", async () => {
	const before = await served.database.owner.query("select from events");
	const { status } = await sendTo(
		served.service.url,
		"/api/console/addRisk",
		{
			organization_id: served.organizationId,
			name: "x",
			owner_id: "x".repeat(32),
		},
		{ cookie },
	);
	expect(status).toBe(400);
	const after = await served.database.owner.query("select from events");
	expect(after.rowCount).toBe(before.rowCount);
});

test("a delivery that fails is shown with the answer, and is sent again with the same webhook-id", async () => {
	const { webhook, secret } = await use("addWebhook", {
		url,
		event_types: ["posture.failed"],
	});
	receiver.behave = (response) => response.writeHead(500).end("out of order");
	const { delivery_id } = await use("testWebhook", { id: webhook.id });
	const failed = await deliveryOf(webhook.id, ({ attempted_at }) =>
		Boolean(attempted_at),
	);
	expect(failed).toMatchObject({
		id: delivery_id,
		event_type: "webhook.test",
		state: "QUEUED",
		attempts: 1,
		answer_status: 500,
		answer: "out of order",
	});
	expect((await use("listWebhooks")).webhooks[0].failing_since).not.toBeNull();
	receiver.behave = accept;
	await use("resendWebhookDelivery", { id: delivery_id });
	const again = await deliveryOf(
		webhook.id,
		({ state }) => state === "DELIVERED",
	);
	expect(again).toMatchObject({ id: delivery_id, answer: "thanks" });
	expect(received.map(({ headers }) => headers["webhook-id"])).toEqual([
		delivery_id,
		delivery_id,
	]);
	expect(received.every((one) => isSignedBy(secret, one))).toBe(true);
	expect((await use("listWebhooks")).webhooks[0].failing_since).toBeNull();
});

test("a delivery of a process that died is sent again with the same webhook-id", async () => {
	const { webhook } = await use("addWebhook", {
		url,
		event_types: ["posture.failed"],
	});
	const { delivery_id } = await use("testWebhook", { id: webhook.id });
	await deliveryOf(webhook.id, ({ state }) => state === "DELIVERED");
	// A process that is killed before it notes the end leaves the row like this, and the time passes.
	await served.database.owner.query(
		"update webhook_deliveries set state = 'QUEUED', delivered_at = null, due_at = now() where id = $1",
		[delivery_id],
	);
	await delivered(2);
	expect(received[1]?.headers["webhook-id"]).toBe(delivery_id);
	expect(received[1]?.body).toBe(received[0]?.body);
});

test("after a rotation both secrets verify, and after the overlap only the new one", async () => {
	const { webhook, secret: old } = await use("addWebhook", {
		url,
		event_types: ["posture.failed"],
	});
	const { secret } = await use("rotateWebhookSecret", { id: webhook.id });
	expect(secret).not.toBe(old);
	await use("testWebhook", { id: webhook.id });
	await delivered(1);
	expect(
		[old, secret].map((one) => isSignedBy(one, received[0] as Received)),
	).toEqual([true, true]);
	await served.database.owner.query(
		"update webhooks set previous_secret_until = now()",
	);
	await use("testWebhook", { id: webhook.id });
	await delivered(2);
	expect(
		[old, secret].map((one) => isSignedBy(one, received[1] as Received)),
	).toEqual([false, true]);
});

test("a webhook that fails for three days is disabled, and administrators get a mail", async () => {
	const { webhook } = await use("addWebhook", {
		url,
		event_types: ["posture.failed"],
	});
	receiver.behave = (response) => response.writeHead(503).end();
	await served.database.owner.query(
		"update webhooks set failing_since = now() - interval '3 days 1 second'",
	);
	await use("testWebhook", { id: webhook.id });
	const { to, text } = await sink.next();
	expect(to).toBe(email);
	expect(text).toContain("127.0.0.1");
	const [shown] = (await use("listWebhooks")).webhooks;
	expect(shown).toMatchObject({
		is_enabled: false,
		given_up_at: expect.any(String),
	});
	const [last] = (await use("listWebhookDeliveries", { id: webhook.id }))
		.deliveries;
	expect(last.state).toBe("FAILED");
	await use("updateWebhook", { id: webhook.id, is_enabled: true });
	expect((await use("listWebhooks")).webhooks[0]).toMatchObject({
		is_enabled: true,
		failing_since: null,
		given_up_at: null,
	});
});

test("a delivery that is refused for three days is given up, and the next event of its record follows", async () => {
	const { webhook } = await use("addWebhook", {
		url,
		event_types: ["record.created", "record.deleted"],
	});
	let refused = "";
	receiver.behave = (response, request) => {
		refused ||= String(request.headers["webhook-id"]);
		const isRefused = request.headers["webhook-id"] === refused;
		response.writeHead(isRefused ? 400 : 200).end();
	};
	const { measure } = await use("addMeasure", { name: "M", category: "Any" });
	await deliveryOf(webhook.id, ({ attempts }) => attempts === 1);
	await use("deleteMeasure", { organization_id: undefined, id: measure.id });
	await served.database.owner.query(
		"update webhook_deliveries set attempts = 20, due_at = now() where id = $1",
		[refused],
	);
	const failed = await deliveryOf(
		webhook.id,
		({ state }) => state === "FAILED",
	);
	expect(failed).toMatchObject({
		id: refused,
		attempts: 21,
		answer_status: 400,
	});
	await deliveryOf(webhook.id, ({ state }) => state === "DELIVERED");
	expect((await use("listWebhooks")).webhooks[0].is_enabled).toBe(true);
});

test("a webhook whose receiver hangs does not hold up the others", async () => {
	const held: ServerResponse[] = [];
	receiver.behave = (response, request) => {
		if (request.url === "/hang") held.push(response);
		else accept(response, request);
	};
	await use("addWebhook", {
		url: url.replace("/hook", "/hang"),
		event_types: ["record.created"],
	});
	for (let number = 1; number <= 10; number++) {
		await use("addMeasure", { name: `Measure ${number}`, category: "Any" });
	}
	// Only a few of its ten deliveries are taken together.
	await until("four deliveries in progress", () => {
		served.service.wake();
		return held.length === 4;
	});
	const { webhook } = await use("addWebhook", {
		url,
		event_types: ["posture.failed"],
	});
	await use("testWebhook", { id: webhook.id });
	await deliveryOf(webhook.id, ({ state }) => state === "DELIVERED");
	expect(held).toHaveLength(4);
	expect(held.some(({ destroyed }) => destroyed)).toBe(false);
	receiver.behave = accept;
	for (const response of held) response.end();
	// The others follow when the first ones are done.
	await delivered(11);
});

test("an organization whose many receivers hang does not hold up another organization", async () => {
	const held: ServerResponse[] = [];
	receiver.behave = (response, request) => {
		if (request.url === "/hang") held.push(response);
		else accept(response, request);
	};
	for (let number = 1; number <= 12; number++) {
		await use("addWebhook", {
			url: url.replace("/hook", "/hang"),
			event_types: ["record.created"],
		});
	}
	await use("addMeasure", { name: "For each of them", category: "Any" });
	await until("eight deliveries in progress", () => {
		served.service.wake();
		return held.length === 8;
	});
	const { pool, owner } = served.database;
	const organization_id = await createOrganization(pool, "Another");
	await owner.query(
		"insert into memberships (organization_id, user_id, role) select $1, id, 'admin' from users where email = $2",
		[organization_id, email],
	);
	const { webhook } = await use("addWebhook", { organization_id, url });
	const { id } = webhook;
	await use("testWebhook", { organization_id, id });
	await until("the test of the other organization", () =>
		received.some(({ body }) => body.includes("webhook.test")),
	);
	// Only eight of the twelve are in progress, although the process has room for more.
	expect(held).toHaveLength(8);
	receiver.behave = accept;
	for (const response of held) response.end();
	await delivered(13);
});

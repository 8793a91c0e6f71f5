import { afterAll, beforeAll, expect, test } from "vitest";
import type { TakenMail } from "../../src/mail/mailer.ts";
import { linkForMail } from "../../src/my-devices/link-mail.ts";
import { sendTo } from "../support/console-client.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";

let served: TestConsole;
let sink: SmtpSink;
let admin: Session;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	admin = await served.signIn("admin");
});
afterAll(async () => {
	await served.close();
	sink.close();
});

async function addOwnerOfDevice(address: string) {
	const { people: person } = await admin.use("addPeople", {
		organization_id: served.organizationId,
		full_name: "Otto",
		kind: "EMPLOYEE",
		primary_email_address: address,
	});
	const device = await served.activateDevice();
	await admin.use("updateDevice", { id: device.id, owner_id: person.id });
	return { personId: person.id as string, deviceId: device.id };
}

const send = (deviceId: string) =>
	admin.use("sendMyDevicesLinks", {
		organization_id: served.organizationId,
		device_ids: [deviceId],
	});

async function receiveToken(address: string) {
	const { to, text } = await sink.next();
	expect(to).toBe(address);
	return /my-devices#(asy_myd_\w+)/.exec(text)?.[1] as string;
}

const open = (token: string) =>
	sendTo(served.service.url, "/api/my-devices/open", { token });

const countMails = async (personId: string) => {
	const { rowCount } = await served.database.owner.query(
		"select from mails where people_id = $1",
		[personId],
	);
	return rowCount;
};

/** Leaves the mail as a process does that ends after the mail server took it. */
const forgetThatSent = (personId: string) =>
	until("a mail that is noted as sent", async () => {
		const { rowCount } = await served.database.owner.query(
			`update mails set state = 'QUEUED', sent_at = null, due_at = now() + interval '1 hour'
			where people_id = $1 and state = 'SENT'`,
			[personId],
		);
		return rowCount === 1;
	});

test("a person gets one mail while its link works, and another one once the link was used", async () => {
	const address = "used@example.com";
	const { personId, deviceId } = await addOwnerOfDevice(address);
	await send(deviceId);
	const token = await receiveToken(address);
	await forgetThatSent(personId);
	await send(deviceId);
	expect(await countMails(personId)).toBe(1);
	expect((await open(token)).status).toBe(200);
	await send(deviceId);
	const next = await receiveToken(address);
	expect((await open(next)).status).toBe(200);
	expect(await countMails(personId)).toBe(2);
});

test("a person whose address was changed gets a mail there, although the link to the former address was not used", async () => {
	const { personId, deviceId } = await addOwnerOfDevice("former@example.com");
	await send(deviceId);
	const token = await receiveToken("former@example.com");
	await forgetThatSent(personId);
	await admin.use("updatePeople", {
		id: personId,
		primary_email_address: "moved@example.com",
	});
	expect((await open(token)).status).toBe(400);
	await send(deviceId);
	const next = await receiveToken("moved@example.com");
	expect((await open(next)).status).toBe(200);
});

test("a mail that is written for an address has no link once the person has another one", async () => {
	const { personId } = await addOwnerOfDevice("before@example.com");
	const link = (id: string, address: string) =>
		linkForMail(
			{
				pool: served.database.pool,
				appPool: served.database.pool,
				baseUrl: served.service.url,
				secret: "the secret of a service that has at least 32 characters",
			},
			{ id, is_link_made: false } as TakenMail,
			served.organizationId,
			personId,
			address,
		);
	expect(await link("mail one", "before@example.com")).toContain(
		"/my-devices#",
	);
	await admin.use("updatePeople", {
		id: personId,
		primary_email_address: "after@example.com",
	});
	expect(await link("mail two", "before@example.com")).toBeNull();
	const { rowCount } = await served.database.owner.query(
		"select from my_devices_links where people_id = $1",
		[personId],
	);
	expect(rowCount).toBe(0);
});

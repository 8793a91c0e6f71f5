import { afterAll, beforeAll, expect, test } from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import {
	postureResult,
	startService,
	type TestService,
} from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

const DAY = 86_400_000;
const daysAhead = (days: number) =>
	new Date(Date.now() + days * DAY).toISOString();
const CHECK = "DISK_ENCRYPTION";

let served: TestService;
let sink: SmtpSink;
/** The cookies of two administrators. */
let copier: string;
let other: string;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	[copier, other] = [await signIn(), await signIn()];
});
afterAll(async () => {
	await served.close();
	sink.close();
});

const owner = () => served.database.owner;
const url = () => served.service.url;

async function signIn() {
	const { email } = await makeUser(
		served.database,
		{ organizationId: served.organizationId, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const { cookie } = await sendTo(url(), "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	});
	return cookie;
}

const call = (name: string, input: object, cookie = copier) =>
	sendTo(url(), `/api/console/${name}`, input, { cookie });

async function use(name: string, input: object = {}) {
	const { status, body } = await call(name, {
		organization_id: served.organizationId,
		...input,
	});
	expect(status, JSON.stringify(body)).toBe(200);
	return body;
}

let people = 0;
async function addPerson() {
	const { people: person } = await use("addPeople", {
		full_name: `Person ${++people}`,
		primary_email_address: `person${people}@example.com`,
		kind: "EMPLOYEE",
	});
	return person as { id: string; primary_email_address: string };
}

async function addDeviceOf(personId: string, results = [{ status: "FAIL" }]) {
	const device = await served.activateDevice();
	await served.post(
		"postures",
		{ results: results.map(postureResult) },
		{ key: device.key },
	);
	await use("updateDevice", {
		organization_id: undefined,
		id: device.id,
		owner_id: personId,
	});
	return device;
}

async function open(text: string) {
	const token = /my-devices#(asy_myd_\w+)/.exec(text)?.[1];
	const answer = await sendTo(url(), "/api/my-devices/open", { token });
	expect(answer.status).toBe(200);
	return answer.cookie;
}

async function openMailed(deviceId: string) {
	await use("sendMyDevicesLinks", { device_ids: [deviceId] });
	return open((await sink.next()).text);
}

async function openCopied(deviceId: string) {
	return open((await use("copyMyDevicesLink", { device_id: deviceId })).link);
}

const ask = (session: string, input: object) =>
	sendTo(
		url(),
		"/api/my-devices/request-exception",
		{
			check_key: CHECK,
			reason: "The disk is replaced next week",
			ends_at: daysAhead(14),
			...input,
		},
		{ cookie: session },
	);

async function checkOf(session: string, deviceId: string) {
	const { body } = await sendTo(url(), "/api/my-devices", undefined, {
		cookie: session,
	});
	const device = body.devices.find(({ id }: { id: string }) => id === deviceId);
	return device.checks.find(
		({ check_key }: { check_key: string }) => check_key === CHECK,
	);
}

const exceptionsOf = async (deviceId: string) => {
	const { device_exceptions } = await use("listDeviceExceptions");
	return device_exceptions.filter(
		({ device_id }: { device_id: string }) => device_id === deviceId,
	);
};

test("a person asks for an exception for their own failing check, and sees what becomes of it", async () => {
	const person = await addPerson();
	const device = await addDeviceOf(person.id);
	const session = await openMailed(device.id);
	const [answer, again] = await Promise.all([
		ask(session, { device_id: device.id }),
		ask(session, { device_id: device.id }),
	]);
	// A double click asks once.
	expect([answer.status, again.status].sort()).toEqual([200, 400]);
	expect((await checkOf(session, device.id)).exception).toMatchObject({
		status: "REQUESTED",
		reason: "The disk is replaced next week",
	});
	const [exception, ...more] = await exceptionsOf(device.id);
	expect(more).toEqual([]);
	expect(exception).toMatchObject({
		scope: "DEVICE",
		status: "REQUESTED",
		requested_by_person_id: person.id,
		link_copied_by_id: null,
	});
	const { rows: entries } = await owner().query(
		"select actor_name, operation, record_name, changes from audit_entries where record_id = $1",
		[exception.id],
	);
	expect(entries).toMatchObject([
		{
			actor_name: expect.stringContaining("by a link"),
			operation: "addDeviceException",
			record_name: expect.stringMatching(/^Full-disk encryption, ./),
			changes: {
				link: { after: "MAILED" },
				requested_by_person_id: { after: person.id },
			},
		},
	]);
	const doneBy = async (id: string) =>
		(await use("listAuditLog", { filter: { actor_id: id } })).audit_entries.map(
			({ operation }: { operation: string }) => operation,
		);
	expect(await doneBy(person.id)).toContain("addDeviceException");
	expect(await doneBy((await addPerson()).id)).toEqual([]);
	const { rowCount } = await owner().query(
		"select from events where type = 'exception.requested' and record_id = $1",
		[exception.id],
	);
	expect(rowCount).toBe(1);
	const approved = await call("approveDeviceException", { id: exception.id });
	expect(approved.status).toBe(200);
	expect(await checkOf(session, device.id)).toMatchObject({
		state: "EXCEPTED",
		excepted_until: expect.any(String),
		exception: { status: "IN_FORCE" },
	});
	expect((await ask(session, { device_id: device.id })).status).toBe(400);
});

test("what was asked for through a copied link says so, and who copied the link may not approve it", async () => {
	const device = await addDeviceOf((await addPerson()).id);
	const session = await openCopied(device.id);
	expect((await ask(session, { device_id: device.id })).status).toBe(200);
	const [{ id, link_copied_by_id }] = await exceptionsOf(device.id);
	expect(link_copied_by_id).not.toBeNull();
	const { rows } = await owner().query(
		"select changes from audit_entries where record_id = $1",
		[id],
	);
	expect(rows).toMatchObject([{ changes: { link: { after: "COPIED" } } }]);
	const refused = await call("approveDeviceException", { id });
	expect(refused.status).toBe(403);
	expect(refused.body.message).toContain("you copied the link");
	expect((await call("approveDeviceException", { id }, other)).status).toBe(
		200,
	);
});

test("a rejected exception is shown, and the person may ask again", async () => {
	const device = await addDeviceOf((await addPerson()).id);
	const session = await openMailed(device.id);
	await ask(session, { device_id: device.id });
	const [{ id }] = await exceptionsOf(device.id);
	const note = "Encrypt it, it takes an hour";
	await call("approveDeviceException", { id, is_approved: false, note });
	const check = await checkOf(session, device.id);
	expect(check.exception.status).toBe("REJECTED");
	// The note is for auditors.
	expect(JSON.stringify(check)).not.toContain(note);
	expect((await ask(session, { device_id: device.id })).status).toBe(200);
});

test("only a failing check of one's own device, with a reason and an end, and the error names the field", async () => {
	const person = await addPerson();
	const mine = await addDeviceOf(person.id);
	const passing = await addDeviceOf(person.id, [{ status: "PASS" }]);
	const foreign = await addDeviceOf((await addPerson()).id);
	const session = await openMailed(mine.id);
	const wrong = async (input: object, field: string) => {
		const { status, body } = await ask(session, {
			device_id: mine.id,
			...input,
		});
		expect(status).toBe(400);
		expect(body.fields).toMatchObject([{ field }]);
	};
	await wrong({ device_id: foreign.id }, "device_id");
	await wrong({ device_id: "nonsense" }, "device_id");
	await wrong({ device_id: passing.id }, "check_key");
	await wrong({ check_key: "NO_SUCH_CHECK" }, "check_key");
	await wrong({ reason: "  " }, "reason");
	await wrong({ reason: "x".repeat(5001) }, "reason");
	await wrong({ ends_at: daysAhead(-1) }, "ends_at");
	await wrong({ ends_at: daysAhead(400) }, "ends_at");
	await wrong({ ends_at: "tomorrow" }, "ends_at");
	expect(await exceptionsOf(mine.id)).toEqual([]);
	for (const cookie of ["", "assay.my_devices=nonsense", copier]) {
		expect((await ask(cookie, { device_id: mine.id })).status).toBe(401);
	}
	const elsewhere = await fetch(`${url()}/api/my-devices/request-exception`, {
		method: "POST",
		headers: {
			"content-type": "application/json",
			origin: "https://evil.example",
			cookie: session,
		},
		body: JSON.stringify({ device_id: mine.id }),
	});
	expect(elsewhere.status).toBe(403);
	await use("revokeDevice", { organization_id: undefined, id: mine.id });
	await wrong({}, "device_id");
});

test("a person has at most 20 exceptions that nobody has decided about", async () => {
	const person = await addPerson();
	const checks = Array.from({ length: 21 }, (_, n) => `CUSTOM_${n}`);
	const device = await addDeviceOf(
		person.id,
		checks.map((check_key) => ({ check_key, status: "FAIL" })),
	);
	await use("updateDevicePolicy", {
		checks: checks.map((check_key) => ({ check_key, is_required: true })),
	});
	const session = await openMailed(device.id);
	for (const check_key of checks.slice(0, 20)) {
		const { status, body } = await ask(session, {
			device_id: device.id,
			check_key,
		});
		expect(status, JSON.stringify(body)).toBe(200);
	}
	const { status, body } = await ask(session, {
		device_id: device.id,
		check_key: checks[20],
	});
	expect(status).toBe(400);
	expect(body.fields[0].message).toContain("20 exceptions");
});

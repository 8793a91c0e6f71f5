import {
	afterAll,
	afterEach,
	beforeAll,
	expect,
	onTestFinished,
	test,
} from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import {
	postureResult,
	startService,
	type TestService,
} from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

let served: TestService;
let sink: SmtpSink;
let cookie: string;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	const { email } = await makeUser(
		served.database,
		{ organizationId: served.organizationId, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	({ cookie } = await sendTo(served.service.url, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	}));
});
afterEach(async () => {
	while (sink.waiting() > 0) await sink.next();
});
afterAll(async () => {
	await served.close();
	sink.close();
});

const owner = () => served.database.owner;
const url = () => served.service.url;

async function use(name: string, input: object = {}) {
	const { status, body } = await sendTo(
		url(),
		`/api/console/${name}`,
		{ organization_id: served.organizationId, ...input },
		{ cookie },
	);
	expect(status, JSON.stringify(body)).toBe(200);
	return body;
}

let people = 0;
async function addPerson(fields: object = {}) {
	const { people: person } = await use("addPeople", {
		full_name: `Person ${++people}`,
		primary_email_address: `person${people}@example.com`,
		kind: "EMPLOYEE",
		...fields,
	});
	return person as { id: string; primary_email_address: string };
}

/** Adds a device of this person that fails a check. */
async function addDeviceOf(personId: string | null, status = "FAIL") {
	const device = await served.activateDevice();
	await served.post(
		"postures",
		{ results: [postureResult({ status })] },
		{ key: device.key },
	);
	await use("updateDevice", {
		organization_id: undefined,
		id: device.id,
		owner_id: personId,
	});
	return device;
}

const tokenIn = (text: string) =>
	/my-devices#(asy_myd_\w+)/.exec(text)?.[1] as string;

async function mailLink(deviceId: string, address?: string) {
	await use("sendMyDevicesLinks", { device_ids: [deviceId] });
	for (;;) {
		const mail = await sink.next();
		// Mails of an earlier test may still arrive.
		if (address && mail.to !== address) continue;
		return { ...mail, token: tokenIn(mail.text) };
	}
}

const open = (token: string, session = "") =>
	sendTo(url(), "/api/my-devices/open", { token }, { cookie: session });

async function openPage(token: string) {
	const answer = await open(token);
	expect(answer.status, JSON.stringify(answer.body)).toBe(200);
	return answer.cookie;
}

const read = (session: string) =>
	sendTo(url(), "/api/my-devices", undefined, { cookie: session });

const end = (column: string, personId: string) =>
	owner().query(
		`update my_devices_links set ${column} = now() - interval '1 second' where people_id = $1 and ${column} is not null`,
		[personId],
	);

test("a mailed link opens the person's own devices with what fails, since when and how to fix it", async () => {
	const person = await addPerson();
	const mine = await addDeviceOf(person.id);
	const other = await addDeviceOf((await addPerson()).id);
	const { to, token } = await mailLink(mine.id, person.primary_email_address);
	expect(to).toBe(person.primary_email_address);
	const { status, body } = await read(await openPage(token));
	expect(status).toBe(200);
	expect(body.person_name).toMatch(/^Person /);
	expect(body.is_copied_link).toBe(false);
	expect(body.devices.map(({ id }: { id: string }) => id)).toEqual([mine.id]);
	expect(JSON.stringify(body)).not.toContain(other.id);
	const failing = body.devices[0].checks.find(
		({ check_key }: { check_key: string }) => check_key === "DISK_ENCRYPTION",
	);
	expect(failing).toMatchObject({
		status: "FAIL",
		state: "IN_GRACE",
		since: expect.any(String),
		remediation: expect.any(String),
	});
	expect(JSON.stringify(body)).not.toMatch(
		/serial_number|hardware_uuid|owner_id/,
	);
});

test("programs that fetch the address do not use the link up, and it works exactly once", async () => {
	const person = await addPerson();
	const device = await addDeviceOf(person.id);
	const { token } = await mailLink(device.id, person.primary_email_address);
	for (let n = 0; n < 5; n++) {
		for (const path of [
			"/my-devices",
			`/my-devices?token=${token}`,
			`/api/my-devices/open?token=${token}`,
			"/api/my-devices",
		]) {
			const answer = await fetch(`${url()}${path}`);
			expect(answer.headers.get("set-cookie")).toBeNull();
		}
	}
	const answers = await Promise.all(
		Array.from({ length: 6 }, () => open(token)),
	);
	expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
	const again = await open(token);
	expect(again.status).toBe(400);
	expect(again.body.message).toContain("was used, has expired");
	// A double click in the same browser gets the session that the first click made.
	const first = answers.find(({ status }) => status === 200);
	expect((await open(token, first?.cookie)).status).toBe(200);
	const { rows } = await owner().query(
		"select actor_name, changes from audit_entries where operation = 'openMyDevices' and record_id = $1",
		[person.id],
	);
	expect(rows).toMatchObject([
		{ actor_name: "the owner of a device, by a link" },
	]);
});

test("an expired or used link mails a new one to the same address, at most three in a quarter of an hour", async () => {
	const person = await addPerson();
	const device = await addDeviceOf(person.id);
	const { token } = await mailLink(device.id, person.primary_email_address);
	await end("expires_at", person.id);
	expect((await open(token)).status).toBe(400);
	const ask = (given: string) =>
		sendTo(url(), "/api/my-devices/new-link", { token: given });
	expect((await ask(token)).body).toEqual({});
	const renewed = await sink.next();
	expect(renewed.to).toBe(person.primary_email_address);
	expect(tokenIn(renewed.text)).not.toBe(token);
	expect((await read(await openPage(tokenIn(renewed.text)))).status).toBe(200);
	for (let n = 0; n < 5; n++) await ask(token);
	await ask("nonsense");
	await ask(makeSecret("myd"));
	const count = async () => {
		const { rows } = await owner().query(
			"select count(*)::integer as count from mails where people_id = $1",
			[person.id],
		);
		return rows[0].count;
	};
	await expect.poll(count).toBe(4);
});

test("a session ends by itself and at a click, and its cookie opens nothing else", async () => {
	const person = await addPerson();
	const device = await addDeviceOf(person.id);
	const first = await mailLink(device.id, person.primary_email_address);
	const answer = await open(first.token);
	const [set] = answer.headers.getSetCookie();
	expect(set).toContain("HttpOnly");
	expect(set).toContain("SameSite=Strict");
	expect(set).toContain("Path=/api/my-devices");
	const session = answer.cookie;
	expect(
		(
			await sendTo(
				url(),
				"/api/console/listOrganizations",
				{},
				{ cookie: session },
			)
		).status,
	).toBe(401);
	// Neither the secret of the link nor a made-up one is a session, and the console's cookie is
	// none.
	for (const wrong of [first.token, makeSecret("mys")]) {
		expect((await read(`assay.my_devices=${wrong}`)).status).toBe(401);
	}
	expect((await read(cookie)).status).toBe(401);
	await end("session_ends_at", person.id);
	expect((await read(session)).status).toBe(401);
	const second = await mailLink(device.id, person.primary_email_address);
	const other = await openPage(second.token);
	await sendTo(url(), "/api/my-devices/close", {}, { cookie: other });
	expect((await read(other)).status).toBe(401);
});

test("a device that gets another owner, or is revoked, disappears at once", async () => {
	const person = await addPerson();
	const [kept, given, revoked] = [
		await addDeviceOf(person.id),
		await addDeviceOf(person.id),
		await addDeviceOf(person.id),
	];
	const { token } = await mailLink(kept.id, person.primary_email_address);
	const session = await openPage(token);
	const shown = async () =>
		(await read(session)).body.devices.map(({ id }: { id: string }) => id);
	expect((await shown()).sort()).toEqual(
		[kept.id, given.id, revoked.id].sort(),
	);
	const { id: other } = await addPerson();
	await use("updateDevice", {
		organization_id: undefined,
		id: given.id,
		owner_id: other,
	});
	await use("revokeDevice", { organization_id: undefined, id: revoked.id });
	expect(await shown()).toEqual([kept.id]);
});

test("a person who has left or whose address was changed has no page, and an address that was claimed owns nothing", async () => {
	const person = await addPerson();
	const device = await addDeviceOf(person.id);
	const { token } = await mailLink(device.id, person.primary_email_address);
	const session = await openPage(token);
	const second = await mailLink(device.id, person.primary_email_address);
	await use("updatePeople", {
		organization_id: undefined,
		id: person.id,
		primary_email_address: "moved@example.com",
	});
	expect((await read(session)).status).toBe(401);
	expect((await open(second.token)).status).toBe(400);
	const third = await mailLink(device.id, "moved@example.com");
	expect(third.to).toBe("moved@example.com");
	const later = await openPage(third.token);
	await use("updatePeople", {
		organization_id: undefined,
		id: person.id,
		contract_end_date: "2020-01-31",
	});
	expect((await read(later)).status).toBe(401);
	const answer = await use("sendMyDevicesLinks", { device_ids: [device.id] });
	expect(answer).toMatchObject({
		people: [],
		skipped: [{ device_id: device.id, reason: "OWNER_LEFT" }],
	});
	const claimed = await addDeviceOf(null);
	await owner().query(
		"update devices set claimed_owner_id = $2 where id = $1",
		[claimed.id, (await addPerson()).id],
	);
	const none = await use("sendMyDevicesLinks", { device_ids: [claimed.id] });
	expect(none.skipped).toMatchObject([{ reason: "NO_OWNER" }]);
});

test("an owner of many selected devices gets one mail, and a copied link says that it was copied", async () => {
	const person = await addPerson();
	const devices = [
		await addDeviceOf(person.id),
		await addDeviceOf(person.id),
		await addDeviceOf(null),
	];
	const { people: mailed, skipped } = await use("sendMyDevicesLinks", {
		device_ids: devices.map(({ id }) => id),
	});
	expect(mailed).toHaveLength(1);
	expect(skipped).toEqual([{ device_id: devices[2]?.id, reason: "NO_OWNER" }]);
	await sink.next();
	const { link } = await use("copyMyDevicesLink", {
		device_id: devices[0]?.id,
	});
	const session = await openPage(tokenIn(link));
	expect((await read(session)).body.is_copied_link).toBe(true);
	const { rows } = await owner().query(
		"select count(*)::integer as count from mails where people_id = $1",
		[person.id],
	);
	expect(rows).toEqual([{ count: 1 }]);
});

test("no table contains the secret of a link or of a session", async () => {
	const person = await addPerson();
	const device = await addDeviceOf(person.id);
	const { token } = await mailLink(device.id, person.primary_email_address);
	const session = await openPage(token);
	const { rows } = await owner().query<{ all: string }>(
		"select (select string_agg(l::text, ' ') from my_devices_links l) || (select string_agg(m::text, ' ') from mails m) as all",
	);
	expect(rows[0]?.all).not.toContain(token.slice(8));
	expect(rows[0]?.all).not.toContain(session.split("=")[1]);
});

test("a request of another website's page is refused, and so is a body that is too large", async () => {
	const person = await addPerson();
	const device = await addDeviceOf(person.id);
	const { token } = await mailLink(device.id, person.primary_email_address);
	const path = `${url()}/api/my-devices/open`;
	const send = (headers: Record<string, string>, body: string) =>
		fetch(path, {
			method: "POST",
			headers: { "content-type": "application/json", ...headers },
			body,
		});
	const body = JSON.stringify({ token });
	for (const headers of [{ origin: "https://evil.example" }, {}]) {
		expect((await send(headers, body)).status).toBe(403);
	}
	const large = await send(
		{ origin: url() },
		`{"token":"${"x".repeat(17_000)}"}`,
	);
	expect(large.status).toBe(400);
	expect((await open(token)).status).toBe(200);
});

test("an organization that a user made mails a few links a day, so it cannot flood strangers", async () => {
	const devices = [];
	for (let number = 1; number <= 7; number++) {
		const { id } = await addPerson();
		devices.push(await addDeviceOf(id));
	}
	const ids = devices.map(({ id }) => id);
	const madeBy = (isUser: boolean) =>
		owner().query("update organizations set made_by_user = $1", [isUser]);
	await owner().query("delete from mails");
	await madeBy(true);
	onTestFinished(async () => void (await madeBy(false)));
	const send = (device_ids: string[]) =>
		sendTo(
			url(),
			"/api/console/sendMyDevicesLinks",
			{ organization_id: served.organizationId, device_ids },
			{ cookie },
		);
	const all = await send(ids);
	expect(all.status).toBe(400);
	expect(all.body.message).toContain("at most 5 mails a day");
	expect((await send(ids.slice(0, 5))).status).toBe(200);
	for (let number = 1; number <= 5; number++) await sink.next();
	expect((await send(ids.slice(5, 6))).status).toBe(400);
	// The holder of a copied link cannot ask for a mail either.
	const { link } = await use("copyMyDevicesLink", { device_id: ids[6] });
	const token = tokenIn(link);
	const attempts = async () =>
		(await owner().query("select from sign_in_failures")).rowCount ?? 0;
	const before = await attempts();
	expect(
		(await sendTo(url(), "/api/my-devices/new-link", { token })).status,
	).toBe(200);
	while ((await attempts()) <= before) {
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	expect((await send(ids.slice(5, 6))).status).toBe(400);
	const { rowCount } = await owner().query("select from mails");
	expect(rowCount).toBe(5);
});

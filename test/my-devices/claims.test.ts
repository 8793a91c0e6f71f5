import { afterAll, beforeAll, expect, test } from "vitest";
import { sendTo } from "../support/console-client.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { makeApiToken } from "../support/people.ts";
import { heartbeatBody } from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

let served: TestConsole;
let sink: SmtpSink;
let admin: Session;
let viewer: Session;
let person: string;
let otto: string;
let secret: string;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	admin = await served.signIn("admin");
	viewer = await served.signIn("viewer");
	person = await addPerson(viewer.user.email);
	otto = await addPerson("otto@example.com");
	secret = await addKey();
});
afterAll(async () => {
	await served.close();
	sink.close();
});

const here = () => ({ organization_id: served.organizationId });

async function addPerson(email: string): Promise<string> {
	const { people } = await admin.use("addPeople", {
		...here(),
		full_name: "Vera",
		kind: "EMPLOYEE",
		primary_email_address: email,
	});
	return people.id;
}

/** Makes an enrollment key. Returns its secret. */
async function addKey(fields = {}): Promise<string> {
	const made = await admin.use("addEnrollmentKey", {
		...here(),
		...{ name: "Laptops", max_devices: 50 },
		...fields,
	});
	return made.enrollment_key;
}

/** Enrolls a device whose installer names this owner. Returns its id. */
async function enroll(
	owner_email?: string,
	facts = {},
	token = secret,
): Promise<string> {
	const enrolled = await served.post("enroll", { token, owner_email });
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	const answer = await served.post("heartbeat", heartbeatBody(facts), { key });
	expect(answer.status).toBe(200);
	return ((await answer.json()) as { device_id: string }).device_id;
}

const claim = (facts = {}, token = secret) =>
	enroll(viewer.user.email, facts, token);

const answer = (session: Session, id: string, is_mine: boolean) =>
	session.call("answerDeviceClaim", { id, is_mine });

const ownersOf = async (id: string) => {
	const { device } = await admin.use("getDevice", { id });
	return [device.owner_id, device.claimed_owner_id];
};

const claimsOf = async (session: Session) =>
	(await session.use("getOverview", here())).mine?.claimed_devices;

const entriesOf = async (id: string) => {
	const { audit_entries: entries } = await admin.use("listAuditLog", {
		...here(),
		filter: { operation: "answerDeviceClaim" },
	});
	return entries.filter(
		(entry: { record_id: string }) => entry.record_id === id,
	);
};

test("signing in confirms nothing: the viewer sees the device, says that it is theirs, and only then gets links", async () => {
	const id = await claim({ hostname: "nb-7", serial_number: "SN-7" });
	expect(await claimsOf(viewer)).toEqual([
		{
			id,
			name: "nb-7",
			platform: "LINUX",
			serial_number: "SN-7",
			enrolled_at: expect.any(String),
		},
	]);
	expect(await claimsOf(admin)).toBeUndefined();
	expect(await ownersOf(id)).toEqual([null, person]);
	const send = () =>
		admin.use("sendMyDevicesLinks", { ...here(), device_ids: [id] });
	expect(await send()).toEqual({
		people: [],
		skipped: [{ device_id: id, reason: "NO_OWNER" }],
	});

	const { status, body } = await answer(viewer, id, true);
	expect(status).toBe(200);
	expect(body.device).toMatchObject({
		id,
		owner_id: person,
		claimed_owner_id: null,
	});
	expect(await claimsOf(viewer)).toEqual([]);
	expect(await send()).toMatchObject({ people: [{ id: person }], skipped: [] });
	const { to, text } = await sink.next();
	expect(to).toBe(viewer.user.email);
	const token = /my-devices#(asy_myd_\w+)/.exec(text)?.[1];
	const { url } = served.service;
	const opened = await sendTo(url, "/api/my-devices/open", { token });
	const page = await sendTo(url, "/api/my-devices", undefined, {
		cookie: opened.cookie,
	});
	expect(page.body.devices).toMatchObject([{ id }]);

	// A second answer changes nothing and leaves no entry.
	expect((await answer(viewer, id, true)).status).toBe(200);
	expect(await entriesOf(id)).toMatchObject([
		{
			actor_id: viewer.user.id,
			changes: {
				owner_id: { before: null, after: person },
				claimed_owner_id: { before: person, after: null },
			},
		},
	]);
	expect((await answer(viewer, id, false)).status).toBe(404);
	expect(await ownersOf(id)).toEqual([person, null]);
});

test("nobody is asked about a device before it has sent its name or serial number", async () => {
	const enrolled = await served.post("enroll", {
		token: secret,
		owner_email: viewer.user.email,
	});
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	expect(await claimsOf(viewer)).toEqual([]);
	const facts = { hostname: "nb-8" };
	const beat = await served.post("heartbeat", heartbeatBody(facts), { key });
	const { device_id: id } = (await beat.json()) as { device_id: string };
	expect(await claimsOf(viewer)).toMatchObject([{ id, name: "nb-8" }]);
	expect((await answer(viewer, id, false)).status).toBe(200);
});

test("nobody is asked about a device that awaits approval, until an administrator approves it", async () => {
	const enrolled = await served.post("enroll", {
		token: await addKey({ requires_approval: true }),
		owner_email: viewer.user.email,
	});
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	const facts = heartbeatBody({ hostname: "nb-9" });
	expect((await served.post("heartbeat", facts, { key })).status).toBe(400);
	const { devices } = await admin.use("listDevices", {
		...here(),
		filter: { awaits_approval: true },
	});
	const [{ id }] = devices;
	expect(await claimsOf(viewer)).toEqual([]);
	for (const isMine of [true, false]) {
		expect((await answer(viewer, id, isMine)).status).toBe(404);
	}
	expect(await ownersOf(id)).toEqual([null, person]);
	await admin.use("approveDevices", { ...here(), device_ids: [id] });
	expect(await claimsOf(viewer)).toMatchObject([{ id, name: "nb-9" }]);
	expect((await answer(viewer, id, false)).status).toBe(200);
});

test("many devices of one key do not keep the device of another key off the home page, and a search finds each of them", async () => {
	const real = await claim({ hostname: "nb-10", serial_number: "SN-10" });
	const flood = await addKey();
	const names = Array.from({ length: 12 }, (_, n) => `flood-${n}`);
	for (const hostname of names) await claim({ hostname }, flood);
	const { mine } = await viewer.use("getOverview", here());
	const asked = mine.claimed_devices.map(({ id }: { id: string }) => id);
	expect(asked).toHaveLength(10);
	expect(asked).toContain(real);
	expect(mine.has_more_claimed_devices).toBe(true);
	const found = async (query: string) =>
		viewer.use("listDevices", {
			...here(),
			filter: { query, has_claimed_owner: true },
		});
	for (const name of names) {
		const { devices } = await found(name);
		expect(devices).toContainEqual(
			expect.objectContaining({ hostname: name, claimed_owner_id: person }),
		);
	}
	expect((await found("SN-10")).devices).toMatchObject([{ id: real }]);

	const { devices } = await found("flood");
	const rest = devices.map(({ id }: { id: string }) => id);
	await admin.use("revokeDevices", { ...here(), device_ids: rest });
	const { mine: left } = await viewer.use("getOverview", here());
	expect(left.claimed_devices).toMatchObject([{ id: real }]);
	expect(left.has_more_claimed_devices).toBe(false);
	expect((await answer(viewer, real, false)).status).toBe(200);
});

test("Not mine clears the claim, so administrators see a device without an owner", async () => {
	const id = await claim();
	for (let n = 0; n < 2; n++) {
		expect((await answer(viewer, id, false)).status).toBe(200);
		expect(await ownersOf(id)).toEqual([null, null]);
	}
	expect(await entriesOf(id)).toMatchObject([
		{ changes: { claimed_owner_id: { before: person, after: null } } },
	]);
	expect(await claimsOf(viewer)).toEqual([]);
	expect((await answer(viewer, id, true)).status).toBe(404);
});

test.each([
	["claims another person", () => enroll("otto@example.com")],
	["claims nobody", () => enroll()],
	[
		"is revoked",
		async () => {
			const id = await claim();
			await admin.use("revokeDevice", { id });
			return id;
		},
	],
])("a device that %s is not found, and stays as it is", async (_, make) => {
	const id = await make();
	const before = await ownersOf(id);
	const { status, body } = await answer(viewer, id, true);
	expect(status).toBe(404);
	expect(body.message).toContain("does not wait for your answer");
	expect(await ownersOf(id)).toEqual(before);
	expect(await claimsOf(viewer)).toEqual([]);
	expect(await entriesOf(id)).toEqual([]);
});

test("a device that has an owner is not taken from them", async () => {
	const id = await claim();
	await served.database.owner.query(
		"update devices set owner_id = $2 where id = $1",
		[id, otto],
	);
	expect(await claimsOf(viewer)).toEqual([]);
	for (const isMine of [true, false]) {
		expect((await answer(viewer, id, isMine)).status).toBe(404);
	}
	expect(await ownersOf(id)).toEqual([otto, person]);
});

test("nobody answers for somebody else, not even an administrator, a stranger or an API token", async () => {
	const id = await claim();
	const elsewhere = (
		await admin.use("createOrganization", { name: "Elsewhere" })
	).organization.id;
	const stranger = await served.signIn("admin", elsewhere);
	const token = (await makeApiToken(served.database, viewer.user)).token;
	for (const isMine of [true, false]) {
		for (const session of [admin, stranger]) {
			expect((await answer(session, id, isMine)).status).toBe(404);
		}
	}
	const missing = await answer(stranger, id, true);
	expect(missing.body.message).toBe(`there is no device ${id}`);
	const authorization = `Bearer ${token}`;
	const input = { id, is_mine: true };
	for (const [path, status] of [
		["/api/mcp/tools/answerDeviceClaim", 404],
		["/api/console/answerDeviceClaim", 401],
	] as const) {
		const { url } = served.service;
		const tried = await sendTo(url, path, input, { authorization });
		expect(tried.status).toBe(status);
	}
	expect(await ownersOf(id)).toEqual([null, person]);
	expect((await answer(viewer, id, false)).status).toBe(200);
});

test("a member who may write only some registers answers for their own device", async () => {
	const member = await served.signIn("member");
	const { organizationId: organization_id } = served;
	await admin.use("updateMember", {
		organization_id,
		user_id: member.user.id,
		writable_registers: ["risks"],
	});
	const own = await addPerson(member.user.email);
	const id = await enroll(member.user.email);
	expect((await answer(member, id, true)).status).toBe(200);
	expect(await ownersOf(id)).toEqual([own, null]);
});

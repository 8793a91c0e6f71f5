import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { makeApiToken } from "../support/people.ts";
import { postureResult } from "../support/service.ts";

let served: TestConsole;
let admin: Session;
let viewer: Session;
let person: string;
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
	viewer = await served.signIn("viewer");
	const { people } = await admin.use("addPeople", {
		...here(),
		full_name: "Vera",
		kind: "EMPLOYEE",
		primary_email_address: viewer.user.email,
	});
	person = people.id;
});
afterAll(() => served.close());

const here = () => ({ organization_id: served.organizationId });

/** Makes a device that fails one check and passes another. */
async function addDevice(owner_id: string | null): Promise<string> {
	const { id, key } = await served.activateDevice();
	const results = [
		postureResult({ check_key: "SCREEN_LOCK", status: "FAIL" }),
		postureResult({ check_key: "TIME_SYNC", status: "PASS" }),
	];
	expect((await served.post("postures", { results }, { key })).status).toBe(
		204,
	);
	if (owner_id) await admin.use("updateDevice", { id, owner_id });
	return id;
}

const ask = (device_id: string, check_key = "SCREEN_LOCK", by = viewer) =>
	by.call("requestOwnDeviceException", {
		device_id,
		check_key,
		reason: "A kiosk",
		ends_at: new Date(Date.now() + 86_400_000).toISOString(),
	});

test("a viewer asks for an exception for their own device, once, and an administrator decides", async () => {
	const id = await addDevice(person);
	const { status, body } = await ask(id);
	expect(status, JSON.stringify(body)).toBe(200);
	expect(body.device_exception).toMatchObject({
		status: "REQUESTED",
		device_id: id,
		requested_by: { user_id: viewer.user.id },
	});
	const again = await ask(id);
	expect([again.status, again.body.message]).toEqual([
		400,
		expect.stringContaining("already requested"),
	]);
	const { audit_entries: entries } = await admin.use("listAuditLog", {
		...here(),
		filter: { operation: "requestOwnDeviceException" },
	});
	expect(entries).toMatchObject([
		{ actor_id: viewer.user.id, record_id: body.device_exception.id },
	]);
	await admin.use("approveDeviceException", { id: body.device_exception.id });
	const { device } = await viewer.use("getDevice", { id });
	expect(
		device.postures.find(
			({ check_key }: { check_key: string }) => check_key === "SCREEN_LOCK",
		).check_state,
	).toBe("EXCEPTED");
});

test("nobody asks for another's device, for a check that passes, or for a person that they are not", async () => {
	const own = await addDevice(person);
	const { people: other } = await admin.use("addPeople", {
		...here(),
		full_name: "Otto",
		kind: "EMPLOYEE",
		primary_email_address: "otto@example.com",
	});
	for (const [device, check, by, message] of [
		[await addDevice(other.id), "SCREEN_LOCK", viewer, "not one of your"],
		[await addDevice(null), "SCREEN_LOCK", viewer, "not one of your"],
		[own, "TIME_SYNC", viewer, "has to be fixed"],
		[own, "SCREEN_LOCK", admin, "not one of your"],
	] as const) {
		const { status, body } = await ask(device, check, by);
		expect([status, body.message]).toEqual([
			400,
			expect.stringContaining(message),
		]);
	}
});

test("a viewer's API token cannot ask, and a member whose registers are limited can", async () => {
	const id = await addDevice(person);
	const { token } = await makeApiToken(served.database, viewer.user);
	const answer = await fetch(
		`${served.service.url}/api/mcp/tools/requestOwnDeviceException`,
		{
			method: "POST",
			body: JSON.stringify({ device_id: id }),
			headers: { authorization: `Bearer ${token}` },
		},
	);
	expect(answer.status).toBe(404);
	await admin.use("updateMember", {
		...here(),
		user_id: viewer.user.id,
		role: "member",
		writable_registers: ["tasks"],
	});
	expect((await ask(id)).status).toBe(200);
});

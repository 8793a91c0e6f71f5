import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { postureResult } from "../support/service.ts";

let served: TestConsole;
let admin: Session;
let person: string;
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
	const { people } = await admin.use("addPeople", {
		...here(),
		full_name: "Ada",
		kind: "EMPLOYEE",
		primary_email_address: admin.user.email,
	});
	person = people.id;
});
afterAll(() => served.close());

const here = () => ({ organization_id: served.organizationId });

async function addDevice(owner_id: string | null, results: object[]) {
	const { id, key } = await served.activateDevice();
	await served.post(
		"postures",
		{ results: results.map((result) => postureResult(result as never)) },
		{ key },
	);
	await admin.use("updateDevice", { id, owner_id });
	return id;
}

const failing = async () =>
	(await admin.use("getOverview", here())).mine?.failing_checks;

test("the overview lists the required checks that the person's own active devices fail, with their grace", async () => {
	expect(await failing()).toEqual([]);
	const fails = { check_key: "SCREEN_LOCK", status: "FAIL" };
	const own = await addDevice(person, [
		fails,
		{ check_key: "FIREWALL_ENABLED", status: "PASS" },
		{ check_key: "NOT_IN_THE_POLICY", status: "FAIL" },
	]);
	await addDevice(null, [fails]);
	const revoked = await addDevice(person, [fails]);
	await admin.use("revokeDevice", { id: revoked });
	const inGrace = {
		device_id: own,
		device_name: "laptop",
		check_key: "SCREEN_LOCK",
		check_name: "Screen or idle lock",
		since: expect.any(String),
		in_grace_until: expect.stringMatching(/^20/),
	};
	expect(await failing()).toEqual([inGrace]);

	await served.database.owner.query(
		"update devices set activated_at = now() - interval '400 days' where id = $1",
		[own],
	);
	await served.database.owner.query(
		"update posture_spans set since = since - interval '399 days' where device_id = $1",
		[own],
	);
	expect(await failing()).toEqual([{ ...inGrace, in_grace_until: null }]);
});

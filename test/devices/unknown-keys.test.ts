import { afterAll, beforeAll, expect, test } from "vitest";
import { setWait } from "../../src/cli/unknown-keys.ts";
import {
	deleteDevice,
	revokeDevice,
} from "../../src/devices/write-operations.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import {
	heartbeatBody,
	postureResult,
	readError,
	startService,
	type TestService,
} from "../support/service.ts";

let fleet: TestFleet;
let assay: TestService;
beforeAll(async () => {
	fleet = await startFleet();
	assay = fleet.assay;
});
afterAll(() => assay.close());

const beat = (
	service: TestService,
	key: string,
	body: string | Record<string, unknown> = {},
) =>
	service.post(
		"heartbeat",
		typeof body === "string" ? body : heartbeatBody(body),
		{ key },
	);

/** Lets unknown keys wait, and waits until the running service has noticed it. */
async function letWait(): Promise<void> {
	await setWait(assay.database.pool, 3600);
	while ((await beat(assay, makeSecret("dev"))).status !== 503) {
		await new Promise((resolve) => setTimeout(resolve, 200));
	}
}

const knocking = async () => {
	const { rows } = await assay.database.pool.query<{ knocking: number }>(
		"select knocking from unknown_key_state()",
	);
	return rows[0]?.knocking;
};

test("a database that has never held a device answers a well-formed key with 503, and every other key with 401", async () => {
	const fresh = await startService();
	const key = makeSecret("dev");
	for (const body of [{}, "{"]) {
		const answer = await beat(fresh, key, body);
		expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
		expect(await readError(answer)).toMatchObject({
			status: 503,
			error: "service_unavailable",
			message: expect.stringContaining("has never held a device"),
		});
	}
	expect((await fresh.post("postures", { results: [] }, { key })).status).toBe(
		503,
	);
	expect((await fresh.post("unenroll", "", { key })).status).toBe(503);
	expect((await beat(fresh, `${key}x`)).status).toBe(401);
	expect((await beat(fresh, makeSecret("pat"))).status).toBe(401);
	expect((await fresh.post("heartbeat", heartbeatBody())).status).toBe(401);
	expect(
		(await fresh.post("enroll", { token: makeSecret("enr") })).status,
	).toBe(401);
	// From the moment at which there is a device, an unknown key is certainly wrong.
	await fresh.makeToken();
	expect((await beat(fresh, key)).status).toBe(401);
	await fresh.close();
});

test("a database whose only device was deleted answers 401, because it has held one", async () => {
	const fresh = await startService();
	const { id } = await fresh.makeToken();
	const { owner } = fresh.database;
	await owner.query("alter table devices no force row level security");
	await owner.query(
		"alter table enrollment_tokens no force row level security",
	);
	await owner.query("delete from enrollment_tokens where device_id = $1", [id]);
	const { rowCount } = await owner.query("delete from devices where id = $1", [
		id,
	]);
	expect(rowCount).toBe(1);
	expect((await beat(fresh, makeSecret("dev"))).status).toBe(401);
	await fresh.close();
});

test("while unknown keys wait, they get 503 and are counted once each, and known and revoked keys get the same as ever", async () => {
	const active = await assay.activateDevice();
	const pending = await assay.enrollDevice();
	const gone = await assay.activateDevice();
	const left = await assay.activateDevice();
	const revoked = await assay.activateDevice();
	expect((await beat(assay, makeSecret("dev"))).status).toBe(401);
	await letWait();
	await fleet.call(deleteDevice, { id: gone.id });
	await fleet.call(revokeDevice, { id: revoked.id });
	expect((await assay.post("unenroll", "", { key: left.key })).status).toBe(
		204,
	);
	for (const { key } of [gone, left, revoked]) {
		expect((await beat(assay, key)).status).toBe(401);
		expect((await beat(assay, key, "{")).status).toBe(401);
	}
	const before = (await knocking()) ?? 0;
	const key = makeSecret("dev");
	const answers = [
		await beat(assay, key, { hostname: "nb-0107" }),
		await beat(assay, key, "{"),
		await assay.post("postures", { results: [postureResult()] }, { key }),
	];
	for (const answer of answers) {
		expect(await readError(answer)).toMatchObject({
			status: 503,
			message: expect.stringContaining("restored from a backup"),
		});
	}
	expect(await knocking()).toBe(before + 1);
	const { rows } = await assay.database.pool.query(
		"select * from list_unknown_device_keys() where hostname = 'nb-0107'",
	);
	expect(rows).toEqual([
		expect.objectContaining({ requests: "3", address: "127.0.0.1" }),
	]);
	expect(
		(await beat(assay, active.key, { hardware_uuid: active.hardwareUuid }))
			.status,
	).toBe(200);
	const early = await assay.post("postures", { results: [] }, pending);
	expect(early.status).toBe(401);
	expect((await beat(assay, `${key}x`)).status).toBe(401);
	await setWait(assay.database.pool, null);
	expect((await beat(assay, key)).status).toBe(401);
	expect(await knocking()).toBeUndefined();
});

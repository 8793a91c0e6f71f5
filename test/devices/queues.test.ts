import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import {
	heartbeatBody,
	postureResult,
	startService,
	type TestDevice,
	type TestService,
	untilTaken,
} from "../support/service.ts";

let assay: TestService;
beforeAll(async () => {
	assay = await startService();
});
afterAll(() => assay.close());

const beat = ({ key, hardwareUuid }: TestDevice) =>
	assay.post("heartbeat", heartbeatBody({ hardware_uuid: hardwareUuid }), {
		key,
	});

const statusesOf = async (answers: Promise<Response>[]) =>
	(await Promise.all(answers)).map(({ status }) => status);

async function activate(
	count: number,
	organizationId?: string,
): Promise<TestDevice[]> {
	const devices: TestDevice[] = [];
	while (devices.length < count) {
		devices.push(await assay.activateDevice(organizationId));
	}
	return devices;
}

test("a thousand simultaneous heartbeats with one invented key get 401 or 503 and do not keep real devices out", async () => {
	const devices = await activate(40);
	const key = makeSecret("dev");
	const crowd: Promise<Response>[] = [];
	const beats: Promise<Response>[] = [];
	while (crowd.length < 1000) {
		for (let number = 0; number < 100; number++) {
			crowd.push(assay.post("heartbeat", heartbeatBody(), { key }));
		}
		beats.push(...devices.splice(0, 4).map(beat));
		// If all requests were read in the same turn of the event loop, the service would turn them
		// away to save processor time.
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	expect(await statusesOf(beats)).toEqual(Array(40).fill(200));
	expect(new Set(await statusesOf(crowd))).toEqual(new Set([401, 503]));
});

/** Locks rows until the returned function is called, as a change that does not end would. */
async function hold(sql: string, values: unknown[]) {
	const holder = await assay.database.owner.connect();
	await holder.query("begin");
	await holder.query(sql, values);
	return async () => {
		await holder.query("rollback");
		holder.release();
	};
}

const LOCK_ORGANIZATION = "select from organizations where id = $1 for update";
const LOCK_DEVICES = "select from devices where id = any ($1) for update";

test("while a change holds one organization's lock, devices of another one can enroll, send first heartbeats and unenroll", async () => {
	const mine = assay.organizationId;
	const other = await createOrganization(assay.database.pool, "Other");
	const [pending, leaving] = [
		await assay.enrollDevice(),
		(await activate(1))[0],
	];
	const tokens: string[] = [];
	while (tokens.length < 12) {
		const organizationId = tokens.length < 6 ? mine : other;
		tokens.push((await assay.makeToken(organizationId)).token);
	}
	const letGo = await hold(LOCK_ORGANIZATION, [mine]);
	const enroll = (token: string) => assay.post("enroll", { token });
	const unenroll = (key: string) => assay.post("unenroll", {}, { key });
	let isHeld = true;
	const stubborn = tokens.slice(0, 6).map(async (token) => {
		const statuses: number[] = [];
		while (isHeld) statuses.push((await enroll(token)).status);
		return statuses;
	});
	const stuck = [beat(pending), unenroll((leaving as TestDevice).key)];

	// The lock is held until they have done everything.
	const enrolled = await Promise.all(
		tokens.slice(6).map((token) => untilTaken(() => enroll(token))),
	);
	expect(enrolled.map(({ status }) => status)).toEqual(Array(6).fill(200));
	const keys: string[] = [];
	for (const answer of enrolled) {
		keys.push(((await answer.json()) as { api_key: string }).api_key);
	}
	const first = keys.map((key) =>
		untilTaken(() => assay.post("heartbeat", heartbeatBody(), { key })),
	);
	expect(await statusesOf(first)).toEqual(Array(6).fill(200));
	const left = keys.map((key) => untilTaken(() => unenroll(key)));
	expect(await statusesOf(left)).toEqual(Array(6).fill(204));

	expect(await statusesOf(stuck)).toEqual([503, 503]);
	isHeld = false;
	for (const statuses of await Promise.all(stubborn)) {
		expect(new Set(statuses)).toEqual(new Set([503]));
	}
	await letGo();
	expect(await statusesOf(tokens.slice(0, 6).map(enroll))).toEqual(
		Array(6).fill(200),
	);
	expect((await beat(pending)).status).toBe(200);
});

const report = ({ key }: TestDevice) =>
	assay.post("postures", { results: [postureResult()] }, { key });

/**
 * Sends for each device until the answer is `done`. A busy machine may take so long that the
 * service turns some of the devices away. They retry, as real devices do.
 */
async function sendUntil(
	done: number,
	devices: TestDevice[],
	send: (device: TestDevice) => Promise<Response>,
): Promise<void> {
	let left = devices;
	while (left.length > 0) {
		const statuses = await statusesOf(left.map(send));
		left = left.filter((_, index) => statuses[index] === 503);
		const others = statuses.filter((status) => status !== 503);
		expect(others).toEqual(others.map(() => done));
	}
}

test.each([
	["heartbeats", beat, 200],
	["reports", report, 204],
])("while three devices' rows are locked, the %s of 40 others are stored; the three get 503 and are stored afterwards", async (_, send, done) => {
	const devices = await activate(43);
	const locked = devices.slice(0, 3);
	const letGo = await hold(LOCK_DEVICES, [locked.map(({ id }) => id)]);
	for (let round = 0; round < 3; round++) {
		const stuck = locked.map(send);
		await sendUntil(done, devices.slice(3), send);
		expect(await statusesOf(stuck)).toEqual([503, 503, 503]);
	}
	await letGo();
	await sendUntil(done, locked, send);
});

test("a clone that appears while a change of its organization has not committed gets 200 and is logged", async () => {
	const [device, neighbour] = await activate(2);
	const clone = { ...(device as TestDevice), hardwareUuid: "another" };
	const letGo = await hold("select audit_append($1, $2)", [
		assay.organizationId,
		JSON.stringify([
			{ actor_kind: "SYSTEM", actor_name: "x", operation: "addRisk" },
		]),
	]);
	const answers = [clone, neighbour as TestDevice].map(beat);
	expect(await statusesOf(answers)).toEqual([200, 200]);
	const { rows } = await assay.database.owner.query(
		"select changes -> 'conflict' ->> 'after' as conflict from audit_entries where record_id = $1 and operation = 'reportDeviceConflict'",
		[clone.id],
	);
	expect(rows).toEqual([{ conflict: "POSSIBLE_CLONE" }]);
	await letGo();
});

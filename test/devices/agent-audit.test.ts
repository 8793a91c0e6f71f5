import { afterAll, beforeAll, expect, test } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { listDevices } from "../../src/devices/read-operations.ts";
import { reissueEnrollmentToken } from "../../src/devices/write-operations.ts";
import { hashSecret } from "../../src/tokens/secret.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import { heartbeatBody, untilTaken } from "../support/service.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await startFleet({ ASSAY_TRUSTED_PROXIES: "127.0.0.1" });
});
afterAll(() => fleet.assay.close());

/** The addresses that a proxy forwards. */
const from = (address: string) => ({ "x-forwarded-for": address });

const beat = async (key: string, body: unknown, address = "192.0.2.9") =>
	(await fleet.assay.post("heartbeat", body, { key, headers: from(address) }))
		.status;

test("the audit log contains each change that a device makes exactly once, and no heartbeats", async () => {
	const { id, token } = await fleet.assay.makeToken();
	const enrolled = await fleet.assay.post(
		"enroll",
		{ token },
		{ headers: from("192.0.2.1") },
	);
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	const facts = heartbeatBody({ hostname: "anna-laptop" });
	for (const address of ["192.0.2.2", "192.0.2.3"]) {
		expect(await beat(key, facts, address)).toBe(200);
	}
	await fleet.assay.post("unenroll", "", { key, headers: from("192.0.2.4") });
	const agent = { actor_kind: "AGENT", actor_id: id, record_name: "laptop" };
	expect(await fleet.audited(id)).toEqual([
		{
			...agent,
			actor_name: "laptop",
			operation: "enrollDevice",
			address: "192.0.2.1",
			changes: {
				status: { before: "PENDING", after: "PENDING" },
				enrolled_with: { before: null, after: "laptop" },
			},
		},
		{
			...agent,
			actor_name: "anna-laptop",
			operation: "activateDevice",
			address: "192.0.2.2",
			changes: {
				status: { before: "PENDING", after: "ACTIVE" },
				...Object.fromEntries(
					Object.entries(facts).map(([name, after]) => [
						name,
						{ before: null, after },
					]),
				),
			},
		},
		{
			...agent,
			actor_name: "anna-laptop",
			operation: "unenrollDevice",
			address: "192.0.2.4",
			changes: { status: { before: "ACTIVE", after: "REVOKED" } },
		},
	]);
});

test("a conflict is logged when it is new, not each time a heartbeat shows it", async () => {
	const holder = await fleet.assay.activateDevice();
	const clone = heartbeatBody({ hostname: "copy" });
	for (const _ of [1, 2, 3]) expect(await beat(holder.key, clone)).toBe(200);

	const second = await fleet.assay.enrollDevice();
	const same = heartbeatBody({ hardware_uuid: holder.hardwareUuid });
	for (const _ of [1, 2]) expect(await beat(second.key, same)).toBe(400);

	const conflictsOf = async (id: string) =>
		(await fleet.audited(id)).filter(
			(entry) => entry.operation === "reportDeviceConflict",
		);
	expect(await conflictsOf(holder.id)).toEqual([
		{
			actor_kind: "AGENT",
			actor_id: holder.id,
			actor_name: "copy",
			operation: "reportDeviceConflict",
			record_name: "laptop",
			address: "192.0.2.9",
			changes: {
				conflict: { after: "POSSIBLE_CLONE" },
				claimed_hardware_uuid: { after: clone.hardware_uuid },
				claimed_platform: { after: "LINUX" },
				claimed_hostname: { after: "copy" },
			},
		},
	]);
	expect(await conflictsOf(second.id)).toMatchObject([
		{
			address: "192.0.2.9",
			changes: {
				conflict: { after: "DUPLICATE_HARDWARE" },
				other_device_id: { after: holder.id },
			},
		},
	]);
});

test("many simultaneous new conflicts in one organization are all logged in an unbroken chain, each with its own address", async () => {
	const devices = await fleet.assay.activateDevices(30);
	const answers = await Promise.all(
		devices.map(async ({ key }, n) => {
			const body = heartbeatBody();
			// An overloaded service answers 503, and the loop retries as an agent does.
			for (;;) {
				const status = await beat(key, body, `198.51.100.${n}`);
				if (status !== 503) return status;
			}
		}),
	);
	expect(new Set(answers)).toEqual(new Set([200]));
	const { rows } = await fleet.assay.database.owner.query(
		`select actor_id as id, address from audit_entries
		where operation = 'reportDeviceConflict' and actor_id = any($1)
		order by array_position($1, actor_id)`,
		[devices.map(({ id }) => id)],
	);
	expect(rows).toEqual(
		devices.map(({ id }, n) => ({ id, address: `198.51.100.${n}` })),
	);
	await sealAll(fleet.assay.database.pool);
	const { rows: chain } = await fleet.assay.database.owner.query(
		`select count(*)::int as broken from audit_seals s
		left join audit_entries e on e.organization_id = s.organization_id and e.id = s.entry_id
		left join audit_seals p on p.organization_id = s.organization_id and p.sequence = s.sequence - 1
		where s.previous_hash is distinct from coalesce(p.hash, '')
			or s.hash is distinct from audit_entry_hash(e, s.sequence, s.previous_hash)`,
	);
	expect(chain).toEqual([{ broken: 0 }]);
});

test("a device is found by its new hostname and serial number as soon as it sends them", async () => {
	const { id, key, hardwareUuid } = await fleet.assay.activateDevice();
	const find = async (query: string) =>
		(
			await fleet.call(listDevices, {
				organization_id: fleet.assay.organizationId,
				filter: { query },
			})
		).devices.map((device) => device.id);
	const facts = { hardware_uuid: hardwareUuid };
	await beat(key, heartbeatBody({ ...facts, hostname: "Zoë-Notebook" }));
	expect(await find("zoe-note")).toEqual([id]);
	await beat(
		key,
		heartbeatBody({ ...facts, hostname: "x", serial_number: "S77" }),
	);
	expect(await find("zoe-note")).toEqual([]);
	expect(await find("s77 laptop")).toEqual([id]);
	const order_by = { field: "hostname", direction: "DESC" } as const;
	const { devices } = await fleet.call(listDevices, {
		organization_id: fleet.assay.organizationId,
		order_by,
		size: 1,
	});
	expect(devices.map((device) => device.id)).toEqual([id]);
});

test("heartbeats that change no searchable value keep the device's row on its page (HOT)", async () => {
	const { key, hardwareUuid } = await fleet.assay.activateDevice();
	const client = await fleet.assay.database.owner.connect();
	try {
		// The counters contain only the updates that this transaction has made so far.
		const beatAndCount = async (hostname: string, system = "Debian 12") => {
			const { rows } = await client.query<{ ordinal: number }>(
				"select * from agent_store_heartbeats(array[$1::bytea], array[$2], array['C02XK1'], array[$3], array['LINUX'], array[$4], array['1.0.0'], array['192.0.2.9'])",
				[`\\x${hashSecret(key)}`, hardwareUuid, hostname, system],
			);
			expect(rows).toHaveLength(1);
			const { rows: counted } = await client.query(
				"select n_tup_upd::int as all, n_tup_hot_upd::int as hot from pg_stat_xact_user_tables where relname = 'devices'",
			);
			return counted[0];
		};
		await client.query("begin");
		expect(await beatAndCount("laptop")).toEqual({ all: 1, hot: 1 });
		expect(await beatAndCount("laptop")).toEqual({ all: 2, hot: 2 });
		expect(await beatAndCount("renamed")).toEqual({ all: 3, hot: 2 });
		expect(await beatAndCount("renamed")).toEqual({ all: 4, hot: 3 });
		expect(await beatAndCount("renamed", "Debian 13")).toEqual({
			all: 5,
			hot: 3,
		});
	} finally {
		await client.query("rollback");
		client.release();
	}
});

test("if a token is exchanged while it is being replaced, the device has exactly one valid credential", async () => {
	const { id, token } = await fleet.assay.makeToken();
	const [reissued, exchanged] = await Promise.all([
		fleet.call(reissueEnrollmentToken, { id }),
		untilTaken(() => fleet.assay.post("enroll", { token })),
	]);
	expect([200, 401]).toContain(exchanged.status);
	const { rows } = await fleet.assay.database.owner.query(
		"select count(*)::int as open from enrollment_tokens where device_id = $1 and revoked_at is null",
		[id],
	);
	expect(rows).toEqual([{ open: 1 }]);
	const answer = await fleet.assay.post("enroll", {
		token: reissued.enrollment_token,
	});
	expect(answer.status).toBe(200);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { getDevice, listDevices } from "../../src/devices/read-operations.ts";
import { addDevice, updateDevice } from "../../src/devices/write-operations.ts";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await shareFleet();
});
afterAll(() => fleet.assay.close());

const addPeople = recordOperations(people)[2];

async function addOwner(organizationId = fleet.assay.organizationId) {
	const added = await fleet.call(
		addPeople,
		{
			organization_id: organizationId,
			full_name: "Ada Lovelace",
			primary_email_address: "ada@example.com",
			kind: "EMPLOYEE",
		},
		{ organizationId },
	);
	return added.people.id;
}

/** Creates an organization for one test, which then knows all of its devices. */
const makeOrganization = () =>
	createOrganization(fleet.assay.database.pool, "Own");

/** Returns the names in a list, in the list's order. */
async function names(
	organizationId: string,
	input: Omit<Parameters<typeof list>[1], "organization_id"> = {},
) {
	return (await list(organizationId, input)).devices.map(({ name }) => name);
}

function list(
	organizationId: string,
	input: {
		size?: number;
		cursor?: string | null;
		filter?: object;
		order_by?: { field: string; direction?: "ASC" | "DESC" };
		include_evidence?: boolean;
	} = {},
) {
	return fleet.call(
		listDevices,
		{ ...input, organization_id: organizationId } as never,
		{ organizationId },
	);
}

test("every field that a device or a user sets is returned, in the list and for the single device", async () => {
	const organization = await makeOrganization();
	const owner = await addOwner(organization);
	const { id, key } = await fleet.assay.enrollDevice(organization);
	const facts = heartbeatBody({ hostname: "ada.local", platform: "DARWIN" });
	await fleet.assay.post("heartbeat", facts, { key });
	const results = [
		postureResult({
			observed_at: "2026-03-01T08:00:00Z",
			evidence: { tool: "fdesetup", on: true },
		}),
		postureResult({
			check_key: "OWN_CHECK",
			status: "FAIL",
			observed_at: "2026-03-01T08:00:00Z",
		}),
	];
	await fleet.assay.post("postures", { results }, { key });
	await fleet.call(
		updateDevice,
		{ id, name: "Ada's laptop", owner_id: owner },
		{ organizationId: organization },
	);

	const { device, conflicts } = await fleet.call(
		getDevice,
		{ id },
		{ organizationId: organization, role: "viewer" },
	);
	expect(conflicts).toEqual([]);
	expect(device).toEqual({
		...facts,
		id,
		organization_id: organization,
		agent_name: null,
		name: "Ada's laptop",
		status: "ACTIVE",
		freshness: "ONLINE",
		reporting: "REPORTING",
		last_reported_at: "2026-03-01T08:00:00.000Z",
		owner_id: owner,
		owner_name: "Ada Lovelace",
		enrolled_at: expect.stringMatching(/Z$/),
		last_seen_at: expect.stringMatching(/Z$/),
		revoked_at: null,
		awaits_approval: false,
		claimed_owner_id: null,
		claimed_owner_name: null,
		enrollment_key_id: null,
		enrollment_key_name: null,
		predecessor_id: null,
		successor_id: null,
		groups: [],
		group_policies: [],
		conflicts: [],
		duplicate_of: null,
		omitted_checks: 0,
		failing_count: 1,
		compliance: "UNKNOWN",
		compliant_by_exception: false,
		missing_checks: expect.arrayContaining(["FIREWALL_ENABLED"]),
		postures: [
			{
				check_key: "DISK_ENCRYPTION",
				check_name: "Full-disk encryption",
				status: "PASS",
				check_state: "STALE",
				since: "2026-03-01T08:00:00.000Z",
				observed_at: "2026-03-01T08:00:00.000Z",
				evidence: { tool: "fdesetup", on: true },
			},
			{
				check_key: "OWN_CHECK",
				check_name: null,
				status: "FAIL",
				check_state: "NOT_APPLICABLE",
				since: "2026-03-01T08:00:00.000Z",
				observed_at: "2026-03-01T08:00:00.000Z",
				evidence: null,
			},
		],
		created_at: expect.stringMatching(/Z$/),
		updated_at: expect.stringMatching(/Z$/),
	});
	const full = await list(organization, { include_evidence: true });
	const { group_policies, ...listed } = device;
	expect(full.devices).toEqual([listed]);
	expect(group_policies).toEqual([]);
	const short = await list(organization);
	expect(short.devices[0]?.postures[0]).not.toHaveProperty("evidence");
});

test("with several filters, the list contains the devices that match all of them", async () => {
	const organization = await makeOrganization();
	const owner = await addOwner(organization);
	const [a = "", b = "", c = ""] = await fleet.seed(
		["anna", "Bücher", "carl"],
		organization,
	);
	const { owner: database } = fleet.assay.database;
	await database.query(
		"update devices set owner_id = $2, platform = 'WINDOWS' where id = $1",
		[a, owner],
	);
	await database.query(
		"update devices set status = 'REVOKED', revoked_at = now() where id = $1",
		[c],
	);
	const span = (device: string, status: string, isCurrent: boolean) =>
		database.query(
			`insert into posture_spans values ($1, $2, 'FIREWALL_ENABLED', $3, $3, $4, $5, $5, $6)`,
			[
				organization,
				device,
				isCurrent ? "2026-02-01" : "2026-01-01",
				status,
				makeId(organization, "device_posture_report"),
				isCurrent,
			],
		);
	await span(a, "FAIL", false);
	await span(a, "PASS", true);
	await span(b, "FAIL", true);

	for (const [filter, expected] of [
		[{ status: "REVOKED" }, ["carl"]],
		[{ status: "ACTIVE" }, ["anna", "Bücher"]],
		[{ platform: "WINDOWS" }, ["anna"]],
		[{ owner_id: owner }, ["anna"]],
		[{ owner_id: null }, ["Bücher", "carl"]],
		[{ failing_check: "FIREWALL_ENABLED" }, ["Bücher"]],
		[{ failing_check: "DISK_ENCRYPTION" }, []],
		[{ passing_check: "FIREWALL_ENABLED" }, ["anna"]],
		[{ unknown_check: "FIREWALL_ENABLED" }, []],
		[{ query: "bucher" }, ["Bücher"]],
		[{ query: "LOCAL anna" }, ["anna"]],
		[{ query: "local", status: "ACTIVE", owner_id: null }, ["Bücher"]],
	] as const) {
		const order_by = { field: "name" };
		expect(
			await names(organization, { filter, order_by }),
			JSON.stringify(filter),
		).toEqual(expected);
	}
});

test("a device's freshness depends on the time of its last heartbeat", async () => {
	const organization = await makeOrganization();
	const [online, stale, missing] = await fleet.seed(
		["online", "stale", "missing"],
		organization,
	);
	await fleet.call(
		addDevice,
		{ organization_id: organization, name: "never" },
		{ organizationId: organization },
	);
	const { owner } = fleet.assay.database;
	for (const [id, age] of [
		[online, "10 minutes"],
		[stale, "12 minutes"],
		[missing, "8 days"],
	]) {
		await owner.query(
			"update devices set last_seen_at = now() - $2::interval where id = $1",
			[id, age],
		);
	}
	for (const name of ["online", "stale", "missing", "never"]) {
		const filter = { freshness: name.toUpperCase() };
		expect(await names(organization, { filter })).toEqual([name]);
	}
	const order_by = { field: "last_seen_at", direction: "DESC" } as const;
	expect(await names(organization, { order_by })).toEqual([
		"online",
		"stale",
		"missing",
		"never",
	]);
});

test.each([
	["created_at", "ASC"],
	["created_at", "DESC"],
	["name", "ASC"],
	["hostname", "DESC"],
	["last_seen_at", "ASC"],
	["failing_since", "ASC"],
] as const)("paging by %s %s through 250 devices neither skips nor repeats one while others are added", async (field, direction) => {
	const organization = await makeOrganization();
	const seeded = await fleet.seed(
		Array.from({ length: 250 }, (_, index) => `device ${(index * 7) % 250}`),
		organization,
	);
	const seen: string[] = [];
	let cursor: string | null = null;
	do {
		const page = await list(organization, {
			size: 40,
			cursor,
			order_by: { field, direction },
		});
		seen.push(...page.devices.map(({ id }) => id));
		cursor = page.next_cursor;
		await fleet.seed(["added", "device 100b"], organization);
	} while (cursor !== null);
	expect(new Set(seen).size).toBe(seen.length);
	expect(new Set(seen).intersection(new Set(seeded)).size).toBe(250);
});

test("a page needs the same number of statements for any number of devices", async () => {
	const organization = await makeOrganization();
	const count = async (size: number, expected: number) => {
		const statements: string[] = [];
		const pool = fleet.assay.database.pool;
		const counted = new Proxy(pool, {
			get: (target, property) =>
				property === "connect"
					? async () => counting(await target.connect(), statements)
					: Reflect.get(target, property),
		});
		const page = await fleet.call(
			listDevices,
			{ organization_id: organization, size, include_evidence: true },
			{
				organizationId: organization,
				services: { ...fleet.services, pool: counted },
			},
		);
		expect(page.devices).toHaveLength(expected);
		return statements.length;
	};
	await fleet.seed(
		Array.from({ length: 10 }, (_, index) => `first ${index}`),
		organization,
	);
	const few = await count(5, 5);
	await fleet.seed(
		Array.from({ length: 190 }, (_, index) => `more ${index}`),
		organization,
	);
	expect(await count(100, 100)).toBe(few);
	expect(few).toBeLessThanOrEqual(7);
});

/** Returns the connection and counts the statements that are sent on it until it is released. */
function counting<Connection extends object>(
	connection: Connection,
	statements: unknown[],
): Connection {
	return new Proxy(connection, {
		get: (target, property) => {
			const value = Reflect.get(target, property);
			if (typeof value !== "function") return value;
			return (...parameters: unknown[]) => {
				if (property === "query") statements.push(parameters[0]);
				return value.apply(target, parameters);
			};
		},
	});
}

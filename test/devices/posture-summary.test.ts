import { afterAll, beforeAll, expect, test } from "vitest";
import { listPostureSummary } from "../../src/devices/posture-summary.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import {
	revokeDevice,
	updateDevice,
} from "../../src/devices/write-operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import type { TestDevice } from "../support/service.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await shareFleet();
});
afterAll(() => fleet.assay.close());

/** Returns noon of a day in March. */
const on = (day: number) => `2026-03-${String(day).padStart(2, "0")}T12:00:00Z`;

test("the summary counts each ACTIVE device once for each check, and a stale one never passes", async () => {
	const { organizationId, devices } = await makeFleet(5);
	const [passing, failing, stale, silent, revoked] = devices as [
		TestDevice,
		TestDevice,
		TestDevice,
		TestDevice,
		TestDevice,
	];
	for (const device of [passing, stale, revoked])
		await fleet.report(device, {});
	await fleet.report(failing, { status: "FAIL" }, { check_key: "OWN" });
	await heard(stale, "1 day");
	await fleet.call(revokeDevice, { id: revoked.id }, { organizationId });

	const summary = await fleet.call(
		listPostureSummary,
		{ organization_id: organizationId },
		{ organizationId, role: "viewer" },
	);
	expect(summary).toMatchObject({
		active_devices: 4,
		stale_devices: 1,
		omitted_checks: 0,
		devices_by_status: { PENDING: 0, ACTIVE: 4, REVOKED: 1 },
		devices_by_freshness: { ONLINE: 3, STALE: 1, MISSING: 0, NEVER: 0 },
	});
	expect(summary.checks).toHaveLength(CHECK_KEYS.length + 1);
	const none = { pass: 0, fail: 0, unknown: 0, not_applicable: 0, stale: 0 };
	expect(summary.checks[0]).toMatchObject({
		check_key: "DISK_ENCRYPTION",
		check_name: "Full-disk encryption",
		...none,
		pass: 1,
		fail: 1,
		stale: 1,
		not_reported: 1,
		pass_percent: 50,
	});
	expect(summary.checks[1]).toMatchObject({
		check_key: "SCREEN_LOCK",
		...none,
		not_reported: 4,
		pass_percent: 0,
	});
	expect(summary.checks.at(-1)).toMatchObject({
		check_key: "OWN",
		check_name: null,
		pass: 1,
		not_reported: 3,
		// The policy does not require it.
		pass_percent: null,
	});
	await heard(stale, "0 seconds");
	await heard(silent, "8 days");
	const later = await fleet.call(
		listPostureSummary,
		{ organization_id: organizationId },
		{ organizationId },
	);
	expect(later.checks[0]).toMatchObject({
		pass: 2,
		stale: 0,
		not_reported: 1,
		pass_percent: 50,
	});
});

test("a summary with as_of counts what was known at that time, and counts devices that were silent then as stale", async () => {
	const { organizationId, devices } = await makeFleet(2);
	const [steady, silent] = devices as [TestDevice, TestDevice];
	await fleet.report(steady, { observed_at: on(1), status: "FAIL" });
	for (let day = 10; day <= 30; day++) {
		await fleet.report(steady, { observed_at: on(day) });
	}
	await fleet.report(silent, { observed_at: on(9) });
	await fleet.report(silent, { observed_at: on(10) });

	const at = async (as_of: string) => {
		const { checks, ...rest } = await fleet.call(
			listPostureSummary,
			{ organization_id: organizationId, as_of },
			{ organizationId },
		);
		return [
			rest.active_devices,
			checks[0]?.pass,
			checks[0]?.fail,
			checks[0]?.stale,
		];
	};
	expect(await at("2026-02-01T00:00:00Z")).toEqual([0, 0, 0, 0]);
	expect(await at(on(1))).toEqual([1, 0, 1, 0]);
	expect(await at("2026-03-10T12:30:00Z")).toEqual([2, 2, 0, 0]);
	expect(await at(on(20))).toEqual([2, 1, 0, 1]);
	expect(await at("2026-03-31T12:00:00Z")).toEqual([2, 0, 0, 2]);
});

test("group_by counts by platform or owner which checks fail, now and at a past time", async () => {
	const { organizationId, devices } = await makeFleet(4);
	const [ada, other, ownerless, silent] = devices as [
		TestDevice,
		TestDevice,
		TestDevice,
		TestDevice,
	];
	const { people: person } = await fleet.call(
		recordOperations(people)[2],
		{
			organization_id: organizationId,
			full_name: "Ada Lovelace",
			primary_email_address: "ada@example.com",
			kind: "EMPLOYEE",
		},
		{ organizationId },
	);
	for (const { id } of [ada, other, silent]) {
		const input = { id, owner_id: person.id };
		await fleet.call(updateDevice, input, { organizationId });
	}
	await fleet.report(ada, { observed_at: on(1), status: "PASS" });
	for (const device of [ada, other, silent]) {
		await fleet.report(device, { status: "FAIL" });
	}
	await fleet.report(ada, { check_key: "SCREEN_LOCK", status: "UNKNOWN" });
	await fleet.report(ownerless, {});
	await heard(silent, "1 day");
	const by = (group_by: "owner_id" | "platform", as_of?: string) =>
		fleet.call(
			listPostureSummary,
			{ organization_id: organizationId, group_by, as_of },
			{ organizationId, role: "viewer" },
		);
	const summary = await by("owner_id");
	expect(summary.checks[0]).toMatchObject({ fail: 2, stale: 1 });
	expect(summary.groups).toEqual([
		{
			value: person.id,
			name: "Ada Lovelace",
			active_devices: 3,
			stale_devices: 1,
			failing_devices: 2,
			failing: { DISK_ENCRYPTION: 2 },
			unknown: { SCREEN_LOCK: 1 },
		},
		{
			value: null,
			name: null,
			active_devices: 1,
			stale_devices: 0,
			failing_devices: 0,
			failing: {},
			unknown: {},
		},
	]);
	expect(summary.omitted_groups).toBe(0);
	expect((await by("platform")).groups).toMatchObject([
		{ value: "LINUX", active_devices: 4, failing_devices: 2 },
	]);
	expect((await by("owner_id", on(1))).groups).toMatchObject([
		{ value: person.id, active_devices: 1, failing_devices: 0, failing: {} },
	]);
});

async function makeFleet(size: number) {
	const organizationId = await createOrganization(
		fleet.assay.database.pool,
		"Own",
	);
	const devices = await fleet.assay.activateDevices(size, organizationId);
	return { organizationId, devices };
}

async function heard(device: TestDevice, ago: string): Promise<void> {
	await fleet.assay.database.owner.query(
		"update devices set last_seen_at = now() - $2::interval where id = $1",
		[device.id, ago],
	);
}

test("as_of in the future is rejected", async () => {
	const { organizationId } = await makeFleet(1);
	const summarize = (as_of: string) =>
		fleet.call(
			listPostureSummary,
			{ organization_id: organizationId, as_of },
			{ organizationId, role: "viewer" },
		);
	await expect(
		summarize(new Date(Date.now() + 3_600_000).toISOString()),
	).rejects.toThrow(/as_of: must not be in the future/);
	await summarize(new Date().toISOString());
});

test("the summary counts the active devices by the version of their agent, and not those of the past", async () => {
	const { organizationId, devices } = await makeFleet(4);
	const version = (device: TestDevice | undefined, text: string) =>
		fleet.assay.database.owner.query(
			"update devices set agent_version = $2 where id = $1",
			[device?.id, text],
		);
	await version(devices[0], "1.9.0");
	await version(devices[1], "1.10.0");
	await version(devices[2], "1.10.0");
	await version(devices[3], "1.8.0");
	await fleet.call(
		revokeDevice,
		{ id: devices[3]?.id ?? "" },
		{ organizationId },
	);
	const read = (more: object = {}) =>
		fleet.call(
			listPostureSummary,
			{ organization_id: organizationId, ...more },
			{ organizationId, role: "viewer" },
		);
	expect((await read()).devices_by_agent_version).toEqual([
		{ agent_version: "1.10.0", devices: 2 },
		{ agent_version: "1.9.0", devices: 1 },
	]);
	const past = await read({ as_of: "2026-03-01T12:00:00Z" });
	expect(past.devices_by_agent_version).toBeNull();
});

test("the summary counts outdated agents of Assay by the versions that the service offers", async () => {
	const { organizationId, devices } = await makeFleet(5);
	const agent = (
		device: TestDevice | undefined,
		name: string | null,
		version: string,
	) =>
		fleet.assay.database.owner.query(
			"update devices set agent_name = $2, agent_version = $3, platform = 'LINUX' where id = $1",
			[device?.id, name, version],
		);
	await agent(devices[0], null, "1.9.0");
	await agent(devices[1], "assay-agent", "1.10.0");
	await agent(devices[2], "probo-agent", "0.1.0");
	await agent(devices[3], "assay-agent", "a build of today");
	await agent(devices[4], "assay-agent", "1.8.0");
	await fleet.call(
		revokeDevice,
		{ id: devices[4]?.id ?? "" },
		{ organizationId },
	);
	const read = async (newest: object, more: object = {}) => {
		const summary = await fleet.call(
			listPostureSummary,
			{ organization_id: organizationId, ...more },
			{
				organizationId,
				services: { ...fleet.services, newestAgents: () => newest },
			},
		);
		return summary.outdated_agents;
	};
	expect(await read({ LINUX: "1.10.0" })).toEqual({
		devices: 1,
		agent_older_than: "LINUX 1.10.0",
	});
	expect(await read({ WINDOWS: "1.10.0" })).toMatchObject({ devices: 0 });
	expect(await read({})).toBeNull();
	const past = { as_of: "2026-03-01T12:00:00Z" };
	expect(await read({ LINUX: "1.10.0" }, past)).toBeNull();
});

test("the summary counts the owners that nobody has confirmed, and not those of revoked devices", async () => {
	const { organizationId, devices } = await makeFleet(3);
	const { people: person } = await fleet.call(
		recordOperations(people)[2],
		{
			organization_id: organizationId,
			full_name: "Ada Berg",
			primary_email_address: "berg@example.com",
			kind: "EMPLOYEE",
		},
		{ organizationId },
	);
	await fleet.assay.database.owner.query(
		"update devices set claimed_owner_id = $2 where id = any($1)",
		[devices.slice(0, 2).map(({ id }) => id), person.id],
	);
	await fleet.call(
		revokeDevice,
		{ id: devices[0]?.id ?? "" },
		{ organizationId },
	);
	const read = (more: object = {}) =>
		fleet.call(
			listPostureSummary,
			{ organization_id: organizationId, ...more },
			{ organizationId, role: "viewer" },
		);
	expect((await read()).owners_to_confirm).toBe(1);
	const past = await read({ as_of: "2026-03-01T12:00:00Z" });
	expect(past.owners_to_confirm).toBeNull();
});

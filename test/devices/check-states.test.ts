import { afterAll, beforeAll, expect, test } from "vitest";
import { exportList } from "../../src/csv/export.ts";
import {
	getDevicePolicy,
	updateDevicePolicy,
} from "../../src/devices/policy-operations.ts";
import { listPostureSummary } from "../../src/devices/posture-summary.ts";
import { getDevice, listDevices } from "../../src/devices/read-operations.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { updateDevice } from "../../src/devices/write-operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { countRecords } from "../../src/overview/count-records.ts";
import { principalOf, startFleet, type TestFleet } from "../support/devices.ts";
import type { TestDevice } from "../support/service.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await startFleet();
});
afterAll(() => fleet.assay.close());

const KEY = "DISK_ENCRYPTION";
const OTHERS = CHECK_KEYS.filter((key) => key !== KEY);
const DAY = 86_400_000;
const daysAgo = (days: number) =>
	new Date(Date.now() - days * DAY).toISOString();

/** Makes an organization with a device that was activated 100 days ago for each of the names. */
async function makeFleet(names: readonly string[]) {
	const organization_id = await createOrganization(
		fleet.assay.database.pool,
		"States",
	);
	const options = { organizationId: organization_id };
	const made = await fleet.assay.activateDevices(names.length, organization_id);
	const devices: Record<string, TestDevice> = {};
	for (const [index, name] of names.entries()) {
		const device = made[index] as TestDevice;
		devices[name] = device;
		await fleet.call(updateDevice, { id: device.id, name }, options);
	}
	await fleet.assay.database.owner.query(
		"update devices set activated_at = now() - interval '100 days' where organization_id = $1",
		[organization_id],
	);
	const deviceOf = (name: string) => devices[name] as TestDevice;
	return {
		organization_id,
		/** Reports that the device passes all other canonical checks, by default now. */
		passOthers: (name: string, days = 0) =>
			fleet.report(
				deviceOf(name),
				...OTHERS.map((check_key) => ({
					check_key,
					status: "PASS",
					observed_at: daysAgo(days),
				})),
			),
		report: (
			name: string,
			status: string,
			days: number,
			check_key: string = KEY,
		) =>
			fleet.report(deviceOf(name), {
				check_key,
				status,
				observed_at: daysAgo(days),
			}),
		read: async (name: string) =>
			(await fleet.call(getDevice, { id: deviceOf(name).id }, options)).device,
		/** Returns the names of the devices that match. */
		find: async (filter: object, more: object = {}) =>
			(
				await fleet.call(
					listDevices,
					{ organization_id, order_by: { field: "name" }, filter, ...more },
					options,
				)
			).devices.map(({ name }) => name),
		summary: (more: object = {}) =>
			fleet.call(listPostureSummary, { organization_id, ...more }, options),
		count: async (input: object) =>
			(
				await fleet.call(
					countRecords,
					{ organization_id, kind: "device", ...input },
					options,
				)
			).groups.map(({ value, count }) => [value, count]),
		policy: async () =>
			(await fleet.call(getDevicePolicy, { organization_id }, options)).policy,
		change: (input: object) =>
			fleet.call(updateDevicePolicy, { organization_id, ...input }, options),
	};
}

type Fleet = Awaited<ReturnType<typeof makeFleet>>;

const stateOf = async (of: Fleet, name: string, key = KEY) => {
	const device = await of.read(name);
	return device.missing_checks.includes(key)
		? "NOT_REPORTED"
		: device.postures.find(({ check_key }) => check_key === key)?.check_state;
};

const NAMES = [
	"applicable",
	"failing",
	"grace",
	"missing",
	"passing",
	"stale",
	"unknown",
] as const;

/** Makes a device in each of the states of the check. */
async function makeStates() {
	const of = await makeFleet(NAMES);
	for (const name of NAMES) await of.passOthers(name);
	await of.report("passing", "PASS", 0);
	await of.report("applicable", "NOT_APPLICABLE", 0);
	await of.report("unknown", "UNKNOWN", 0);
	await of.report("stale", "PASS", 4);
	await of.report("grace", "FAIL", 2);
	await of.report("failing", "FAIL", 5);
	await of.report("failing", "FAIL", 0);
	return of;
}

test("a device has one state for each required check, and the worst decides about the device", async () => {
	const of = await makeStates();
	const found = Object.fromEntries(
		await Promise.all(
			NAMES.map(async (name) => [
				name,
				[await stateOf(of, name), (await of.read(name)).compliance],
			]),
		),
	);
	expect(found).toEqual({
		applicable: ["NOT_APPLICABLE", "COMPLIANT"],
		failing: ["FAILING", "NONCOMPLIANT"],
		grace: ["IN_GRACE", "IN_GRACE"],
		missing: ["NOT_REPORTED", "UNKNOWN"],
		passing: ["PASSING", "COMPLIANT"],
		stale: ["STALE", "UNKNOWN"],
		unknown: ["UNKNOWN", "UNKNOWN"],
	});
	const grace = await of.read("grace");
	const [posture] = grace.postures.filter(({ check_key }) => check_key === KEY);
	expect(Date.parse(posture?.in_grace_until ?? "")).toBe(
		Date.parse(posture?.since ?? "") + 3 * DAY,
	);
});

test("lists, counts and CSV files agree about states", async () => {
	const of = await makeStates();
	const state = (check_state: string) => of.find({ check: KEY, check_state });
	expect(await state("FAILING")).toEqual(["failing"]);
	expect(await state("IN_GRACE")).toEqual(["grace"]);
	expect(await state("UNKNOWN")).toEqual(["unknown"]);
	expect(await state("STALE")).toEqual(["stale"]);
	expect(await state("NOT_REPORTED")).toEqual(["missing"]);
	expect(await state("PASSING")).toEqual(["passing"]);
	expect(await state("NOT_APPLICABLE")).toEqual(["applicable"]);
	expect(await of.find({ check_state: "FAILING" })).toEqual(["failing"]);
	expect(await of.find({ check_state: "PASSING" })).toEqual([...NAMES]);
	expect(await of.find({ compliance: "NONCOMPLIANT" })).toEqual(["failing"]);
	expect(await of.find({ compliance: ["COMPLIANT", "IN_GRACE"] })).toEqual([
		"applicable",
		"grace",
		"passing",
	]);
	expect(await of.find({ compliance: "UNKNOWN" })).toEqual([
		"missing",
		"stale",
		"unknown",
	]);
	const summary = await of.summary();
	expect(summary.devices_by_compliance).toEqual({
		NONCOMPLIANT: 1,
		UNKNOWN: 3,
		IN_GRACE: 1,
		COMPLIANT: 2,
	});
	const [disk, screen] = summary.checks;
	expect(disk?.states).toEqual({
		FAILING: 1,
		UNKNOWN: 1,
		STALE: 1,
		NOT_REPORTED: 1,
		IN_GRACE: 1,
		EXCEPTED: 0,
		PASSING: 1,
		NOT_APPLICABLE: 1,
	});
	expect(screen?.states).toMatchObject({ PASSING: 7, NOT_APPLICABLE: 0 });
	// The raw statuses are what agents said.
	expect(disk).toMatchObject({ pass: 2, fail: 2, unknown: 1 });

	const { chunks } = await exportList(
		fleet.services,
		principalOf("admin", of.organization_id),
		listDevices,
		{ organization_id: of.organization_id, order_by: { field: "name" } },
	);
	let text = "";
	for await (const chunk of chunks) text += chunk;
	const [heading = "", ...lines] = text.trim().split(/\r?\n/);
	const column = (name: string) => heading.split(",").indexOf(name);
	const cells = lines.map((line) => line.split(",")[column(`${KEY}_state`)]);
	expect(cells).toEqual([
		"NOT_APPLICABLE",
		"FAILING",
		"IN_GRACE",
		"NOT_REPORTED",
		"PASSING",
		"STALE",
		"UNKNOWN",
	]);
	expect(column("compliance")).toBeGreaterThan(0);
});

test("a new device has its own days of grace", async () => {
	const of = await makeFleet(["new"]);
	await of.report("new", "FAIL", 5);
	await of.report("new", "FAIL", 0);
	expect(await stateOf(of, "new")).toBe("FAILING");
	await fleet.assay.database.owner.query(
		"update devices set activated_at = now() - interval '6 days' where organization_id = $1",
		[of.organization_id],
	);
	expect(await stateOf(of, "new")).toBe("IN_GRACE");
	await of.change({ checks: [{ check_key: KEY, new_device_grace_days: 5 }] });
	expect(await stateOf(of, "new")).toBe("FAILING");
});

test("a silence that is longer than the organization permits makes every check stale", async () => {
	const of = await makeFleet(["silent"]);
	for (const key of CHECK_KEYS) await of.report("silent", "PASS", 5, key);
	expect(await of.read("silent")).toMatchObject({ compliance: "UNKNOWN" });
	expect((await of.summary()).checks[8]?.states).toMatchObject({ STALE: 1 });
	await of.change({ max_silence_days: 6 });
	expect(await of.read("silent")).toMatchObject({ compliance: "COMPLIANT" });
});

test("in a gap of one check, the status before it is believed as long as after a last report", async () => {
	const of = await makeFleet(["gap"]);
	for (let days = 40; days >= 0; days--) await of.passOthers("gap", days);
	// Between these two observations, the device reports without this check.
	await of.report("gap", "PASS", 30);
	await of.report("gap", "FAIL", 20);
	await of.report("gap", "PASS", 10);
	const at = async (days: number) => ({
		compliance: await of.count({
			group_by: "compliance",
			as_of: daysAgo(days),
		}),
		states: (await of.summary({ as_of: daysAgo(days) })).checks.find(
			({ check_key }) => check_key === KEY,
		)?.states,
	});
	expect(await at(28)).toMatchObject({
		compliance: [["COMPLIANT", 1]],
		states: { PASSING: 1 },
	});
	expect(await at(25)).toMatchObject({
		compliance: [["UNKNOWN", 1]],
		states: { STALE: 1 },
	});
	expect(await at(18)).toMatchObject({
		compliance: [["IN_GRACE", 1]],
		states: { IN_GRACE: 1 },
	});
	expect(
		await of.find({ compliance: "COMPLIANT" }, { as_of: daysAgo(28) }),
	).toEqual(["gap"]);
	expect(
		await of.find({ compliance: "COMPLIANT" }, { as_of: daysAgo(25) }),
	).toEqual([]);
});

test("a check of an agent's own counts only after an administrator requires it", async () => {
	const of = await makeFleet(["own"]);
	await of.passOthers("own");
	await of.report("own", "PASS", 0);
	await of.report("own", "FAIL", 50, "VPN");
	await of.report("own", "FAIL", 0, "VPN");
	expect(await stateOf(of, "own", "VPN")).toBe("NOT_APPLICABLE");
	expect(
		await of.find({ check: "VPN", check_state: "NOT_APPLICABLE" }),
	).toEqual(["own"]);
	expect((await of.read("own")).compliance).toBe("COMPLIANT");
	await of.change({ checks: [{ check_key: "vpn", is_required: true }] });
	expect(await stateOf(of, "own", "VPN")).toBe("FAILING");
	expect((await of.read("own")).compliance).toBe("NONCOMPLIANT");
	const platform = (await of.read("own")).platform;
	const elsewhere = ["DARWIN", "WINDOWS"].filter((one) => one !== platform);
	await of.change({ checks: [{ check_key: "VPN", platforms: elsewhere }] });
	expect(await stateOf(of, "own", "VPN")).toBe("NOT_APPLICABLE");
	await expect(
		of.change({ checks: [{ check_key: "VPM", is_required: true }] }),
	).rejects.toMatchObject({ code: "bad_request" });
});

test("nothing is proved of a device if no check is required", async () => {
	const of = await makeFleet(["unproved"]);
	await of.passOthers("unproved");
	await of.change({
		checks: CHECK_KEYS.map((check_key) => ({ check_key, is_required: false })),
	});
	expect((await of.read("unproved")).compliance).toBe("UNKNOWN");
	expect(await of.find({ compliance: "UNKNOWN" })).toEqual(["unproved"]);
	expect(await of.find({ compliance: "COMPLIANT" })).toEqual([]);
	expect((await of.summary()).devices_by_compliance).toMatchObject({
		UNKNOWN: 1,
		COMPLIANT: 0,
	});
});

test("a state in the past follows the statuses and the policy of that time", async () => {
	const of = await makeFleet(["past"]);
	await of.report("past", "PASS", 30);
	await of.report("past", "FAIL", 20);
	for (const days of [19, 16, 13, 10, 7, 4, 2, 0]) {
		await of.report("past", "FAIL", days);
	}
	// The rule was in force from 40 to 10 days ago.
	await fleet.assay.database.owner.query(
		`insert into device_check_rules (
			organization_id, check_key, valid_from, valid_until, is_required, platforms,
			grace_days, new_device_grace_days
		) values (
			$1, $2, now() - interval '40 days', now() - interval '10 days', true,
			'{DARWIN,LINUX,FREEBSD,WINDOWS}', 8, 0
		)`,
		[of.organization_id, KEY],
	);
	const stateAt = async (days: number) => {
		const { checks } = await of.summary({ as_of: daysAgo(days) });
		const found = Object.entries(checks[0]?.states ?? {}).filter(
			([, devices]) => devices > 0,
		);
		const [[state] = []] = found;
		expect(
			await of.find(
				{ check: KEY, check_state: state },
				{ as_of: daysAgo(days) },
			),
		).toEqual(["past"]);
		return state;
	};
	expect(await stateAt(29)).toBe("PASSING");
	expect(await stateAt(25)).toBe("STALE");
	expect(await stateAt(15)).toBe("IN_GRACE");
	expect(await stateAt(11)).toBe("FAILING");
	expect(await stateAt(5)).toBe("FAILING");
	expect(
		await of.find({ compliance: "NONCOMPLIANT" }, { as_of: daysAgo(11) }),
	).toEqual(["past"]);
});

test("a dry run tells what would change and stores nothing", async () => {
	const of = await makeStates();
	const before = await of.policy();
	const { effects, policy } = await of.change({
		dry_run: true,
		checks: [{ check_key: KEY, grace_days: 0 }],
	});
	expect(policy.checks[0]).toMatchObject({ grace_days: 0 });
	expect(effects?.compliance).toEqual({
		before: { NONCOMPLIANT: 1, UNKNOWN: 3, IN_GRACE: 1, COMPLIANT: 2 },
		after: { NONCOMPLIANT: 2, UNKNOWN: 3, IN_GRACE: 0, COMPLIANT: 2 },
	});
	expect(effects?.checks).toMatchObject([
		{
			check_key: KEY,
			before: { FAILING: 1, IN_GRACE: 1 },
			after: { FAILING: 2, IN_GRACE: 0 },
		},
	]);
	expect(await of.policy()).toEqual(before);
	const { rows } = await fleet.assay.database.owner.query(
		"select from audit_entries where organization_id = $1 and operation = 'updateDevicePolicy'",
		[of.organization_id],
	);
	expect(rows).toEqual([]);
});

test("null gives a field of a rule its default again, and the audit log has the values", async () => {
	const of = await makeFleet(["one"]);
	const { policy } = await of.change({
		checks: [{ check_key: "Screen or idle lock", grace_days: 9 }],
	});
	expect(policy.checks[1]).toMatchObject({
		check_key: "SCREEN_LOCK",
		grace_days: 9,
		new_device_grace_days: 7,
	});
	await expect(
		of.change({
			if_updated_at: daysAgo(1),
			checks: [{ check_key: KEY, grace_days: 1 }],
		}),
	).rejects.toMatchObject({ code: "conflict" });
	await of.change({
		if_updated_at: policy.updated_at,
		checks: [{ check_key: "SCREEN_LOCK", grace_days: null }],
	});
	const { rows } = await fleet.assay.database.owner.query(
		`select changes from audit_entries
		where organization_id = $1 and operation = 'updateDevicePolicy' order by id`,
		[of.organization_id],
	);
	expect(rows.map(({ changes }) => changes)).toEqual([
		{ "SCREEN_LOCK.grace_days": { before: 3, after: 9 } },
		{ "SCREEN_LOCK.grace_days": { before: 9, after: 3 } },
	]);
});

test("a brief row has the state of a check only if the status does not imply it", async () => {
	const of = await makeFleet(["failing", "grace"]);
	await of.report("failing", "FAIL", 10);
	await of.report("failing", "FAIL", 0);
	await of.report("grace", "FAIL", 0);
	const { devices } = await fleet.call(
		listDevices,
		{
			organization_id: of.organization_id,
			order_by: { field: "name" },
			detail: "brief",
		},
		{ organizationId: of.organization_id },
	);
	const [failing, grace] = devices.map(({ postures }) => postures[0]);
	expect(failing).toEqual({
		check_key: KEY,
		status: "FAIL",
		since: expect.any(String),
	});
	expect(grace).toMatchObject({ status: "FAIL", check_state: "IN_GRACE" });
});

test("the counts and the filters agree with the states of each device, now and in the past", async () => {
	const names = Array.from({ length: 24 }, (_, n) => `device ${10 + n}`);
	const of = await makeFleet(names);
	const { organization_id } = of;
	const options = { organizationId: organization_id };
	// The numbers repeat, so a failure can be repeated too.
	let seed = 7;
	const below = (limit: number) => {
		seed = (seed * 48_271) % 2_147_483_647;
		return seed % limit;
	};
	const keys = [...CHECK_KEYS.slice(0, 4), "com.example FAIL FAILING key"];
	for (const name of names) {
		for (const key of keys.slice(below(3))) {
			const [newest = 0, older = 0] = [below(6), 6 + below(20)];
			const status = () =>
				["PASS", "PASS", "FAIL", "FAIL", "UNKNOWN", "NOT_APPLICABLE"][
					below(6)
				] as string;
			await of.report(name, status(), older, key);
			await of.report(name, status(), newest, key);
		}
	}
	await fleet.assay.database.owner.query(
		`update devices set
			activated_at = now() - (hashtext(id) & 15) * interval '1 day',
			platform = (array['DARWIN', 'LINUX', 'WINDOWS'])[1 + (hashtext(id) & 255) % 3]
		where organization_id = $1`,
		[organization_id],
	);
	await fleet.call(
		updateDevicePolicy,
		{
			organization_id,
			max_silence_days: 5,
			checks: [
				...CHECK_KEYS.slice(3).map((check_key) => ({
					check_key,
					is_required: false,
				})),
				{ check_key: CHECK_KEYS[1] as string, platforms: ["LINUX"] },
				{ check_key: CHECK_KEYS[2] as string, grace_days: 10 },
				{ check_key: keys[4] as string, is_required: true, grace_days: 0 },
			],
		},
		options,
	);
	await fleet.assay.database.owner.query(
		`insert into device_exceptions (
			organization_id, id, check_key, scope, device_id, platform, reason, starts_at, ends_at,
			decision, decided_at
		)
		select $1, d.id, $2, 'DEVICE', d.id, null, 'Old', now() - interval '3 days', now() + interval '1 day',
			'APPROVED', now() - interval '3 days'
		from devices d where d.organization_id = $1 and hashtext(d.id) % 3 = 0
		union all
		select $1, $3, $4, 'PLATFORM', null, 'LINUX', 'Old', now() - interval '9 days',
			now() + interval '1 day', 'APPROVED', now() - interval '9 days'`,
		[organization_id, keys[0], organization_id, keys[2]],
	);
	// The silences of a device do not overlap.
	await fleet.assay.database.owner.query(
		"delete from device_silences where organization_id = $1",
		[organization_id],
	);
	await fleet.assay.database.owner.query(
		`insert into device_silences (organization_id, device_id, since, until)
		select d.organization_id, d.id, now() - interval '10 days', now() - interval '2 days'
		from devices d where d.organization_id = $1 and hashtext(d.id) % 4 = 0`,
		[organization_id],
	);
	for (const when of [{}, { as_of: daysAgo(0) }, { as_of: daysAgo(4) }]) {
		const { devices } = await fleet.call(
			listDevices,
			{ organization_id, size: 100, detail: "full", ...when },
			options,
		);
		const summary = await of.summary(when);
		const active = devices.filter(({ compliance }) => compliance !== null);
		expect(summary.active_devices).toBe(active.length);
		const byCompliance = await of.count({ group_by: "compliance", ...when });
		for (const [compliance, count] of Object.entries(
			summary.devices_by_compliance,
		)) {
			const expected = active
				.filter((device) => device.compliance === compliance)
				.map(({ name }) => name);
			expect(count).toBe(expected.length);
			if (count === 0) continue;
			expect(byCompliance).toContainEqual([compliance, count]);
			expect(await of.find({ compliance }, { size: 100, ...when })).toEqual(
				expected.sort(),
			);
		}
		for (const { check_key, states } of summary.checks) {
			const byState = await of.count({
				group_by: "check_state",
				filter: { check: check_key },
				...when,
			});
			for (const [state, count] of Object.entries(states)) {
				const expected = active
					.filter(({ postures, missing_checks }) =>
						missing_checks.includes(check_key)
							? state === "NOT_REPORTED"
							: (postures.find((posture) => posture.check_key === check_key)
									?.check_state ?? "NOT_APPLICABLE") === state,
					)
					.map(({ name }) => name);
				expect([check_key, state, count]).toEqual([
					check_key,
					state,
					expected.length,
				]);
				if (count === 0) continue;
				expect(byState).toContainEqual([state, count]);
				expect(
					await of.find(
						{ check_state: state, check: check_key },
						{ size: 100, ...when },
					),
				).toEqual(expected.sort());
			}
		}
	}
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { countInSlices } from "../../src/devices/count-in-slices.ts";
import { countFleet } from "../../src/devices/count-states.ts";
import { updateDevicePolicy } from "../../src/devices/policy-operations.ts";
import { listDevices } from "../../src/devices/read-operations.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { countRecords } from "../../src/overview/count-records.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import { daysAgo, makeStatesFleet } from "./states-fleet.ts";

/** States that a caller may ask for together: found by their spans, or by all devices. */
const SEVERAL_STATES = [
	["FAILING", "IN_GRACE"],
	["IN_GRACE", "EXCEPTED", "UNKNOWN"],
	["FAILING", "STALE"],
	["NOT_REPORTED", "PASSING"],
	["NOT_APPLICABLE", "NOT_REPORTED", "FAILING"],
];

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await shareFleet();
});
afterAll(() => fleet.assay.close());

/** Counts the fleet at once and in slices, and expects the same numbers. */
async function expectSameInSlices(id: string, asOf?: string): Promise<void> {
	const { pool } = fleet.assay.database;
	const whole = await withTenant(pool, id, (client) =>
		countFleet(client, id, asOf),
	);
	let rests = 0;
	const rest = async () => {
		rests++;
	};
	const slicing = { devices: 7, rest };
	const sliced = await countInSlices(pool, id, slicing, asOf);
	// 24 devices are 3 slices of 7, and the rest.
	expect(rests).toBe(3);
	expect(sliced.compliance).toEqual(whole.compliance);
	expect(sliced.requiredChecks).toEqual(whole.requiredChecks);
	for (const key of whole.requiredChecks) {
		expect([key, sliced.ofCheck(key)]).toEqual([key, whole.ofCheck(key)]);
	}
}

test("the counts and the filters agree with the states of each device, now and in the past", async () => {
	const names = Array.from({ length: 24 }, (_, n) => `device ${10 + n}`);
	const of = await makeStatesFleet(fleet, names);
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
	/** Expects that a filter by several states finds as many devices as their counts have. */
	const expectSumsOfStates = async (
		check: string,
		states: Record<string, number>,
		when: { as_of?: string },
	) => {
		for (const several of SEVERAL_STATES) {
			const filter = { check, check_state: several };
			const sum = several.reduce((sum, state) => sum + (states[state] ?? 0), 0);
			const { total } = await fleet.call(
				countRecords,
				{ organization_id, kind: "device", filter, ...when },
				options,
			);
			expect([check, several, total]).toEqual([check, several, sum]);
			if (sum === 0) continue;
			const found = await of.find(filter, { size: 100, ...when });
			expect(found.length).toBe(sum);
		}
	};
	for (const when of [{}, { as_of: daysAgo(0) }, { as_of: daysAgo(4) }]) {
		const { devices } = await fleet.call(
			listDevices,
			{ organization_id, size: 100, detail: "full", ...when },
			options,
		);
		const summary = await of.summary(when);
		await expectSameInSlices(organization_id, when.as_of);
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
			await expectSumsOfStates(check_key, states, when);
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

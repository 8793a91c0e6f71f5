import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
	assignGroupPolicies,
	keepGroupPolicies,
	PASS_START,
} from "../../src/devices/group-policies/assign.ts";
import { makePolicyPasses } from "../../src/devices/upkeep.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { makeGoverned, rule } from "./governed-devices.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await startFleet();
});
afterAll(() => fleet.assay.close());

const DEVICES = 60;

/** Adds devices without an owner, and a policy for devices without one. They do not have it yet. */
async function makeWaiting() {
	const of = await makeGoverned(fleet, "first");
	const { organization_id } = of;
	const group = await of.addGroup("Unowned", { owner_id: null });
	await of.set(group, rule({ grace_days: 30 }));
	const owner = (sql: string, ...values: unknown[]) =>
		fleet.assay.database.owner.query(sql, [organization_id, ...values]);
	await fleet.seed(
		Array.from({ length: DEVICES - 1 }, (_, index) => `device-${index}`),
		organization_id,
	);
	return {
		...of,
		group,
		/** The number of devices with a policy, and of spans that say so. */
		governed: async () => {
			const { rows } = await owner(
				`select
					(select count(*)::int from devices
						where organization_id = $1 and group_policy_id is not null) as devices,
					(select count(*)::int from device_group_policy_spans
						where organization_id = $1 and until is null) as spans`,
			);
			return rows[0];
		},
		/** Removes all policies, and leaves the devices as a call does that reached its limit. */
		removePolicies: () =>
			owner(
				`update device_group_policies set priority = null where organization_id = $1`,
			),
	};
}

/** Runs the passes to their end. Returns the log, and the most devices changed in a transaction. */
async function passAll(id: string, size: number) {
	const { lines, logger } = new ReadableLog();
	const { passes, assign } = makePolicyPasses(
		fleet.assay.database.pool,
		logger,
		{ ...PASS_START, size },
	);
	do await assign(id);
	while (passes.has(id));
	const { rows } = await fleet.assay.database.owner.query<{ devices: number }>(
		`select count(*)::int as devices from devices
		where organization_id = $1 group by xmin order by 1 desc limit 1`,
		[id],
	);
	return { lines, most: rows[0]?.devices };
}

test("a call stops after many changed devices and says that others follow; the upkeep does these", async () => {
	const of = await makeWaiting();
	expect(await of.governed()).toEqual({ devices: 1, spans: 1 });
	const assign = (limits: { size: number; max: number }) =>
		of.inTenant((client) =>
			assignGroupPolicies(client, of.organization_id, limits),
		);
	expect(await assign({ size: 5, max: 8 })).toBe(true);
	const { devices, spans } = await of.governed();
	// It looks at five at a time, and one device had the policy before.
	expect(devices).toBeGreaterThanOrEqual(9);
	expect(devices).toBeLessThanOrEqual(13);
	expect(spans).toBe(devices);
	await passAll(of.organization_id, 5);
	expect(await of.governed()).toEqual({ devices: DEVICES, spans: DEVICES });
	expect(await assign({ size: 5, max: 8 })).toBe(false);
	expect(await of.set(of.group, rule({ grace_days: 5 }))).toMatchObject({
		rest_follows: false,
	});
});

test("each step of the upkeep is a transaction that changes at most as many devices as it looks at", async () => {
	const of = await makeWaiting();
	// In one transaction, they would all be inserted or changed together.
	const { lines, most } = await passAll(of.organization_id, 4);
	expect(await of.governed()).toEqual({ devices: DEVICES, spans: DEVICES });
	expect(most).toBeLessThanOrEqual(4);
	expect(lines).toEqual([]);
});

test("a step that changed devices asks for the next one without a pause, and others do not", async () => {
	const of = await makeWaiting();
	const { organization_id } = of;
	const firstStep = () =>
		of.inTenant((client) =>
			keepGroupPolicies(client, organization_id, { ...PASS_START, size: 10 }),
		);
	expect(await firstStep()).toMatchObject({ isMore: true });
	expect(await firstStep()).toMatchObject({ isMore: false });
});

test("removing the last policy takes it from its devices at once", async () => {
	const of = await makeWaiting();
	await passAll(of.organization_id, 100);
	expect(await of.governed()).toEqual({ devices: DEVICES, spans: DEVICES });
	await of.remove(of.group);
	expect(await of.governed()).toEqual({ devices: 0, spans: 0 });
});

test("after the last policy is removed, the upkeep takes it from the devices that still have it", async () => {
	const of = await makeWaiting();
	await passAll(of.organization_id, 100);
	await of.removePolicies();
	await passAll(of.organization_id, 4);
	expect(await of.governed()).toEqual({ devices: 0, spans: 0 });
});

test("after a statement is canceled, the upkeep assigns policies in smaller steps", async () => {
	const of = await makeWaiting();
	const { owner } = fleet.assay.database;
	await owner.query(`
		create function cancel() returns trigger language plpgsql as $$
		begin
			if (select count(*) from added) > 50 then
				raise exception 'canceling statement due to statement timeout' using errcode = '57014';
			end if;
			return null;
		end $$;
		create trigger cancel after insert on device_group_policy_spans
			referencing new table as added for each statement execute function cancel()`);
	onTestFinished(async () => {
		await owner.query("drop function cancel cascade");
	});
	const { lines } = await passAll(of.organization_id, 240);
	expect(await of.governed()).toEqual({ devices: DEVICES, spans: DEVICES });
	expect(lines).toEqual([
		expect.objectContaining({ level: 40, organization: of.organization_id }),
	]);
});

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
import type { TestFleet } from "../support/devices.ts";
import type { TestDevice } from "../support/service.ts";

export const KEY = "DISK_ENCRYPTION";
const OTHERS = CHECK_KEYS.filter((key) => key !== KEY);
export const DAY = 86_400_000;
export const daysAgo = (days: number) =>
	new Date(Date.now() - days * DAY).toISOString();

/** Makes an organization with a device that was activated 100 days ago for each of the names. */
export async function makeStatesFleet(
	fleet: TestFleet,
	names: readonly string[],
) {
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
		idOf: (name: string) => deviceOf(name).id,
		policy: async () =>
			(await fleet.call(getDevicePolicy, { organization_id }, options)).policy,
		change: (input: object) =>
			fleet.call(updateDevicePolicy, { organization_id, ...input }, options),
	};
}

export type StatesFleet = Awaited<ReturnType<typeof makeStatesFleet>>;

export const stateOf = async (of: StatesFleet, name: string, key = KEY) => {
	const device = await of.read(name);
	return device.missing_checks.includes(key)
		? "NOT_REPORTED"
		: device.postures.find(({ check_key }) => check_key === key)?.check_state;
};

export const NAMES = [
	"applicable",
	"failing",
	"grace",
	"missing",
	"passing",
	"stale",
	"unknown",
] as const;

/** Makes a device in each of the states of the check. */
export async function makeStates(fleet: TestFleet) {
	const of = await makeStatesFleet(fleet, NAMES);
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

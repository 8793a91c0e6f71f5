import { withTenant } from "../../src/db/pool.ts";
import { addDeviceGroup } from "../../src/devices/group-operations.ts";
import { keepGroupPolicies } from "../../src/devices/group-policies/assign.ts";
import {
	deleteDeviceGroupPolicy,
	listDeviceGroupPolicies,
	setDeviceGroupPolicy,
} from "../../src/devices/group-policies/operations.ts";
import type { TestFleet } from "../support/devices.ts";
import { KEY, makeStatesFleet } from "./states-fleet.ts";

/** Makes devices of one organization that pass everything, and calls about their groups. */
export async function makeGoverned(fleet: TestFleet, ...names: string[]) {
	const of = await makeStatesFleet(fleet, names);
	for (const name of names) await of.passOthers(name);
	const { organization_id } = of;
	const options = { organizationId: organization_id };
	const inTenant = <Result>(
		work: Parameters<typeof withTenant<Result>>[2],
	): Promise<Result> =>
		withTenant(fleet.assay.database.pool, organization_id, work);
	return {
		...of,
		options,
		addGroup: async (name: string, devices: string[] | object) =>
			(
				await fleet.call(
					addDeviceGroup,
					{
						organization_id,
						name,
						...(Array.isArray(devices)
							? { device_ids: devices.map(of.idOf) }
							: { filter: devices as Record<string, unknown> }),
					},
					options,
				)
			).device_group.id,
		set: (group_id: string, input: object) =>
			fleet.call(setDeviceGroupPolicy, { group_id, ...input }, options),
		remove: (group_id: string) =>
			fleet.call(deleteDeviceGroupPolicy, { group_id }, options),
		list: async () =>
			(
				await fleet.call(listDeviceGroupPolicies, { organization_id }, options)
			).group_policies.map(({ group_name, priority, device_count }) => [
				group_name,
				priority,
				device_count,
			]),
		/** Returns the group whose policy applies to the device. */
		governedBy: async (name: string) =>
			(await of.read(name)).group_policies?.find(({ applies }) => applies)
				?.group_name,
		/** Does the work that the service repeats each minute. */
		keep: () =>
			inTenant((client) => keepGroupPolicies(client, organization_id)),
		inTenant,
	};
}

/** Returns a policy with one rule, which is about KEY. */
export const rule = (given: object) => ({
	checks: [{ check_key: KEY, ...given }],
});

import { expect } from "vitest";
import { postureResult } from "../support/service.ts";
import type { Json, TestTools } from "../support/tools.ts";
import { keepDevicesNow } from "../support/upkeep.ts";

const DAY = 86_400_000;
export const inDays = (days: number) =>
	new Date(Date.now() + days * DAY).toISOString();
export const check = "FIREWALL_ENABLED";

/** Returns functions with which a test makes exceptions and devices that need them. */
export function exceptionCalls(assay: () => TestTools) {
	/** Reports the status, observed so many days ago, or on several days. */
	const report = async (key: string, status: string, ...days: number[]) => {
		const observed = days.length > 0 ? days : [0];
		const answer = await assay().post(
			"postures",
			{
				results: observed.map((days) =>
					postureResult({
						check_key: check,
						status,
						observed_at: inDays(-days),
					}),
				),
			},
			{ key },
		);
		expect(answer.status).toBe(204);
	};

	/** Activates a device that has failed the check for ten days and still does. */
	const failingDevice = async () => {
		const device = await assay().activateDevice();
		await assay().database.owner.query(
			"update devices set activated_at = now() - interval '100 days' where id = $1",
			[device.id],
		);
		await report(device.key, "FAIL", 10, 8, 6, 4, 2, 1, 0);
		return device;
	};

	const request = async (fields: Json = {}): Promise<Json> =>
		(
			await assay().use("addDeviceException", {
				organization_id: assay().organizationId,
				check,
				reason: "A router filters the network",
				ends_at: inDays(30),
				...fields,
			})
		).device_exception;

	const approve = async (id: string, more: Json = {}): Promise<Json> =>
		(await assay().use("approveDeviceException", { id, ...more }))
			.device_exception;

	const stateOf = async (id: string, more: Json = {}): Promise<Json> => {
		const { devices } = await assay().use("listDevices", {
			organization_id: assay().organizationId,
			size: 100,
			...more,
		});
		return devices
			.find((device: Json) => device.id === id)
			.postures.find(({ check_key }: Json) => check_key === check);
	};

	const refused = async (tool: string, input: Json): Promise<string> => {
		const answer = await assay().call(tool, input);
		expect(answer.status).toBeGreaterThanOrEqual(400);
		return JSON.stringify(answer.body);
	};

	const eventsOf = async (id: string): Promise<string[]> =>
		(
			await assay().database.owner.query(
				"select type from events where record_id = $1 order by id",
				[id],
			)
		).rows.map(({ type }) => type);

	const keep = () =>
		keepDevicesNow(assay().database.pool, assay().organizationId);

	return {
		report,
		failingDevice,
		request,
		approve,
		stateOf,
		refused,
		eventsOf,
		keep,
	};
}

import {
	heartbeatBody,
	postureResult,
	type TestService,
} from "../../support/service.ts";
import type { Use, Walk } from "./callers.ts";

/** Uses devices, groups of devices and exceptions. */
export async function useDevices({
	running,
	organization_id,
	admin,
	references,
}: Walk): Promise<void> {
	const { use } = admin;
	const device = await running.activateDevice();
	await running.post(
		"heartbeat",
		heartbeatBody({ hardware_uuid: device.hardwareUuid }),
		{ key: device.key },
	);
	for (const status of ["PASS", "FAIL"]) {
		await running.post(
			"postures",
			{ results: [postureResult({ status })] },
			{ key: device.key },
		);
	}
	const { posture_reports: reports } = await use("listDevicePostureReports", {
		device_id: device.id,
	});
	await use("getDevicePostureReport", {
		device_id: device.id,
		report_id: reports[0].report_id,
	});
	await use("getDevice", { id: device.id });
	await use("listDevicePostures", { device_id: device.id });
	await use("listPostureSpans", {
		organization_id,
		check_key: "DISK_ENCRYPTION",
	});
	await use("listDevices", { organization_id, filter: { query: "laptop" } });
	const as_of = new Date().toISOString();
	await use("listDevices", { organization_id, as_of });
	await use("listPostureSummary", { organization_id, group_by: "owner_id" });
	await use("getCheckResults", {
		organization_id,
		check_keys: ["DISK_ENCRYPTION"],
		history_days: 30,
	});
	const { device: added } = await use("addDevice", { organization_id });
	await use("updateDevice", { id: added.id, owner_id: references.people[0] });
	await use("reissueEnrollmentToken", { id: added.id });
	await use("revokeDevice", { id: added.id });
	await use("deleteDevice", { id: added.id });
	await useFleet(use, running, organization_id, admin.user.email);
	await running.post("unenroll", "", { key: device.key });
}

/** Calls the operations on many devices, with devices that enrolled with a key. */
async function useFleet(
	use: Use,
	running: TestService,
	organization_id: string,
	/** The address of the person to whom the caller belongs. */
	owner_email: string,
): Promise<void> {
	const { key, enrollment_key: token } = await use("addEnrollmentKey", {
		organization_id,
		name: "Laptops",
		max_devices: 9,
		requires_approval: true,
	});
	const answer = await running.post("enroll", { token, owner_email });
	const { api_key } = (await answer.json()) as { api_key: string };
	await running.post("heartbeat", heartbeatBody(), { key: api_key });
	await use("listEnrollmentKeys", { organization_id });
	for (const [name, more] of [
		["Listed", {}],
		["Filtered", { filter: { status: "PENDING" } }],
	] as const) {
		const { device_group: group } = await use("addDeviceGroup", {
			organization_id,
			name,
			...more,
		});
		await use("updateDeviceGroup", { id: group.id, name: `${name} again` });
		await use("listDeviceGroups", { organization_id });
		const filter = { group_id: group.id };
		await use("listDevices", { organization_id, filter });
		await use("setDeviceGroupPolicy", {
			group_id: group.id,
			checks: [{ check_key: "DISK_ENCRYPTION", grace_days: 9 }],
		});
		await use("listDeviceGroupPolicies", { organization_id });
		if (name === "Listed") {
			await use("deleteDeviceGroupPolicy", { group_id: group.id });
		}
		await use("deleteDeviceGroup", { id: group.id });
	}
	await useExceptions(use, organization_id);
	const { devices } = await use("listDevices", {
		organization_id,
		filter: { enrollment_key_id: key.id },
	});
	const input = { organization_id, device_ids: [devices[0].id] };
	await use("approveDevices", input);
	const { device: claimed } = await use("answerDeviceClaim", {
		id: devices[0].id,
		is_mine: true,
	});
	const own = await running.activateDevice();
	// An exception excuses all devices from the check of the disk.
	const check_key = "SCREEN_LOCK";
	const failure = { results: [postureResult({ check_key, status: "FAIL" })] };
	await running.post("postures", failure, { key: own.key });
	await use("updateDevice", { id: own.id, owner_id: claimed.owner_id });
	await use("requestOwnDeviceException", {
		device_id: own.id,
		check_key,
		reason: "The disk holds no data",
		ends_at: new Date(Date.now() + 86_400_000).toISOString(),
	});
	for (const name of [
		"confirmDeviceOwners",
		"revokeDevices",
		"reissueEnrollmentTokens",
		"rejectDevices",
	]) {
		await use(name, input);
	}
	const owners = [{ device: devices[0].id, owner: null }];
	await use("setDeviceOwners", { organization_id, owners });
	const csv = `device,owner\n${devices[0].id},nobody\n`;
	await use("importDeviceOwners", { organization_id, csv });
	const again = await running.post("enroll", { token });
	const { api_key: newKey } = (await again.json()) as { api_key: string };
	const facts = heartbeatBody({ hardware_uuid: own.hardwareUuid });
	await running.post("heartbeat", facts, { key: newKey });
	const { devices: waiting } = await use("listDevices", {
		organization_id,
		filter: { conflict: "DUPLICATE_HARDWARE", awaits_approval: true },
	});
	const [{ id: device_id }] = waiting;
	await use("approveDevices", { organization_id, device_ids: [device_id] });
	await use("replaceDevices", {
		organization_id,
		devices: [{ device_id, predecessor_id: own.id }],
	});
	await use("revokeEnrollmentKey", { id: key.id });
}

async function useExceptions(use: Use, organization_id: string): Promise<void> {
	for (const after of ["delete", "approve"]) {
		const { device_exception: exception } = await use("addDeviceException", {
			organization_id,
			check: "DISK_ENCRYPTION",
			reason: "The disk holds no data",
			ends_at: new Date(Date.now() + 86_400_000).toISOString(),
		});
		const { id } = exception;
		await use("updateDeviceException", { id, reason: "An empty disk" });
		await use(`${after}DeviceException`, { id });
		if (after === "approve") await use("getDeviceException", { id });
	}
	await use("listDeviceExceptions", { organization_id });
	const { nonconformity } = await use("addNonconformity", { organization_id });
	await use("listNonconformityDevices", { id: nonconformity.id });
	await use("deleteNonconformity", { id: nonconformity.id });
}

import type { z } from "zod";
import { listDevicePostures } from "../../src/devices/posture-operations.ts";
import { getDevice } from "../../src/devices/read-operations.ts";
import {
	getDevicePostureReport,
	listDevicePostureReports,
} from "../../src/devices/report-operations.ts";
import {
	dateReports,
	monthAgo,
	sendReportAt,
	within,
} from "../support/closed-month.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import { type FilledFleet, keepFilled } from "../support/filled-fleet.ts";
import type { TestDevice } from "../support/service.ts";

// Two months that ended more than two weeks ago, on every day of a month.
export const MARCH = monthAgo(3);
export const APRIL = monthAgo(2);

export interface ReportedDevice {
	device: TestDevice;
	/** The ids of its reports, oldest first. */
	ids: string[];
}

/** Three devices with a history, and one that has been silent since its only report, in March. */
export interface PackedFleet extends FilledFleet {
	devices: [ReportedDevice, ReportedDevice, ReportedDevice];
	silent: TestDevice;
}

/** The number of reports that are plain or packed, once the closed months are packed. */
export const PACKED = { plain: 3, packed: 49 };

export async function makePackedFleet(): Promise<PackedFleet> {
	const fleet = await startFleet();
	const devices: PackedFleet["devices"] = [
		await addReports(fleet),
		await addReports(fleet),
		await addReports(fleet),
	];
	const silent = await fleet.assay.activateDevice();
	const evidence = { method: "luks2" };
	await sendReportAt(fleet, silent, within(MARCH, 5), { evidence });
	await dateReports(fleet.assay.database, [MARCH, APRIL]);
	for (const { device, ids } of devices) {
		const now = new Date().toISOString();
		ids.push(await sendReportAt(fleet, device, now, { status: "PASS" }));
	}
	return { devices, silent, ...(await keepFilled(fleet)) };
}

/** Makes a device with reports of two closed months. Its disk is not encrypted for a day. */
async function addReports(fleet: TestFleet): Promise<ReportedDevice> {
	const device = await fleet.assay.activateDevice();
	const ids: string[] = [];
	for (const month of [MARCH, APRIL]) {
		for (let hours = 0; hours < 96; hours += 12) {
			const status = hours >= 24 && hours < 48 ? "FAIL" : "PASS";
			const evidence = { method: "luks2", swap: { used: hours } };
			ids.push(
				await sendReportAt(
					fleet,
					device,
					within(month, hours),
					{ status, evidence },
					{
						check_key: "SCREEN_LOCK",
						observed_at: within(month, hours + 0.001),
						evidence: { text: 'a "quoted" \\ word, \u{1f512}' },
					},
					{ check_key: "FIREWALL_ENABLED", evidence: null },
				),
			);
		}
	}
	return { device, ids };
}

/** Returns everything that the tools say about a device and its reports. */
export async function readAll(fleet: TestFleet, device: TestDevice) {
	const { id: device_id } = device;
	const pages: unknown[] = [];
	const reports: unknown[] = [];
	let cursor: string | null = null;
	do {
		const page: z.output<typeof listDevicePostureReports.output> =
			await fleet.call(listDevicePostureReports, {
				device_id,
				size: 3,
				cursor,
			});
		for (const { report_id } of page.posture_reports) {
			reports.push(
				await fleet.call(getDevicePostureReport, { device_id, report_id }),
			);
		}
		cursor = page.next_cursor;
		pages.push({ ...page, next_cursor: null });
	} while (cursor !== null);
	return {
		pages,
		reports,
		device: await fleet.call(getDevice, { id: device_id }),
		postures: await fleet.call(listDevicePostures, { device_id }),
	};
}

import { getCheckResults } from "./check-results/operations.ts";
import { fleetOperations } from "./fleet-operations.ts";
import { listPostureSpans } from "./fleet-spans.ts";
import { answerDeviceClaim } from "./owner-claims.ts";
import { getDevicePolicy, updateDevicePolicy } from "./policy-operations.ts";
import { listDevicePostures } from "./posture-operations.ts";
import { listPostureSummary } from "./posture-summary.ts";
import { getDevice, listDevices } from "./read-operations.ts";
import {
	getDevicePostureReport,
	listDevicePostureReports,
} from "./report-operations.ts";
import {
	addDevice,
	deleteDevice,
	reissueEnrollmentToken,
	revokeDevice,
	updateDevice,
} from "./write-operations.ts";

/** All operations on devices, which files beside this one define. */
export const deviceOperations = [
	listDevices,
	getDevice,
	addDevice,
	updateDevice,
	revokeDevice,
	reissueEnrollmentToken,
	deleteDevice,
	listDevicePostures,
	getDevicePostureReport,
	listDevicePostureReports,
	listPostureSpans,
	listPostureSummary,
	getCheckResults,
	getDevicePolicy,
	updateDevicePolicy,
	answerDeviceClaim,
	...fleetOperations,
] as const;

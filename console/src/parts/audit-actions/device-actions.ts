import type { Actions } from "./action.ts";

/** The words for what happens to devices and to their exceptions and policies. */
export const deviceActions = {
	addDevice: { group: "devices", phrase: "added the device" },
	updateDevice: { group: "devices" },
	reissueEnrollmentToken: {
		group: "devices",
		phrase: "made a new enrollment token for the device",
	},
	revokeDevice: { group: "devices" },
	deleteDevice: { group: "devices" },
	addEnrollmentKey: { group: "devices", phrase: "made the enrollment key" },
	revokeEnrollmentKey: {
		group: "devices",
		phrase: "revoked the enrollment key",
	},
	approveDevices: { group: "devices", phrase: "approved the device" },
	rejectDevices: { group: "devices", phrase: "rejected the device" },
	confirmDeviceOwners: {
		group: "devices",
		phrase: "confirmed the owner of the device",
	},
	answerDeviceClaim: {
		group: "devices",
		phrase: "said whether they own the device",
	},
	reissueEnrollmentTokens: {
		group: "devices",
		phrase: "made a new enrollment token for the device",
	},
	revokeDevices: { group: "devices", phrase: "revoked the device" },
	setDeviceOwners: {
		group: "devices",
		phrase: "set the owner of the device",
	},
	importDeviceOwners: {
		group: "devices",
		phrase: "imported the owner of the device",
	},
	replaceDevices: {
		group: "devices",
		phrase: "said which device was set up again:",
	},
	addDeviceGroup: { group: "devices", phrase: "added the group of devices" },
	updateDeviceGroup: {
		group: "devices",
		phrase: "changed the group of devices",
	},
	deleteDeviceGroup: {
		group: "devices",
		phrase: "deleted the group of devices",
	},
	addDeviceException: {
		group: "devices",
		phrase: "requested an exception from the check",
	},
	requestOwnDeviceException: {
		group: "devices",
		phrase: "requested an exception from the check",
	},
	updateDeviceException: {
		group: "devices",
		phrase: "changed the exception from the check",
	},
	approveDeviceException: {
		group: "devices",
		phrase: "decided about the exception from the check",
	},
	deleteDeviceException: {
		group: "devices",
		phrase: "deleted the exception from the check",
	},
	setDeviceGroupPolicy: {
		group: "devices",
		phrase: "set the device policy of the group",
	},
	deleteDeviceGroupPolicy: {
		group: "devices",
		phrase: "removed the device policy of the group",
	},
	updateDevicePolicy: {
		group: "devices",
		phrase: "changed the device policy",
		isAboutActor: true,
	},
	sendMyDevicesLinks: {
		group: "devices",
		phrase: "mailed a link to the devices of",
		title: "Mail a link to own devices",
	},
	copyMyDevicesLink: {
		group: "devices",
		phrase: "copied a link to the devices of",
		title: "Copy a link to own devices",
	},
	openMyDevices: {
		group: "devices",
		phrase: "opened the devices of",
		title: "Open own devices",
	},
} as const satisfies Actions;

import { z } from "zod";
import { organizationId } from "../records/list-pages.ts";
import { deviceId } from "./device-record.ts";
import { MAX_DEVICES_OF_CALL } from "./fleet-limits.ts";

/** What all operations on many devices have in common. */
export const fleetOperation = {
	toolset: "fleet",
	access: "admin",
	isIdempotent: true,
	tenant: "organization_id",
} as const;

export const fleetShape = {
	organization_id: organizationId(),
	device_ids: z
		.array(deviceId())
		.min(1)
		.max(MAX_DEVICES_OF_CALL)
		.describe(`Ids of up to ${MAX_DEVICES_OF_CALL} devices`),
};

export const fleetInput = z.strictObject(fleetShape);

import { expect } from "vitest";
import { heartbeatBody, untilTaken } from "../support/service.ts";
import {
	type Json,
	shareTools,
	startTools,
	type TestTools,
} from "../support/tools.ts";

export interface KeyEnrollments extends TestTools {
	/** Adds an enrollment key for 20 devices. */
	addKey: (fields?: Json) => Promise<{ id: string; secret: string }>;
	/** Returns the key as the list shows it. */
	findKey: (id: string) => Promise<Json>;
	/** Enrolls a device as probo-agent does, with nothing but the token. Returns its key. */
	enroll: (secret: string, more?: Json) => Promise<string>;
	/** Sends a heartbeat that must succeed. Returns the device as tools show it. */
	activate: (key: string, facts?: Json) => Promise<Json>;
	/** Lists the devices that match the filter. */
	devicesOf: (filter: Json) => Promise<Json[]>;
}

/** Starts the service with functions that enroll devices with an enrollment key. */
export async function startKeyEnrollments(): Promise<KeyEnrollments> {
	return withEnrollments(await startTools());
}

/** Returns the same for the shared service, under the conditions of `shareService`. */
export async function shareKeyEnrollments(): Promise<KeyEnrollments> {
	return withEnrollments(await shareTools());
}

function withEnrollments(assay: TestTools): KeyEnrollments {
	const { organizationId: organization_id } = assay;
	return {
		...assay,
		addKey: async (fields = {}) => {
			const { key, enrollment_key: secret } = await assay.use(
				"addEnrollmentKey",
				{ organization_id, name: "Laptops", max_devices: 20, ...fields },
			);
			return { id: key.id as string, secret: secret as string };
		},
		findKey: async (id) => {
			const { enrollment_keys: keys } = await assay.use("listEnrollmentKeys", {
				organization_id,
				size: 100,
			});
			return keys.find((key: Json) => key.id === id);
		},
		enroll: async (secret, more = {}) => {
			const answer = await untilTaken(() =>
				assay.post("enroll", { token: secret, ...more }),
			);
			expect(answer.status).toBe(200);
			const body = (await answer.json()) as { api_key: string };
			expect(Object.keys(body)).toEqual(["api_key"]);
			return body.api_key;
		},
		activate: async (key, facts = {}) => {
			const body = heartbeatBody(facts);
			const answer = await untilTaken(() =>
				assay.post("heartbeat", body, { key }),
			);
			expect(answer.status).toBe(200);
			const { device_id: id } = (await answer.json()) as { device_id: string };
			return (await assay.use("getDevice", { id })).device;
		},
		devicesOf: async (filter) => {
			const input = { organization_id, filter, size: 100 };
			return (await assay.use("listDevices", input)).devices;
		},
	};
}

import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeatBody } from "../support/service.ts";
import { type KeyEnrollments, shareKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await shareKeyEnrollments();
});
afterAll(() => assay.close());

const clearOwner = (device: string) =>
	assay.use("setDeviceOwners", {
		organization_id: assay.organizationId,
		owners: [{ device, owner: null }],
	});

test("an id names one device, also if another device calls itself so", async () => {
	const { secret } = await assay.addKey();
	const { id } = await assay.activate(await assay.enroll(secret));
	await assay.activate(await assay.enroll(secret), { hostname: id });
	await assay.activate(await assay.enroll(secret), { serial_number: id });
	expect(await clearOwner(id)).toMatchObject({ unchanged_device_ids: [id] });
});

test("a serial number names the device that is in use, not one that waits for approval", async () => {
	const facts = heartbeatBody({ serial_number: "SN-7", hostname: "in-use" });
	const { secret } = await assay.addKey();
	const { id } = await assay.activate(await assay.enroll(secret), facts);
	const waiting = await assay.addKey({ requires_approval: true });
	const key = await assay.enroll(waiting.secret);
	await assay.post("heartbeat", facts, { key });
	const [pending] = await assay.devicesOf({ status: "PENDING" });
	expect(pending).toMatchObject({ serial_number: "SN-7" });
	for (const name of ["SN-7", "in-use"]) {
		expect(await clearOwner(name)).toMatchObject({
			unchanged_device_ids: [id],
		});
	}
	const alone = await assay.enroll(waiting.secret);
	await assay.post("heartbeat", heartbeatBody({ serial_number: "SN-8" }), {
		key: alone,
	});
	const { unchanged_device_ids: found } = await clearOwner("SN-8");
	expect(found).toHaveLength(1);
});

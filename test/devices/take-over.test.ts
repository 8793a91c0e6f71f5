import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeatBody } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { type KeyEnrollments, shareKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await shareKeyEnrollments();
});
afterAll(() => assay.close());

/** Enrolls a device with the hardware of the earlier one. It stays PENDING. */
async function setUpAgain(hardware_uuid: string, more: Json = {}) {
	const { id: enrollment_key_id, secret } = await assay.addKey();
	const key = await assay.enroll(secret, more);
	const body = heartbeatBody({ hardware_uuid });
	expect((await assay.post("heartbeat", body, { key })).status).toBe(400);
	const [{ id }] = (await assay.devicesOf({ enrollment_key_id })) as [Json];
	return { id: id as string, key };
}

const inOrganization = (more: Json) => ({
	organization_id: assay.organizationId,
	...more,
});

const replace = (device_id: string, predecessor_id: string) =>
	assay.use(
		"replaceDevices",
		inOrganization({ devices: [{ device_id, predecessor_id }] }),
	);

const inDays = (days: number) =>
	new Date(Date.now() + days * 86_400_000).toISOString();

/** Returns what the audit log says about the kind of record in calls of replaceDevices. */
async function entriesOf(kind: string, id: string): Promise<Json[]> {
	const { audit_entries: entries } = await assay.use(
		"listAuditLog",
		inOrganization({ filter: { operation: "replaceDevices" } }),
	);
	return entries.filter(
		(entry: Json) => entry.record_kind === kind && entry.record_id === id,
	);
}

test("a device that was set up again is in the groups of its earlier record, with their policies and exceptions", async () => {
	const old = await assay.activateDevice();
	const { device_group: group } = await assay.use(
		"addDeviceGroup",
		inOrganization({ name: "Berlin", device_ids: [old.id] }),
	);
	const group_id = group.id as string;
	await assay.use("setDeviceGroupPolicy", {
		...{ group_id, max_lock_delay_seconds: 60 },
	});
	const { device_exception: exception } = await assay.use(
		"addDeviceException",
		inOrganization({
			...{ check: "DISK_ENCRYPTION", group_id, reason: "Old disks" },
			ends_at: inDays(30),
		}),
	);
	await assay.use("approveDeviceException", { id: exception.id });
	const fresh = await setUpAgain(old.hardwareUuid);
	await replace(fresh.id, old.id);
	const device = await assay.activate(fresh.key, {
		hardware_uuid: old.hardwareUuid,
	});
	expect(device).toMatchObject({
		groups: [{ id: group_id }],
		group_policies: [{ group_name: "Berlin", applies: true }],
	});
	const { rows } = await assay.database.owner.query(
		`select device_id from device_exception_members
		where exception_id = $1 and until is null order by device_id`,
		[exception.id],
	);
	expect(rows.map(({ device_id }) => device_id)).toEqual(
		[old.id, fresh.id].sort(),
	);
	expect(await entriesOf("device_group", group_id)).toMatchObject([
		{ changes: { added_device_ids: { after: [fresh.id] } } },
	]);
});

test("a device that was set up again keeps the exceptions of its earlier record, and the past stays as it was", async () => {
	const old = await assay.activateDevice();
	const ask = async (fields: Json) =>
		(
			await assay.use(
				"addDeviceException",
				inOrganization({
					...{ check: "DISK_ENCRYPTION", device_id: old.id },
					...{ reason: "Waits for a new disk", ends_at: inDays(30) },
					...fields,
				}),
			)
		).device_exception.id as string;
	const inForce = await ask({});
	const later = await ask({ starts_at: inDays(10) });
	const undecided = await ask({});
	const rejected = await ask({});
	for (const id of [inForce, later]) {
		await assay.use("approveDeviceException", { id });
	}
	await assay.use("approveDeviceException", {
		...{ id: rejected, is_approved: false },
	});
	const read = async (id: string) =>
		(await assay.use("getDeviceException", { id })).device_exception;
	const approved = await read(inForce);
	const fresh = await setUpAgain(old.hardwareUuid);
	await replace(fresh.id, old.id);

	expect(await read(inForce)).toMatchObject({
		...{ device_id: old.id, status: "ENDED" },
	});
	expect(await read(rejected)).toMatchObject({ device_id: old.id });
	expect(await read(later)).toMatchObject({
		...{ device_id: fresh.id, status: "SCHEDULED" },
	});
	expect(await read(undecided)).toMatchObject({
		...{ device_id: fresh.id, status: "REQUESTED" },
	});
	const { device_exceptions: all } = await assay.use(
		"listDeviceExceptions",
		inOrganization({ size: 100 }),
	);
	const [copy, ...others] = all.filter(
		(one: Json) => one.device_id === fresh.id && one.status === "IN_FORCE",
	);
	expect(others).toEqual([]);
	const { check_key, reason, ends_at, decided_by, decided_at, requested_by } =
		approved;
	expect(await read(copy.id)).toMatchObject({
		...{ check_key, reason, ends_at, decided_by, decided_at, requested_by },
	});
	expect(await entriesOf("device_exception", inForce)).toMatchObject([
		{ changes: { status: { before: "IN_FORCE", after: "ENDED" } } },
	]);
	expect(await entriesOf("device_exception", copy.id)).toMatchObject([
		{ changes: { continues_exception_id: { after: inForce } } },
	]);
	expect(await entriesOf("device_exception", undecided)).toMatchObject([
		{ changes: { device_id: { before: old.id, after: fresh.id } } },
	]);
});

test("a device that was set up again keeps the claim of its earlier record, unless it has an owner", async () => {
	const { people } = await assay.use(
		"addPeople",
		inOrganization({
			...{ full_name: "Ada", kind: "EMPLOYEE" },
			primary_email_address: "ada@claims.example",
		}),
	);
	const { secret } = await assay.addKey();
	const claimed = async () => {
		const key = await assay.enroll(secret, {
			owner_email: "ada@claims.example",
		});
		return assay.activate(key);
	};
	const first = await claimed();
	expect(first.claimed_owner_id).toBe(people.id);
	const fresh = await setUpAgain(first.hardware_uuid);
	await replace(fresh.id, first.id);
	expect((await assay.use("getDevice", { id: fresh.id })).device).toMatchObject(
		{ owner_id: null, claimed_owner_id: people.id },
	);

	const second = await claimed();
	const { people: grace } = await assay.use(
		"addPeople",
		inOrganization({
			...{ full_name: "Grace", kind: "EMPLOYEE" },
			primary_email_address: "grace@claims.example",
		}),
	);
	const owned = await setUpAgain(second.hardware_uuid);
	await assay.use("updateDevice", { id: owned.id, owner_id: grace.id });
	await replace(owned.id, second.id);
	expect((await assay.use("getDevice", { id: owned.id })).device).toMatchObject(
		{ owner_id: grace.id, claimed_owner_id: null },
	);
});

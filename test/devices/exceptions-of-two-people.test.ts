import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type Json,
	shareTools,
	type TestTools,
	type TestUser,
} from "../support/tools.ts";
import { exceptionCalls } from "./exception-calls.ts";

let assay: TestTools;
let organization_id: string;
beforeAll(async () => {
	assay = await shareTools();
	organization_id = assay.organizationId;
});
afterAll(() => assay.close());

const { request, approve, refused } = exceptionCalls(() => assay);

const setting = (exceptions_need_two_people: boolean, token?: string) =>
	assay.use(
		"updateDevicePolicy",
		{ organization_id, exceptions_need_two_people },
		token,
	);

/** Returns why the administrator may not approve. The exception says the same beforehand. */
async function refusalOf(id: string): Promise<string> {
	const { why_not_approve } = await assay.use("getDeviceException", { id });
	const refusal = await refused("approveDeviceException", { id });
	expect(refusal).toContain(why_not_approve ?? "is required");
	return refusal;
}

let people = 0;
/** Adds a person, as the administrator unless `token` is another one's. */
async function addPerson(address?: string, token?: string): Promise<string> {
	const number = ++people;
	const { people: person } = await assay.use(
		"addPeople",
		{
			organization_id,
			full_name: `Person ${number}`,
			primary_email_address: address ?? `person-${number}@example.com`,
			kind: "EMPLOYEE",
		},
		token,
	);
	return person.id;
}

/** Returns an exception that the person asked for, as by a mailed link. */
async function requestBy(person: string, fields: Json = {}): Promise<Json> {
	const asked = await request({ platform: "FREEBSD", ...fields });
	await assay.database.owner.query(
		`update device_exceptions set requested_by_id = null, requested_by_name = null,
			requested_by_person_id = $2 where id = $1`,
		[asked.id, person],
	);
	return asked;
}

/** Lets entries of the audit log about a record be older. */
const age = (record: string, days: number) =>
	assay.database.owner.query(
		"update audit_entries set at = at - $2 * interval '1 day' where record_id = $1",
		[record, days],
	);

let second: TestUser;

test("the only administrator who copied the link approves with a note, unless the policy demands two people", async () => {
	const copy = async () => {
		const { id } = await request({ platform: "FREEBSD" });
		await assay.database.owner.query(
			"update device_exceptions set link_copied_by_id = requested_by_id, requested_by_id = null where id = $1",
			[id],
		);
		return id;
	};
	const id = await copy();
	expect(await refusalOf(id)).toContain(
		"is required, because you copied the link",
	);
	const done = await approve(id, { note: "The disk is on order" });
	expect(done).toMatchObject({
		status: "IN_FORCE",
		is_self_approved: true,
		needs_two_people: false,
	});
	const { rows: entries } = await assay.database.owner.query(
		"select changes from audit_entries where record_id = $1 order by id desc limit 1",
		[id],
	);
	expect(entries[0].changes.approved_by).toEqual({
		after: "the only administrator",
	});
	await setting(true);
	const refusal = await refusalOf(await copy());
	expect(refusal).toContain("you copied the link");
	expect(refusal).toContain("invite one first");
	second = await assay.makeUser({ [organization_id]: "admin" });
});

test("if the policy demands two people, the requester may not approve, also as a person, and neither may who copied the link", async () => {
	const { id } = await request({ platform: "FREEBSD" });
	expect(await refusalOf(id)).toContain("another administrator");
	expect((await approve(id, { is_approved: false })).status).toBe("REJECTED");
	const { rows } = await assay.database.owner.query(
		"select email from users where id = $1",
		[assay.admin.id],
	);
	const own = await requestBy(await addPerson(rows[0].email.toUpperCase()));
	expect(await refusalOf(own.id)).toContain("you requested this exception");
	const namesake = await addPerson();
	// Such people exist from before the addresses of members were kept apart.
	await assay.database.owner.query(
		"update people set primary_email_address = $2 where id = $1",
		[namesake, rows[0].email],
	);
	const other = await requestBy(namesake);
	expect(await refusalOf(other.id)).toContain("you requested this exception");
	const copied = await request({ platform: "FREEBSD" });
	await assay.database.owner.query(
		"update device_exceptions set link_copied_by_id = requested_by_id, requested_by_id = null where id = $1",
		[copied.id],
	);
	expect(await refusalOf(copied.id)).toContain("you copied the link");
});

test("switching the rule of two people off frees neither an earlier request nor, for 30 days, who did it", async () => {
	const before = await request({ platform: "FREEBSD" });
	expect(before.needs_two_people).toBe(true);
	await setting(false, second.token);
	expect(await refusalOf(before.id)).toContain("demanded at that time");
	await setting(true);
	await setting(false);
	const own = await request({ platform: "FREEBSD" });
	expect(own.needs_two_people).toBe(false);
	expect(await refusalOf(own.id)).toMatch(
		/switched the rule of two people off on \d{4}-\d\d-\d\d/,
	);
	const { device_exception: byOther } = await assay.use(
		"approveDeviceException",
		{ id: own.id },
		second.token,
	);
	expect(byOther).toMatchObject({
		status: "IN_FORCE",
		is_self_approved: false,
	});
	await age(organization_id, 31);
	const alone = await request({ platform: "FREEBSD" });
	expect((await approve(alone.id)).is_self_approved).toBe(true);
	const { rows } = await assay.database.owner.query(
		"select changes from audit_entries where record_id = $1 order by id desc limit 1",
		[alone.id],
	);
	expect(rows[0].changes.approved_by).toEqual({ after: "the requester" });
	const idsOf = async (is_self_approved: boolean) =>
		(
			await assay.use("listDeviceExceptions", {
				organization_id,
				size: 100,
				filter: { is_self_approved },
			})
		).device_exceptions.map(({ id }: Json) => id);
	expect(await idsOf(true)).toContain(alone.id);
	expect(await idsOf(true)).not.toContain(own.id);
	expect(await idsOf(false)).toContain(own.id);
});

test("who set the address of a person within 30 days may not approve what the person asked for", async () => {
	await setting(true);
	const bob = await addPerson(undefined, second.token);
	await age(bob, 31);
	const fair = await requestBy(bob);
	const whyNot = async (id: string, token?: string) =>
		(await assay.use("getDeviceException", { id }, token)).why_not_approve;
	expect(await whyNot(fair.id)).toBeNull();
	expect((await approve(fair.id)).is_self_approved).toBe(false);
	const change = (primary_email_address: string) =>
		assay.use("updatePeople", { id: bob, primary_email_address });
	await change("mallory@example.com");
	const asked = await requestBy(bob);
	await change("bob@example.com");
	expect(await refusalOf(asked.id)).toMatch(
		/you set the address of the person who asked on \d{4}-\d\d-\d\d, and the device policy demands/,
	);
	expect(await whyNot(asked.id)).toContain("you set the address");
	expect(await whyNot(asked.id, second.token)).toBeNull();
	expect(await whyNot(asked.id, assay.viewer.token)).toBeNull();
	await assay.use("approveDeviceException", { id: asked.id }, second.token);
	expect(await whyNot(asked.id)).toBeNull();
	const made = await requestBy(await addPerson());
	expect(await refusalOf(made.id)).toContain("you set the address");
});

test("who set the address of a person long ago may approve, unless they gave the device to the person since", async () => {
	await setting(true);
	const person = await addPerson();
	const { device } = await assay.use("addDevice", {
		organization_id,
		name: "laptop",
		owner_id: person,
	});
	await age(person, 31);
	const asked = await requestBy(person, {
		platform: undefined,
		device_id: device.id,
	});
	expect(await refusalOf(asked.id)).toContain("you set the address");
	await age(device.id, 31);
	expect((await approve(asked.id)).status).toBe("IN_FORCE");
});

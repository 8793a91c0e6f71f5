import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { CHECK, daysAgo, makeLoop } from "./nonconformity-loop.ts";

let assay: TestTools;
beforeAll(async () => {
	assay = await shareTools();
});
afterAll(() => assay.close());

test("a failure opens one nonconformity after its grace, later devices join it, and the last pass closes it", async () => {
	const loop = await makeLoop(assay);
	const [first, second] = [await loop.device("one"), await loop.device("two")];
	await first.report("FAIL", 2);
	await first.report("FAIL", 0);
	await loop.settle();
	expect(await loop.list()).toEqual([]);
	await loop.owner(
		"update posture_spans set since = since - interval '2 days' where device_id = $1",
		[first.id],
	);
	const opened = await loop.only();
	expect(opened).toMatchObject({
		status: "OPEN",
		severity: "MINOR",
		title: "Devices fail: Host firewall",
		reference_id: "NC-001",
	});
	await second.fail();
	expect((await loop.only()).updated_at).toBe(opened.updated_at);
	expect(
		(await loop.places(opened.id)).map(({ device_name }) => device_name).sort(),
	).toEqual(["one", "two"]);
	await first.report("PASS");
	expect((await loop.only()).status).toBe("OPEN");
	await second.report("PASS");
	const closed = await loop.only();
	expect(closed.status).toBe("CLOSED");
	expect(closed.effectiveness_check).toContain("2 devices pass");
	const places = await loop.places(opened.id);
	for (const place of places) {
		expect(place).toMatchObject({ end_reason: "PASSED", check_key: CHECK });
		for (const id of [place.report_id, place.end_report_id]) {
			await loop.use("getDevicePostureReport", {
				device_id: place.device_id,
				report_id: id,
			});
		}
	}
	expect(await loop.events()).toEqual(["opened", "closed"]);
	await loop.settle();
	expect(await loop.events()).toEqual(["opened", "closed"]);
	const { audit_entries: entries } = await loop.use("listAuditLog", {
		organization_id: loop.organization_id,
		filter: { operation: "settleNonconformities" },
	});
	expect(entries.length).toBeGreaterThanOrEqual(3);
	expect(entries[0]).toMatchObject({
		actor_kind: "SYSTEM",
		actor_name: "Assay",
	});
});

test("a nonconformity is dated by the organization's time zone", async () => {
	const loop = await makeLoop(assay);
	const today = (timeZone: string) =>
		new Intl.DateTimeFormat("sv-SE", { timeZone }).format(new Date());
	const zone = ["Pacific/Kiritimati", "Pacific/Pago_Pago"].find(
		(one) => today(one) !== today("UTC"),
	) as string;
	await loop.use("updateOrganizationSettings", {
		organization_id: loop.organization_id,
		time_zone: zone,
	});
	const device = await loop.device("one");
	await device.fail();
	const before = today(zone);
	const { date_identified } = await loop.only();
	expect([before, today(zone)]).toContain(date_identified);
});

test("UNKNOWN and silence keep a device in it; an exception, the policy, revocation and deletion end its place", async () => {
	const loop = await makeLoop(assay);
	const names = [
		"unknown",
		"silent",
		"excepted",
		"revoked",
		"deleted",
		"absent",
	];
	const devices = Object.fromEntries(
		await Promise.all(
			names.map(async (name) => [name, await loop.device(name)] as const),
		),
	);
	const of = (name: string) =>
		devices[name] as Awaited<ReturnType<typeof loop.device>>;
	for (const name of names) await of(name).fail();
	const { id, description } = await loop.only();
	// The description names each way in which a device leaves, and what does not count as one.
	for (const way of [
		"passes the check",
		"an exception excuses it",
		"revoked or deleted",
		"no longer applies",
		"no longer demands the check",
		"A device that falls silent stays in the list.",
	]) {
		expect(description).toContain(way);
	}
	expect(description).toContain("when the last device has left");
	await of("unknown").report("UNKNOWN");
	await loop.owner(
		"update posture_spans set last_observed_at = since where device_id = $1",
		[of("silent").id],
	);
	const { device_exception: exception } = await loop.use("addDeviceException", {
		organization_id: loop.organization_id,
		check: CHECK,
		device_id: of("excepted").id,
		reason: "Behind a router",
		ends_at: daysAgo(-10),
	});
	await loop.use("approveDeviceException", { id: exception.id });
	await loop.use("revokeDevice", { id: of("revoked").id });
	await loop.use("deleteDevice", { id: of("deleted").id });
	await of("absent").report("NOT_APPLICABLE");
	expect((await loop.only()).status).toBe("OPEN");
	const reasons = async () =>
		Object.fromEntries(
			(await loop.places(id)).map(({ device_name, end_reason }) => [
				device_name ?? "deleted",
				end_reason,
			]),
		);
	expect(await reasons()).toEqual({
		unknown: null,
		silent: null,
		excepted: "EXCEPTED",
		revoked: "REVOKED",
		deleted: "DEVICE_DELETED",
		absent: "NOT_APPLICABLE",
	});
	await loop.use("updateDevicePolicy", {
		organization_id: loop.organization_id,
		checks: [{ check_key: CHECK, is_required: false }],
	});
	const closed = await loop.only();
	expect(closed.status).toBe("CLOSED");
	expect(await reasons()).toMatchObject({
		unknown: "POLICY",
		silent: "POLICY",
	});
	expect(closed.effectiveness_check).toContain("the device policy");
	// An excused device still fails, so the text must not say that none does.
	expect(closed.effectiveness_check).toContain("1 has an exception");
	expect(closed.effectiveness_check).not.toContain("no device fails");
});

test("a failure that comes back within 30 days reopens it, a later one opens another", async () => {
	const loop = await makeLoop(assay);
	const device = await loop.device("again");
	await device.fail();
	const { id } = await loop.only();
	await device.report("PASS");
	expect((await loop.only()).status).toBe("CLOSED");
	const failAgain = async () => {
		await device.report("FAIL");
		await loop.use("updateDevicePolicy", {
			organization_id: loop.organization_id,
			checks: [{ check_key: CHECK, grace_days: 0, new_device_grace_days: 0 }],
		});
	};
	await failAgain();
	expect(await loop.only()).toMatchObject({
		id,
		status: "OPEN",
		effectiveness_check: null,
	});
	expect(await loop.places(id)).toHaveLength(2);
	await device.report("PASS");
	expect((await loop.only()).status).toBe("CLOSED");
	await loop.owner(
		"update check_nonconformities set closed_at = now() - interval '31 days' where organization_id = $1",
		[loop.organization_id],
	);
	await failAgain();
	await loop.settle();
	expect((await loop.list()).map(({ status }) => status).sort()).toEqual([
		"CLOSED",
		"OPEN",
	]);
	expect(await loop.events()).toEqual([
		...["opened", "closed", "reopened", "closed", "opened"],
	]);
});

test("a failure that ends while its nonconformity is opened leaves none behind", async () => {
	const loop = await makeLoop(assay);
	const device = await loop.device("quick");
	await device.fail();
	// The pass arrives after the failure was found and before the device is added.
	await loop.owner(`
		create function pass() returns trigger language plpgsql security definer as $$
		begin
			update posture_spans set status = 'PASS' where device_id = '${device.id}' and is_current;
			return null;
		end $$;
		create trigger pass after insert on check_nonconformities
			for each statement execute function pass()`);
	onTestFinished(async () => {
		await loop.owner("drop function if exists pass cascade");
	});
	await loop.settle();
	expect(await loop.list()).toEqual([]);
	expect(await loop.events()).toEqual([]);
	const { rows } = await loop.owner(
		"select from audit_entries where organization_id = $1 and operation = 'settleNonconformities'",
		[loop.organization_id],
	);
	expect(rows).toEqual([]);
	await loop.owner("drop function pass cascade");
	expect((await loop.only()).reference_id).toBe("NC-001");
	expect(await loop.events()).toEqual(["opened"]);
});

test("a person's close or deletion holds until a new failure, and people's texts stay", async () => {
	const loop = await makeLoop(assay);
	const [old, fresh] = [await loop.device("old"), await loop.device("fresh")];
	await old.fail();
	const { id } = await loop.only();
	await loop.use("updateNonconformity", {
		id,
		status: "CLOSED",
		effectiveness_check: "Ada looked at it",
		root_cause: "An update",
	});
	expect((await loop.only()).status).toBe("CLOSED");
	await old.report("UNKNOWN");
	await old.report("FAIL");
	expect((await loop.only()).status).toBe("CLOSED");
	expect(await loop.places(id)).toMatchObject([{ end_reason: "CLOSED" }]);
	await fresh.fail();
	expect(await loop.only()).toMatchObject({
		id,
		status: "OPEN",
		effectiveness_check: "Ada looked at it",
		root_cause: "An update",
	});
	const failing = async (of: string) =>
		(await loop.places(of))
			.filter(({ until }) => until === null)
			.map(({ device_name }) => device_name)
			.sort();
	expect(await failing(id)).toEqual(["fresh", "old"]);
	await loop.use("deleteNonconformity", { id });
	await loop.settle();
	expect(await loop.list()).toEqual([]);
	const third = await loop.device("third");
	await third.fail();
	const next = await loop.only();
	expect(next.id).not.toBe(id);
	expect(await failing(next.id)).toContain("third");
	for (const device of [old, fresh, third]) await device.report("PASS");
	expect((await loop.only()).status).toBe("CLOSED");
});

test("a nonconformity that a person opened is never touched", async () => {
	const loop = await makeLoop(assay);
	const { nonconformity } = await loop.use("addNonconformity", {
		organization_id: loop.organization_id,
		title: "Devices fail: Host firewall",
	});
	const device = await loop.device("laptop");
	await device.fail();
	await loop.settle();
	await device.report("PASS");
	await loop.settle();
	const all = await loop.list();
	expect(all).toHaveLength(2);
	expect(all.find(({ id }) => id === nonconformity.id)).toEqual(nonconformity);
});

test("by policy each device has its own nonconformity, with a severity and an owner, or none is opened", async () => {
	const loop = await makeLoop(assay);
	const { organization_id } = loop;
	const { people } = await loop.use("addPeople", {
		organization_id,
		full_name: "Grace",
		primary_email_address: "grace@example.com",
		kind: "EMPLOYEE",
	});
	const rule = (fields: Json) =>
		loop.use("updateDevicePolicy", {
			organization_id,
			checks: [{ check_key: CHECK, ...fields }],
		});
	await rule({ per_device: true, severity: "MAJOR", owner_id: people.id });
	for (const name of ["a", "b"]) await (await loop.device(name)).fail();
	await loop.settle();
	const all = await loop.list();
	expect(all).toHaveLength(2);
	for (const one of all) {
		expect(one).toMatchObject({ severity: "MAJOR", owner_id: people.id });
		expect(await loop.places(one.id)).toHaveLength(1);
	}
	await rule({ opens_nonconformity: false });
	await loop.settle();
	for (const one of await loop.list()) expect(one.status).toBe("CLOSED");
});

test("it is linked to the included controls of frameworks that its check tests", async () => {
	const loop = await makeLoop(assay);
	const { organization_id } = loop;
	const { framework } = await loop.use("addFramework", {
		organization_id,
		name: "ISO/IEC 27001:2022",
	});
	for (const [name, more] of [
		["8.1 User endpoint devices", {}],
		["8.20 Networks security", {}],
		["8.2 Privileged access", {}],
		["8.17 Clocks", {}],
	] as const) {
		await loop.use("addControl", {
			...{ organization_id, framework_id: framework.id, name },
			...{ section_title: "A.8 Technological controls", ...more },
		});
	}
	await (await loop.device("laptop")).fail();
	const { id } = await loop.only();
	const { linked_records: linked } = await loop.use("listLinkedRecords", {
		record_id: id,
	});
	expect(linked.map(({ name }: Json) => name).sort()).toEqual([
		"8.1 User endpoint devices",
		"8.20 Networks security",
	]);
});

test("a storm opens one nonconformity for each check, and two processes at once do it once", async () => {
	const loop = await makeLoop(assay);
	const devices = await Promise.all(
		Array.from({ length: 12 }, (_, index) => loop.device(`storm ${index}`)),
	);
	for (const device of devices) await device.fail(CHECK, "SCREEN_LOCK");
	await Promise.all(Array.from({ length: 4 }, () => loop.settle()));
	await loop.settle();
	const all = await loop.list();
	expect(all).toHaveLength(2);
	for (const { id } of all) expect(await loop.places(id)).toHaveLength(12);
	expect(await loop.events()).toEqual(["opened", "opened"]);
});

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import {
	postureResult,
	shareService,
	startService,
	type TestService,
} from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { keepDevicesNow } from "../support/upkeep.ts";
import { zoneOfAnotherDay } from "../support/zone-of-another-day.ts";

const [MAJOR, MINOR] = ["DISK_ENCRYPTION", "FIREWALL_ENABLED"];

let sink: SmtpSink;
let served: TestService;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
});
afterEach(async () => {
	// Another organization's devices must not cause mails in the next test.
	await served.database.owner.query("delete from notification_channels");
	while (sink.waiting() > 0) await sink.next();
});
afterAll(async () => {
	await served.close();
	sink.close();
});

/** Makes an organization without days of grace, and with mails to the owners of devices. */
async function makeFleet(service = served) {
	const { database } = service;
	const organization_id = await createOrganization(database.pool, "Acme");
	const { email } = await makeUser(
		database,
		{ organizationId: organization_id, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const { cookie } = await sendTo(
		service.service.url,
		"/api/auth/sign-in/email",
		{ email, password: PASSWORD },
	);
	const use = async (name: string, input: object = {}) => {
		const { status, body } = await sendTo(
			service.service.url,
			`/api/console/${name}`,
			{ organization_id, ...input },
			{ cookie },
		);
		expect(status, JSON.stringify(body)).toBe(200);
		return body;
	};
	const sql = (text: string, values: unknown[] = []) =>
		database.owner.query(text, values);
	await use("updateDevicePolicy", {
		checks: [MAJOR, MINOR].map((check_key) => ({
			check_key,
			grace_days: 0,
			new_device_grace_days: 0,
		})),
	});
	const addChannel = async () => {
		const { channel } = await use("addNotificationChannel", {
			kind: "DEVICE_OWNERS",
			name: "Owners",
		});
		return channel.id as string;
	};
	return {
		organization_id,
		use,
		sql,
		addChannel,
		settle: () => keepDevicesNow(database.pool, organization_id, true),
		person: async (name: string, fields: object = {}) => {
			const { people } = await use("addPeople", {
				full_name: name,
				primary_email_address: `${name}-${organization_id}@example.com`,
				kind: "EMPLOYEE",
				...fields,
			});
			return people as { id: string; primary_email_address: string };
		},
		device: async (name: string, owner?: { id: string }) => {
			const device = await service.activateDevice(organization_id);
			await use("updateDevice", {
				organization_id: undefined,
				id: device.id,
				name,
				...(owner && { owner_id: owner.id }),
			});
			return {
				id: device.id,
				report: async (status: string, check_key = MAJOR) => {
					const answer = await service.post(
						"postures",
						{ results: [postureResult({ status, check_key })] },
						{ key: device.key },
					);
					expect(answer.status).toBe(204);
				},
			};
		},
		/** The mails of the organization, oldest first. */
		mails: async () =>
			(
				await sql(
					`select id, state, people_id, extract(epoch from due_at - created_at)::float8 as waits
					from mails where organization_id = $1 and kind = 'DEVICE_ALERT' order by created_at, id`,
					[organization_id],
				)
			).rows,
		/** Lets the minute pass for which a mail collects failures. */
		hurry: async () => {
			await sql(
				"update mails set due_at = now() where organization_id = $1 and state = 'QUEUED' and attempts = 0",
				[organization_id],
			);
			service.service.wake();
		},
	};
}

test("a storm is one mail a person at once, with what fails, how to fix it and the link", async () => {
	const fleet = await makeFleet();
	const [ada, bob, eve] = [
		await fleet.person("ada"),
		await fleet.person("bob"),
		await fleet.person("eve", { contract_end_date: "2020-01-31" }),
	];
	const channel = await fleet.addChannel();
	// People can stop the weekly mail, but not this one.
	await fleet.sql(
		"insert into notification_stops (organization_id, people_id, kind) values ($1, $2, 'DEVICE_DIGEST')",
		[fleet.organization_id, ada.id],
	);
	const claimed = await fleet.device("claimed");
	await fleet.sql("update devices set claimed_owner_id = $2 where id = $1", [
		claimed.id,
		bob.id,
	]);
	const all = [
		await fleet.device("ada-1", ada),
		await fleet.device("ada-2", ada),
		await fleet.device("ada-3", ada),
		await fleet.device("bob-1", bob),
		await fleet.device("eve-1", eve),
		await fleet.device("of nobody"),
		claimed,
	];
	for (const device of all) {
		await device.report("FAIL");
		await fleet.settle();
	}
	const queued = await fleet.mails();
	expect(queued.map(({ people_id }) => people_id).sort()).toEqual(
		[ada.id, bob.id].sort(),
	);
	for (const { waits } of queued) expect(waits).toBeCloseTo(60, 0);
	await fleet.hurry();
	const arrived = [await sink.next(), await sink.next()];
	const toAda = arrived.find(({ to }) => to === ada.primary_email_address);
	expect(toAda?.text).toContain("Fix now: Full-disk encryption");
	for (const name of ["ada-1", "ada-2", "ada-3"]) {
		expect(toAda?.text).toContain(`- ${name}, since `);
	}
	expect(toAda?.text).toContain("How to fix it: ");
	expect(toAda?.text).not.toMatch(/bob-1|claimed|of nobody|List-Unsubscribe/);
	const token = /my-devices#(asy_myd_\w+)/.exec(toAda?.text ?? "")?.[1];
	const opened = await sendTo(served.service.url, "/api/my-devices/open", {
		token,
	});
	expect(opened.status).toBe(200);
	const { deliveries } = await fleet.use("listNotificationDeliveries", {
		id: channel,
	});
	expect(deliveries).toHaveLength(2);
	expect(deliveries[0].what).toBe("DEVICE_ALERT");
	await fleet.settle();
	expect(await fleet.mails()).toHaveLength(2);
});

test("a mail tells since when a check fails by the day in the organization's time zone", async () => {
	const fleet = await makeFleet();
	await fleet.addChannel();
	const device = await fleet.device("laptop", await fleet.person("ada"));
	await device.report("FAIL");
	await fleet.settle();
	const { rows } = await fleet.sql(
		"select to_json(failing_since) #>> '{}' as since from nonconformity_devices where organization_id = $1",
		[fleet.organization_id],
	);
	const { zone, day } = zoneOfAnotherDay(rows[0].since);
	await fleet.use("updateOrganizationSettings", { time_zone: zone });
	await fleet.hurry();
	expect((await sink.next()).text).toContain(`- laptop, since ${day}`);
});

test("a second device is one more mail about it alone, and a failure that comes back is none", async () => {
	const fleet = await makeFleet();
	const ada = await fleet.person("ada");
	await fleet.addChannel();
	const [first, second] = [
		await fleet.device("first", ada),
		await fleet.device("second", ada),
	];
	await first.report("FAIL");
	await fleet.settle();
	await fleet.hurry();
	expect((await sink.next()).text).toContain("- first, since ");
	await second.report("FAIL");
	await fleet.settle();
	const [, next] = await fleet.mails();
	// The person has just got a mail, so the next one waits.
	expect(next.waits).toBeGreaterThan(300);
	await fleet.hurry();
	const { text } = await sink.next();
	expect(text).toContain("- second, since ");
	expect(text).not.toContain("- first");
	for (const status of ["PASS", "FAIL"]) {
		await first.report(status);
		await fleet.settle();
	}
	const { rows } = await fleet.sql(
		"select from nonconformity_devices where device_id = $1",
		[first.id],
	);
	expect(rows).toHaveLength(2);
	expect(await fleet.mails()).toHaveLength(2);
});

test("a new owner of a device in an open nonconformity of severity MAJOR gets the mail, once", async () => {
	const fleet = await makeFleet();
	const [ada, bob] = [await fleet.person("ada"), await fleet.person("bob")];
	await fleet.addChannel();
	const [device, minor] = [
		await fleet.device("passed-on", ada),
		await fleet.device("minor", ada),
	];
	const give = (id: string, owner_id: string | null) =>
		fleet.use("updateDevice", { organization_id: undefined, id, owner_id });
	await device.report("FAIL");
	await minor.report("FAIL", MINOR);
	await fleet.settle();
	await fleet.hurry();
	expect((await sink.next()).to).toBe(ada.primary_email_address);
	await give(minor.id, bob.id);
	await give(device.id, null);
	await fleet.settle();
	expect(await fleet.mails()).toHaveLength(1);
	await give(device.id, bob.id);
	await fleet.settle();
	await fleet.settle();
	await fleet.hurry();
	const mail = await sink.next();
	expect(mail.to).toBe(bob.primary_email_address);
	expect(mail.text).toContain("passed-on");
	expect(mail.text).not.toContain("minor");
	// Somebody who was told, and a device whose failure is over, are no news.
	await give(device.id, bob.id);
	await device.report("PASS");
	await fleet.settle();
	await give(device.id, ada.id);
	await fleet.settle();
	expect(await fleet.mails()).toHaveLength(2);
});

test("a failure that ends before the mail is sent causes none, and one that comes back then does", async () => {
	const fleet = await makeFleet();
	const ada = await fleet.person("ada");
	await fleet.addChannel();
	const device = await fleet.device("laptop", ada);
	await device.report("FAIL");
	await fleet.settle();
	await device.report("PASS");
	await fleet.hurry();
	await expect
		.poll(async () => (await fleet.mails())[0].state)
		.toBe("NOT_NEEDED");
	await fleet.settle();
	await device.report("FAIL");
	await fleet.settle();
	await fleet.hurry();
	expect((await sink.next()).text).toContain("- laptop, since ");
});

test("a MINOR nonconformity, a channel that is off and a service without a mail server cause no mail", async () => {
	const fleet = await makeFleet();
	const ada = await fleet.person("ada");
	const device = await fleet.device("laptop", ada);
	// There is no channel yet.
	await device.report("FAIL");
	await fleet.settle();
	await fleet.addChannel();
	await device.report("FAIL", MINOR);
	await fleet.settle();
	const { nonconformities } = await fleet.use("listNonconformities");
	expect(nonconformities).toHaveLength(2);
	expect(await fleet.mails()).toEqual([]);

	const silent = await shareService();
	const other = await makeFleet(silent);
	await other.sql(
		`insert into notification_channels
			(organization_id, id, kind, name, digest_weekday, next_digest_at)
		values ($1, $1, 'DEVICE_OWNERS', 'Owners', 1, now() + interval '1 day')`,
		[other.organization_id],
	);
	const laptop = await other.device("laptop", await other.person("ada"));
	await laptop.report("FAIL");
	// The service itself opens it.
	await expect
		.poll(
			async () => {
				silent.service.wake();
				const { nonconformities } = await other.use("listNonconformities");
				return nonconformities.length;
			},
			{ timeout: 90_000 },
		)
		.toBe(1);
	expect(await other.mails()).toEqual([]);
});

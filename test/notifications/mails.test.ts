import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { tellOfKeys } from "../../src/devices/ending-keys.ts";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { sendTo } from "../support/console-client.ts";
import { zoneOfAnotherDay } from "../support/zone-of-another-day.ts";
import { messageId, openStand, type Stand } from "./stand.ts";

let stand: Stand;
beforeAll(async () => {
	stand = await openStand();
});
afterEach(() => stand.reset());
afterAll(() => stand.close());

const DAY_MS = 86_400_000;

const stopIn = (text: string) => /stop-mails#(\S+)/.exec(text)?.[1] as string;

test("an administrator gets one mail about a storm, and it repeats with the same Message-ID after a crash", async () => {
	const {
		owner,
		sink,
		email,
		addChannel,
		deliveryOf,
		hurry,
		untilHandled,
		addFailingDevice,
	} = stand;
	const { id } = await addChannel("ADMINISTRATORS", {
		event_types: ["posture.failed", "device.activated"],
	});
	for (let n = 0; n < 5; n++) await addFailingDevice();
	await untilHandled();
	await hurry();
	const first = await sink.next();
	expect(first.to).toBe(email);
	expect(first.text).toContain("Full-disk encryption fails now: ");
	const sent = await deliveryOf(id, ({ state }) => state === "DELIVERED");
	expect(sent).toMatchObject({ recipient: email, event_count: 10 });
	// A process that is killed before it notes the end leaves the row like this, and the time passes.
	await owner.query(
		"update mails set state = 'QUEUED', sent_at = null, due_at = now() where id = $1",
		[sent.id],
	);
	stand.served.service.wake();
	expect(messageId((await sink.next()).text)).toBe(messageId(first.text));
	// What happens within the hour goes into one more mail, which waits.
	await addFailingDevice();
	await addFailingDevice();
	await untilHandled();
	const next = await deliveryOf(id, ({ state }) => state === "QUEUED");
	expect(next.event_count).toBe(4);
	const waitMs = Date.parse(next.next_attempt_at) - Date.now();
	expect(waitMs).toBeGreaterThan(45 * 60_000);
});

test("an administrator gets a mail that names the enrollment key that runs out", async () => {
	const { served, owner, sink, email, use, addChannel, hurry, untilHandled } =
		stand;
	await addChannel("ADMINISTRATORS");
	const { key } = await use("addEnrollmentKey", {
		name: "Intune, autumn 2026",
		max_devices: 5,
	});
	const { zone, day } = zoneOfAnotherDay(key.expires_at);
	await use("updateOrganizationSettings", { time_zone: zone });
	await owner.query("update enrollment_keys set used = 4 where id = $1", [
		key.id,
	]);
	const { pool } = served.database;
	await withTenant(pool, served.organizationId, (client) =>
		tellOfKeys(client, served.organizationId),
	);
	await untilHandled();
	await hurry();
	const { to, text } = await sink.next();
	expect(to).toBe(email);
	expect(text.replace(/=\r\n/g, "")).toContain(
		`few devices are left: Intune, autumn 2026 (until ${day}, 1 of 5 devices left)`,
	);
	await use("updateOrganizationSettings", { time_zone: "UTC" });
});

test("the owner of failing devices gets one weekly mail with a link, and can stop it with one click", async () => {
	const {
		served,
		url,
		owner,
		use,
		addChannel,
		addPerson,
		addFailingDevice,
		digestNow,
	} = stand;
	const [failing, fine] = [await addPerson(), await addPerson()];
	await addFailingDevice(failing.id);
	await addFailingDevice(failing.id);
	const device = await served.activateDevice();
	await use("updateDevice", {
		organization_id: undefined,
		id: device.id,
		owner_id: fine.id,
	});
	const { id } = await addChannel("DEVICE_OWNERS");
	const [mail] = await digestNow(id, 1);
	expect(mail?.to).toBe(failing.primary_email_address);
	expect(mail?.text).toContain("Full-disk encryption fails since");
	const token = /my-devices#(asy_myd_\w+)/.exec(mail?.text ?? "")?.[1];
	const opened = await sendTo(url, "/api/my-devices/open", { token });
	expect(opened.status).toBe(200);

	const header = /^List-Unsubscribe:\s*<([^>]+)>/im.exec(
		(mail?.text ?? "").replace(/\r?\n[ \t]+/g, ""),
	)?.[1];
	expect(mail?.text).toMatch(
		/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/im,
	);
	const path = new URL(header ?? "").pathname + new URL(header ?? "").search;
	const stops = async () =>
		(await owner.query("select from notification_stops")).rowCount;
	// Programs that fetch the address stop nothing.
	const fetched = await fetch(`${url}${path}`, { redirect: "manual" });
	expect(fetched.status).toBe(302);
	expect(fetched.headers.get("location")).toContain("/stop-mails#");
	expect(await stops()).toBe(0);
	const wrong = `${path.slice(0, -3)}${path.endsWith("AAA") ? "BBB" : "AAA"}`;
	const oneClick = (to: string) =>
		fetch(`${url}${to}`, {
			method: "POST",
			headers: { "content-type": "application/x-www-form-urlencoded" },
			body: "List-Unsubscribe=One-Click",
		});
	expect((await oneClick(wrong)).status).toBe(400);
	expect((await oneClick(path)).status).toBe(200);
	expect(await stops()).toBe(1);
	await digestNow(id, 0);
	const { rows } = await owner.query(
		"select count(*)::integer as count from mails where kind = 'DEVICE_DIGEST'",
	);
	expect(rows[0].count).toBe(1);

	const again = await sendTo(url, "/api/stop-mails/choice", {
		token: stopIn(mail?.text ?? ""),
		is_stopped: false,
	});
	expect(again.body).toEqual({ kind: "DEVICE_DIGEST", is_stopped: false });
	expect(await stops()).toBe(0);
});

test("weekly mails go out at seven in the morning of the organization", async () => {
	const { use, addChannel } = stand;
	const morning = async (timeZone: string) => {
		await use("updateOrganizationSettings", { time_zone: timeZone });
		const { channels } = await use("listNotificationChannels");
		const next = new Date(channels[0].next_digest_at);
		expect(next.getTime()).toBeGreaterThan(Date.now());
		return new Intl.DateTimeFormat("en-GB", {
			timeZone,
			weekday: "short",
			hour: "2-digit",
			minute: "2-digit",
		}).format(next);
	};
	await addChannel("OVERDUE_WORK", { digest_weekday: 3 });
	for (const zone of ["Asia/Kathmandu", "Pacific/Pago_Pago", "UTC"]) {
		expect(await morning(zone)).toBe("Wed 07:00");
	}
});

test("days in weekly mails are those of the organization's time zone", async () => {
	const { owner, use, addChannel, addPerson, addFailingDevice, digestNow } =
		stand;
	// Owners from other tests get no mail.
	await owner.query("update devices set owner_id = null");
	const person = await addPerson();
	const device = await addFailingDevice(person.id);
	const got = await use("getDevice", {
		organization_id: undefined,
		id: device.id,
	});
	const failure = zoneOfAnotherDay(got.device.postures[0].since);
	await use("updateOrganizationSettings", { time_zone: failure.zone });
	const devices = await addChannel("DEVICE_OWNERS");
	const [mail] = await digestNow(devices.id, 1);
	expect(mail?.text.replace(/=\r\n/g, "")).toContain(
		`fails since ${failure.day}`,
	);
	await use("updateOrganizationSettings", { time_zone: "UTC" });
});

test("owners of overdue work, and people who did not sign for a week, get one weekly mail, and nobody else does", async () => {
	const { owner, use, addChannel, addPerson, digestNow } = stand;
	const [late, early, signer] = [
		await addPerson(),
		await addPerson(),
		await addPerson(),
	];
	const { id } = await addChannel("OVERDUE_WORK", { digest_weekday: 5 });
	const { channels } = await use("listNotificationChannels");
	const next = new Date(channels[0].next_digest_at);
	expect(next.getUTCHours()).toBe(7);
	expect(next.getUTCDay()).toBe(5);
	expect(next.getTime()).toBeGreaterThan(Date.now());
	const task = (name: string, who: string, fields: object) =>
		use("addTask", { name, assigned_to_id: who, ...fields });
	await task("Renew the certificate", late.id, { deadline: "2020-01-31" });
	await task("Done long ago", early.id, {
		deadline: "2020-01-31",
		state: "DONE",
	});
	await task("Not yet", early.id, { deadline: "2120-01-31" });
	await use("addNonconformity", {
		title: "A late one",
		owner_id: late.id,
		due_date: "2020-02-01",
	});
	await askToSign([signer.id, early.id], signer.id);
	const { rows } = await owner.query(
		"select to_json(requested_at) #>> '{}' as at from document_signatures where person_id = $1",
		[signer.id],
	);
	const asked = zoneOfAnotherDay(rows[0].at);
	await use("updateOrganizationSettings", { time_zone: asked.zone });
	const mails = await digestNow(id, 2);
	await use("updateOrganizationSettings", { time_zone: "UTC" });
	const mailTo = ({ primary_email_address: address }: typeof late) =>
		mails.find(({ to }) => to === address)?.text;
	// Nobody without an account could open a page behind a sign-in.
	const token = /sign-document#(\S+)/.exec(mailTo(signer) ?? "")?.[1];
	const read = await sendTo(stand.url, "/api/sign-document/read", { token });
	expect(read.body.content).toBe("Lock your screen.");
	const week = new Date(Date.parse(asked.day) + 7 * DAY_MS);
	expect(mailTo(signer)?.replace(/=\r\n/g, "")).toContain(
		`Document "Acceptable use", to be signed by ${week.toISOString().slice(0, 10)}`,
	);
	const mail = mailTo(late);
	expect(mail).toContain('Task "Renew the certificate"');
	expect(mail).toContain('Nonconformity "');
	expect(mail).not.toContain("Done long ago");
});

/** Asks these people to sign a document: one of them eight days ago, the others now. */
async function askToSign(people: string[], longAgo: string): Promise<void> {
	const { use, owner } = stand;
	// The version says which organization it belongs to.
	const none = { organization_id: undefined };
	const { document } = await use("addDocument", {
		title: "Acceptable use",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: version } = await use(
		"createDraftDocumentVersion",
		{ ...none, document_id: document.id, content: "Lock your screen." },
	);
	await use("publishDocumentVersion", { ...none, id: version.id });
	await use("requestDocumentVersionSignature", {
		...none,
		document_version_id: version.id,
		person_ids: people,
	});
	await owner.query(
		"update document_signatures set requested_at = now() - interval '8 days' where person_id = $1",
		[longAgo],
	);
}

test("two processes queue the weekly mails once", async () => {
	const { owner, addChannel, addPerson, addFailingDevice, queueDigests } =
		stand;
	const person = await addPerson();
	await addFailingDevice(person.id);
	const { id } = await addChannel("DEVICE_OWNERS");
	await owner.query(
		"update notification_channels set next_digest_at = now() where id = $1",
		[id],
	);
	await Promise.all([1, 2, 3].map(queueDigests));
	const { rows } = await owner.query(
		"select count(*)::integer as count from mails where people_id = $1 and kind = 'DEVICE_DIGEST'",
		[person.id],
	);
	expect(rows[0].count).toBe(1);
});

test("an organization whose weekly mails fail does not hold up the others", async () => {
	const { served, owner, addChannel, addPerson, addFailingDevice, digestNow } =
		stand;
	const person = await addPerson();
	await addFailingDevice(person.id);
	const { id } = await addChannel("DEVICE_OWNERS");
	// The ids of organizations are random, so one of these comes first in all likelihood.
	for (let n = 0; n < 4; n++) {
		const other = await createOrganization(served.database.pool, "Other");
		await owner.query(
			`insert into notification_channels
				(organization_id, id, kind, name, digest_weekday, next_digest_at)
			values ($1, $2, 'DEVICE_OWNERS', 'broken', 1, now())`,
			[other, makeId(other, "notification_channel")],
		);
	}
	await owner.query(`
		create function fail() returns trigger language plpgsql as $$
		begin raise 'no'; end $$;
		create trigger fail before update on notification_channels for each row
			when (old.name = 'broken') execute function fail()`);
	await digestNow(id, 1);
	await owner.query("drop function fail cascade");
	await owner.query("delete from notification_channels where name = 'broken'");
});

test("a mail that the service cannot write is tried at most 12 times, and says so", async () => {
	const { addChannel, deliveryOf, hurry, owner, untilHandled, use } = stand;
	const { id } = await addChannel("ADMINISTRATORS", {
		event_types: ["record.created"],
	});
	await use("addVendor", { name: "A vendor" });
	await untilHandled();
	// No release has such an event, so the text cannot be made.
	await owner.query("update events set type = 'nothing.happened'");
	await owner.query(
		"update mails set attempts = 11, due_at = now() where channel_id = $1",
		[id],
	);
	await hurry();
	const failed = await deliveryOf(id, ({ state }) => state === "FAILED");
	expect(failed).toMatchObject({
		attempts: 12,
		failure: "Assay had an internal error; the log of the service says more",
	});
});

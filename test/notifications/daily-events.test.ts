import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeLogger } from "../../src/log.ts";
import {
	type DailyData,
	startDailyEvents,
	storeDailyEvents,
} from "../../src/notifications/daily-events.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { openStand, type Stand } from "./stand.ts";

const EVENTS = ["work.overdue", "reviews.due", "signatures.missing"];

let stand: Stand;
beforeAll(async () => {
	stand = await openStand();
});
afterEach(async () => {
	await stand.reset();
	for (const table of [
		"webhook_deliveries",
		"webhooks",
		"events",
		"tasks",
		"nonconformities",
		"vendors",
		"audits",
		"frameworks",
		"document_signatures",
		"documents",
	]) {
		await stand.owner.query(`delete from ${table}`);
	}
});
afterAll(() => stand.close());

const dayFromNow = (days: number) =>
	new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Sets the clock of the organization to an hour of the day, and returns its date. */
async function beAtHour(hour: number): Promise<string> {
	const behind = new Date().getUTCHours() - hour;
	// In Etc/GMT+5, it is five hours earlier than in UTC.
	const time_zone =
		behind > 12
			? `Etc/GMT-${24 - behind}`
			: `Etc/GMT${behind < 0 ? behind : `+${behind}`}`;
	await stand.owner.query(
		"update organizations set time_zone = $1 where id = $2",
		[time_zone, stand.served.organizationId],
	);
	const { rows } = await stand.owner.query(
		"select to_char(now() at time zone $1, 'YYYY-MM-DD') as today",
		[time_zone],
	);
	return rows[0].today;
}

/** Lets the receivers be older than this morning. */
async function age(): Promise<void> {
	for (const table of ["notification_channels", "webhooks"]) {
		await stand.owner.query(
			`update ${table} set updated_at = now() - interval '2 days'`,
		);
	}
}

/** Does the work of one process once. */
async function look(): Promise<void> {
	const { pool } = stand.served.database;
	const poller = startDailyEvents(pool, stand.url, makeLogger("silent"));
	await poller.idle();
	await poller.stop();
}

async function storedEvents() {
	const { rows } = await stand.owner.query<{
		type: string;
		data: DailyData;
		is_handled: boolean;
	}>(
		`select type, data, handled_at is not null as is_handled from events
		where type = any ($1) order by type`,
		[EVENTS],
	);
	return rows;
}

async function addOverdueTasks(count: number): Promise<string[]> {
	const ids = [];
	for (let n = 1; n <= count; n++) {
		const { task } = await stand.use("addTask", {
			name: `Task ${n}`,
			deadline: dayFromNow(n - 20),
		});
		ids.push(task.id);
	}
	return ids;
}

const addWebhook = (events: string[]) =>
	stand.use("addWebhook", { url: stand.address, event_types: events });

test("a webhook gets the counts, the first ids and the address of each list, and no name", async () => {
	const { use, arrived, served, url } = stand;
	await addWebhook(EVENTS);
	await age();
	const today = await beAtHour(12);
	const tasks = await addOverdueTasks(7);
	await use("addTask", {
		name: "Done",
		deadline: dayFromNow(-9),
		state: "DONE",
	});
	await use("addTask", { name: "Today", deadline: today });
	const { nonconformity } = await use("addNonconformity", {
		title: "Backup",
		due_date: dayFromNow(-5),
	});
	const { vendor: late } = await use("addVendor", {
		name: "Late",
		next_review_date: dayFromNow(-3),
	});
	const { vendor: soon } = await use("addVendor", {
		name: "Soon",
		next_review_date: dayFromNow(10),
	});
	await use("addVendor", { name: "Far", next_review_date: dayFromNow(30) });
	const { framework } = await use("addFramework", { name: "ISO 27001" });
	const dated = { framework_id: framework.id, starts_on: dayFromNow(-1) };
	const { audit } = await use("addAudit", { ...dated, name: "Not begun" });
	await use("addAudit", { ...dated, name: "Over", state: "COMPLETED" });
	await look();
	const seen = (await arrived(2)).map(({ body }) => body);
	const list = `${url}/o/${served.organizationId}/r`;
	const work = seen.find(({ type }) => type === "work.overdue");
	expect(work.data).toMatchObject({
		organization_id: served.organizationId,
		record_id: served.organizationId,
		date: today,
		count: 8,
	});
	const byKind = (kind: string) =>
		work.data.lists.find((one: { kind: string }) => one.kind === kind);
	expect(work.data.lists).toHaveLength(2);
	expect(byKind("task")).toEqual({
		kind: "task",
		field: "deadline",
		count: 7,
		overdue: 7,
		signatures: null,
		record_ids: tasks.slice(0, 5),
		url: `${list}/task?due=overdue`,
	});
	expect(byKind("nonconformity")).toMatchObject({
		field: "due_date",
		count: 1,
		record_ids: [nonconformity.id],
	});
	const reviews = seen.find(({ type }) => type === "reviews.due");
	expect(reviews.data.lists).toHaveLength(2);
	expect(reviews.data.lists).toContainEqual({
		kind: "audit",
		field: "starts_on",
		count: 1,
		overdue: 1,
		signatures: null,
		record_ids: [audit.id],
		url: `${list}/audit?state=NOT_STARTED&starts_on_until=${reviews.data.until}`,
	});
	expect(reviews.data.lists).toEqual(
		expect.arrayContaining([
			{
				kind: "vendor",
				field: "next_review_date",
				count: 2,
				overdue: 1,
				signatures: null,
				record_ids: [late.id, soon.id],
				url: `${list}/vendor?next_review_date_until=${reviews.data.until}`,
			},
		]),
	);
	expect(JSON.stringify(seen)).not.toMatch(/Task 1|Late|Backup/);
	// The list behind the address has the same records.
	const { vendors } = await use("listVendors", {
		filter: { next_review_date_until: reviews.data.until },
	});
	expect(vendors).toHaveLength(2);
});

test("a chat names the first records, and links to each list", async () => {
	const { use, arrived, addChannel, hurry, untilHandled, addPerson } = stand;
	await addChannel("SLACK", { event_types: EVENTS });
	await age();
	await beAtHour(12);
	await addOverdueTasks(7);
	const person = await addPerson();
	const { document } = await use("addDocument", {
		title: "Code of conduct",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: version } = await use(
		"createDraftDocumentVersion",
		{
			organization_id: undefined,
			document_id: document.id,
			content: "Be kind.",
		},
	);
	await use("publishDocumentVersion", {
		organization_id: undefined,
		id: version.id,
	});
	await use("requestDocumentVersionSignature", {
		organization_id: undefined,
		document_version_id: version.id,
		person_ids: [person.id],
	});
	const lacking = async () =>
		(await use("listDocuments", { filter: { lacks_signatures: true } }))
			.documents;
	expect(await lacking()).toEqual([]);
	await stand.owner.query(
		"update document_signatures set requested_at = now() - interval '8 days'",
	);
	expect(await lacking()).toMatchObject([{ id: document.id }]);
	await look();
	await untilHandled();
	await hurry();
	const [message] = await arrived(1);
	const { text } = message?.body ?? {};
	expect(text).toContain(
		"• Overdue tasks (7): Task 1, Task 2, Task 3, Task 4, Task 5 and 2 more <http",
	);
	expect(text).toContain("/r/task?due=overdue|Open the list>");
	expect(text).toContain(
		"• Documents that lack signatures (1, with 1 missing): Code of conduct <http",
	);
	expect(text).toContain("/r/document?lacks_signatures=true|Open the list>");
	expect(text).not.toContain("Reviews");
});

test("each event is made once a day, also by several processes, and again on the next day", async () => {
	const { served, owner } = stand;
	await addWebhook(EVENTS);
	await age();
	const today = await beAtHour(12);
	await addOverdueTasks(1);
	const { organizationId } = served;
	// The check of the candidates is skipped, as if both processes had passed it.
	await Promise.all(
		[1, 2, 3, 4].map(() =>
			withTenant(served.database.pool, organizationId, (client) =>
				storeDailyEvents(client, organizationId, stand.url),
			),
		),
	);
	await look();
	expect(
		(await storedEvents()).map(({ type, data }) => [type, data.date]),
	).toEqual(EVENTS.toSorted().map((type) => [type, today]));
	await owner.query(
		'update events set data = data || \'{"date": "2026-01-01"}\' where type = any ($1)',
		[EVENTS],
	);
	await look();
	expect(await storedEvents()).toHaveLength(6);
});

test("what has nothing to tell is sent to nobody", async () => {
	await addWebhook(EVENTS);
	await age();
	await beAtHour(12);
	await addOverdueTasks(1);
	await look();
	expect(
		(await storedEvents()).map(({ type, data, is_handled }) => [
			type,
			data.count,
			type === "work.overdue" ? null : is_handled,
		]),
	).toEqual([
		["reviews.due", 0, true],
		["signatures.missing", 0, true],
		["work.overdue", 1, null],
	]);
	await stand.untilHandled();
	const { rows } = await stand.owner.query(
		"select event_type from webhook_deliveries where event_type = any ($1)",
		[EVENTS],
	);
	expect(rows).toEqual([{ event_type: "work.overdue" }]);
});

test("nothing is made before 7:00, for a receiver of today, or for events that nobody has chosen", async () => {
	await addOverdueTasks(1);
	const other = await createOrganization(stand.served.database.pool, "Other");
	await beAtHour(12);
	await addWebhook(EVENTS);
	await look();
	expect(await storedEvents()).toEqual([]);
	await beAtHour(3);
	await age();
	await look();
	expect(await storedEvents()).toEqual([]);
	await stand.owner.query("update webhooks set is_enabled = false");
	await beAtHour(12);
	await stand.addChannel("SLACK", { event_types: ["posture.failed"] });
	await age();
	await look();
	expect(await storedEvents()).toEqual([]);
	await stand.owner.query("update webhooks set is_enabled = true");
	await age();
	await look();
	expect(await storedEvents()).toHaveLength(3);
	const { rowCount } = await stand.owner.query(
		"select from events where organization_id = $1 and type = any ($2)",
		[other, EVENTS],
	);
	expect(rowCount).toBe(0);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

/** The date in Kiritimati is one or two days after the date in Pago Pago, at any time. */
const EAST = "Pacific/Kiritimati";
const WEST = "Pacific/Pago_Pago";
const dayIn = (timeZone: string) =>
	new Intl.DateTimeFormat("sv-SE", { timeZone }).format(new Date());

const setZone = (time_zone: unknown, token?: string) =>
	tools.call(
		"updateOrganizationSettings",
		{ organization_id: tools.organizationId, time_zone },
		token,
	);

test("an organization's days are those of UTC until an administrator sets its time zone", async () => {
	const organization_id = tools.organizationId;
	const before = await tools.use("getOrganization", { organization_id });
	expect(before.organization.time_zone).toBe("UTC");
	expect((await setZone(EAST, tools.member.token)).status).toBe(403);
	const { body } = await setZone(EAST);
	expect(body.organization.time_zone).toBe(EAST);
});

test("today is the date in the organization's time zone, in lists and in the overview", async () => {
	const organization_id = tools.organizationId;
	for (const zone of [EAST, WEST]) {
		await setZone(zone);
		const { organizations } = await tools.use("listOrganizations", {});
		expect(
			organizations.find(({ id }: { id: string }) => id === organization_id),
		).toMatchObject({ time_zone: zone, today: dayIn(zone) });
		const overview = await tools.use("getOverview", { organization_id });
		expect(overview.today).toBe(dayIn(zone));
	}
});

test("work is overdue and a contract has ended when the organization's day is over", async () => {
	const organization_id = tools.organizationId;
	const day = dayIn(WEST);
	await tools.use("addTask", { organization_id, name: "Due", deadline: day });
	await tools.use("addPeople", {
		organization_id,
		full_name: "Ada Last",
		primary_email_address: "ada.last@example.com",
		kind: "EMPLOYEE",
		contract_end_date: day,
	});
	const look = async () => {
		const { tasks } = await tools.use("getOverview", { organization_id });
		const { total } = await tools.use("listPeople", {
			organization_id,
			filter: { exclude_contract_ended: true, query: "Ada Last" },
		});
		return { overdue: tasks.overdue, staff: total };
	};
	await setZone(WEST);
	expect(await look()).toEqual({ overdue: 0, staff: 1 });
	await setZone(EAST);
	expect(await look()).toEqual({ overdue: 1, staff: 0 });
});

test("a linked snapshot has the day on which it was taken, in the organization's time zone", async () => {
	const organization_id = tools.organizationId;
	const { snapshot } = await tools.use("takeSnapshot", {
		...{ organization_id, name: "Before the audit", type: "TASKS" },
	});
	const { tasks } = await tools.use("listTasks", { organization_id });
	await tools.use("linkRecords", {
		record_id: tasks[0].id,
		linked_record_id: snapshot.id,
	});
	for (const timeZone of [EAST, WEST]) {
		await setZone(timeZone);
		const { linked_records } = await tools.use("listLinkedRecords", {
			record_id: tasks[0].id,
		});
		const taken = new Date(snapshot.taken_at);
		expect(linked_records).toMatchObject([
			{
				details: {
					created_on: new Intl.DateTimeFormat("sv-SE", { timeZone }).format(
						taken,
					),
				},
			},
		]);
	}
});

test.each([
	"",
	"Mars/Olympus",
	"+01:00",
	"UTC+3",
	"europe/paris",
	"x".repeat(65),
	5,
])("%j is not a time zone: 400, with the field", async (zone) => {
	expect(await setZone(zone)).toMatchObject({
		status: 400,
		body: { fields: [{ field: "time_zone" }] },
	});
});

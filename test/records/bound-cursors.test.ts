import { afterAll, beforeAll, expect, test } from "vitest";
import { postureResult, type TestDevice } from "../support/service.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

// This file uses cursors with another input than the one that returned them.

let tools: TestTools;
let organization_id: string;
let devices: TestDevice[];
beforeAll(async () => {
	tools = await shareTools();
	organization_id = tools.organizationId;
	devices = await tools.activateDevices(3);
	for (const { key } of devices) {
		for (const status of ["PASS", "FAIL", "PASS"]) {
			const observed_at = new Date().toISOString();
			const results = ["DISK_ENCRYPTION", "OWN"].map((check_key) =>
				postureResult({ check_key, status, observed_at }),
			);
			const { ok } = await tools.post("postures", { results }, { key });
			expect(ok).toBe(true);
		}
	}
	for (const name of ["Loss", "Theft", "Fire"]) {
		await addRisk({ name });
	}
});
afterAll(() => tools.close());

const addRisk = (fields: object) =>
	tools.use("addRisk", {
		organization_id,
		category: "Security",
		treatment: "ACCEPTED",
		inherent_likelihood: 1,
		inherent_impact: 1,
		...fields,
	});

/** Reads the first page, and the second one with another input. */
async function continued(
	tool: string,
	first: object,
	second: object,
	token?: string,
): Promise<{ status: number; body: Json }> {
	const { next_cursor: cursor } = await tools.use(tool, { ...first, size: 1 });
	expect(cursor, tool).toEqual(expect.any(String));
	return tools.call(tool, { ...second, cursor, size: 1 }, token);
}

test("a cursor with another filter, organization or device is an error", async () => {
	const other = await tools.makeUser({
		[organization_id]: "admin",
		[tools.otherOrganizationId]: "admin",
	});
	const [one, two] = devices.map(({ id }) => ({ device_id: id }));
	const inOther = { organization_id: tools.otherOrganizationId };
	const linux = { organization_id, filter: { platform: "LINUX" } };
	for (const [tool, first, second] of [
		["listDevices", linux, { organization_id }],
		["listDevices", { organization_id }, linux],
		["listRisks", { organization_id }, inOther],
		[
			"listRisks",
			{ organization_id },
			{ organization_id, filter: { query: "Loss" } },
		],
		["listAuditLog", { organization_id }, inOther],
		[
			"listAuditLog",
			{ organization_id },
			{ organization_id, filter: { outcome: "DONE" } },
		],
		["listDevicePostures", one, two],
		["listDevicePostures", one, { ...one, check_key: "OWN" }],
		["listDevicePostureReports", one, two],
	] as const) {
		const answer = await continued(
			tool,
			first ?? {},
			second ?? {},
			other.token,
		);
		expect(answer, `${tool} ${JSON.stringify(second)}`).toMatchObject({
			status: 400,
			body: {
				message: expect.stringContaining(
					"cursor: belongs to another filter or organization",
				),
			},
		});
	}
});

test("a cursor may be used with another size and detail, by another user, and with its filters in another order", async () => {
	const filter = { platform: "LINUX", status: "ACTIVE", query: "laptop" };
	const turned = Object.fromEntries(Object.entries(filter).reverse());
	const { status, body } = await continued(
		"listDevices",
		{ organization_id, filter },
		{ organization_id, filter: turned, detail: "brief" },
		tools.viewer.token,
	);
	expect(status).toBe(200);
	expect(body).toMatchObject({ total: 3, total_is_exact: true });
});

test('a cursor of records of "me" belongs to one person', async () => {
	const { rows } = await tools.database.owner.query<{
		id: string;
		email: string;
	}>("select id, email from users where id = any($1)", [
		[tools.admin.id, tools.viewer.id],
	]);
	for (const { id, email } of rows) {
		const { people } = await tools.use("addPeople", {
			organization_id,
			full_name: email,
			primary_email_address: email,
			kind: "EMPLOYEE",
		});
		for (const name of ["Flood", "Frost"]) {
			await addRisk({ name: `${name} of ${id}`, owner_id: people.id });
		}
	}
	const mine = { organization_id, filter: { owner: "me" } };
	const own = await continued("listRisks", mine, mine);
	expect(own.body).toMatchObject({ total: 2, next_cursor: null });
	const others = await continued("listRisks", mine, mine, tools.viewer.token);
	expect(others.status).toBe(400);
});

test("a cursor stays valid while a group gets and loses devices", async () => {
	const { device_group } = await tools.use("addDeviceGroup", {
		organization_id,
		name: "Laptops",
		device_ids: devices.map(({ id }) => id),
	});
	const input = {
		organization_id,
		filter: { group_id: device_group.id },
		size: 1,
	};
	const { next_cursor: cursor } = await tools.use("listDevices", input);
	await tools.use("updateDeviceGroup", {
		id: device_group.id,
		add_device_ids: [(await tools.activateDevice()).id],
	});
	const next = await tools.use("listDevices", { ...input, cursor });
	expect(next.devices).toHaveLength(1);
});

test("a cursor of the list of organizations stays valid when the user joins another one", async () => {
	const user = await tools.makeUser({
		[organization_id]: "viewer",
		[tools.otherOrganizationId]: "viewer",
	});
	const list = (input: object) =>
		tools.use("listOrganizations", { size: 1, ...input }, user.token);
	const { next_cursor: cursor } = await list({});
	await tools.database.owner.query(
		`insert into memberships (organization_id, user_id, role)
		select id, $1, 'viewer' from organizations where id <> all($2) limit 1`,
		[user.id, [organization_id, tools.otherOrganizationId]],
	);
	expect((await list({ cursor })).organizations).toHaveLength(1);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { makeOrganizationId } from "../../src/id.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

test("the list contains the organizations of the token's user, with the role in each, page by page", async () => {
	const user = await tools.makeUser({
		[tools.organizationId]: "viewer",
		[tools.otherOrganizationId]: "admin",
	});
	const list = (input: object) =>
		tools.use("listOrganizations", input, user.token);
	const byName = { order_by: { field: "name" } };
	const all = await list(byName);
	expect(all.organizations).toMatchObject([
		{ id: tools.organizationId, name: "Acme", role: "viewer" },
		{ id: tools.otherOrganizationId, name: "Other", role: "admin" },
	]);
	expect(all.next_cursor).toBeNull();
	const first = await list({ ...byName, size: 1 });
	const second = await list({ ...byName, size: 1, cursor: first.next_cursor });
	expect([...first.organizations, ...second.organizations]).toEqual(
		all.organizations,
	);
	expect(await list({ filter: { query: "oth" } })).toMatchObject({
		organizations: [{ name: "Other" }],
	});
});

test("a user without an organization sees none", async () => {
	const nobody = await tools.makeUser({});
	expect(await tools.use("listOrganizations", {}, nobody.token)).toEqual({
		organizations: [],
		next_cursor: null,
		total: 0,
		total_is_exact: true,
		today: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
		toolsets: expect.arrayContaining(["risks", "devices", "audit_log"]),
	});
});

test("a member can change name and description, and a viewer cannot", async () => {
	const organization_id = tools.organizationId;
	const change = { organization_id, description: "Makes everything" };
	const { body } = await tools.call(
		"updateOrganization",
		change,
		tools.member.token,
	);
	expect(body.organization).toMatchObject({
		name: "Acme",
		description: "Makes everything",
	});
	const read = () =>
		tools.use("getOrganization", { organization_id }, tools.viewer.token);
	expect((await read()).organization).toEqual(body.organization);
	await tools.use("updateOrganization", { organization_id, description: null });
	expect((await read()).organization.description).toBeNull();
	expect(
		await tools.call("updateOrganization", change, tools.viewer.token),
	).toMatchObject({ status: 403 });
	expect(
		await tools.call("updateOrganization", { organization_id, name: null }),
	).toMatchObject({ status: 400, body: { fields: [{ field: "name" }] } });
});

test("an admin can leave out first steps and take them up again", async () => {
	const organization_id = tools.organizationId;
	const skip = async (skipped_steps: unknown) =>
		tools.call("updateOrganizationSettings", {
			organization_id,
			skipped_steps,
		});
	const { body } = await skip(["DEVICE", "PEOPLE"]);
	expect(body.organization.skipped_steps).toEqual(["DEVICE", "PEOPLE"]);
	const updatedAt = body.organization.updated_at;
	const again = await skip(["DEVICE", "PEOPLE"]);
	expect(again.body.organization.updated_at).toBe(updatedAt);
	for (const wrong of [["LUNCH"], ["DEVICE", "DEVICE"], "DEVICE", null]) {
		expect((await skip(wrong)).status).toBe(400);
	}
	expect((await skip([])).body.organization.skipped_steps).toEqual([]);
});

test("only an admin can change intervals, and a device receives them with its next heartbeat", async () => {
	const settings = {
		organization_id: tools.organizationId,
		heartbeat_interval_seconds: 120,
		posture_interval_seconds: 7200,
	};
	expect(
		await tools.call(
			"updateOrganizationSettings",
			settings,
			tools.member.token,
		),
	).toMatchObject({ status: 403 });
	await tools.use("updateOrganizationSettings", settings);
	const device = await tools.enrollDevice();
	const answer = await tools.post(
		"heartbeat",
		{
			hardware_uuid: device.hardwareUuid,
			hostname: "laptop",
			platform: "LINUX",
			os_version: "Debian 12",
			agent_version: "1.0.0",
		},
		{ key: device.key },
	);
	expect(await answer.json()).toMatchObject({
		heartbeat_interval_seconds: 120,
		posture_interval_seconds: 7200,
	});
	expect(
		await tools.call("updateOrganizationSettings", {
			...settings,
			heartbeat_interval_seconds: 29,
		}),
	).toMatchObject({ status: 400 });
});

test("somebody else's organization and one that does not exist get the same 403", async () => {
	const read = async (organization_id: string) => {
		const { status, body } = await tools.call("getOrganization", {
			organization_id,
		});
		return { status, body };
	};
	const foreign = await read(tools.otherOrganizationId);
	expect(foreign.status).toBe(403);
	expect(await read(makeOrganizationId())).toEqual(foreign);
	expect(await read("nonsense")).toEqual(foreign);
});

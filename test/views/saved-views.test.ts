import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape depends on the call.
type Json = any;

let served: TestConsole;
let organization_id: string;
let admin: Session;
let member: Session;
let viewer: Session;
beforeAll(async () => {
	served = await shareConsole();
	organization_id = served.organizationId;
	[admin, member, viewer] = await Promise.all([
		served.signIn("admin"),
		served.signIn("member"),
		served.signIn("viewer"),
	]);
});
afterAll(() => served.close());

const save = (by: Session, list: string, name: string, more: object = {}) =>
	by.call("saveView", {
		organization_id,
		list,
		name,
		search: { treatment: "ACCEPTED", sort: "name", q: "fire" },
		...more,
	});

const named = async (by: Session, list: string): Promise<string[]> => {
	const { saved_views } = await by.use("listSavedViews", {
		organization_id,
		list,
	});
	return saved_views.map(({ name }: Json) => name);
};

const auditOf = async (id: string) => {
	const { audit_entries } = await admin.use("listAuditLog", {
		organization_id,
		filter: { record_id: id },
	});
	return audit_entries.map(({ operation, changes }: Json) => [
		operation,
		changes,
	]);
};

describe("an own view", () => {
	test("is seen and changed by nobody else, also if its owner is a viewer", async () => {
		const { status, body } = await save(viewer, "risk", "Accepted");
		expect(status).toBe(200);
		expect(body.saved_view).toMatchObject({ list: "risk", is_shared: false });
		const { id } = body.saved_view;
		expect(await named(viewer, "risk")).toEqual(["Accepted"]);
		expect(await named(viewer, "task")).toEqual([]);
		expect(await named(admin, "risk")).toEqual([]);
		expect((await save(admin, "risk", "Mine", { id })).status).toBe(404);
		expect((await admin.call("deleteView", { id })).status).toBe(404);
		expect((await save(viewer, "task", "Moved", { id })).status).toBe(404);
		const renamed = await save(viewer, "risk", "All accepted", { id });
		expect(renamed.body.saved_view).toMatchObject({ id, is_shared: false });
		expect(await named(viewer, "risk")).toEqual(["All accepted"]);
		await viewer.use("deleteView", { id });
		expect(await named(viewer, "risk")).toEqual([]);
		expect(await auditOf(id)).toEqual([]);
	});

	test("keeps a filter with several values", async () => {
		const search = { check_state: ["IN_GRACE", "FAILING"] };
		const { status, body } = await save(viewer, "device", "Fails", { search });
		expect(status).toBe(200);
		expect(body.saved_view.search).toEqual(search);
	});

	test("goes with its owner's membership, and a shared one stays", async () => {
		const leaver = await served.signIn("member");
		await save(leaver, "asset", "Mine");
		await save(leaver, "asset", "Ours", { is_shared: true });
		await admin.use("removeMember", {
			organization_id,
			user_id: leaver.user.id,
		});
		const { rows } = await served.database.owner.query(
			"select name from saved_views where organization_id = $1 and list = 'asset'",
			[organization_id],
		);
		expect(rows).toEqual([{ name: "Ours" }]);
	});
});

describe("a shared view", () => {
	test("is made and changed by members and not by viewers, and is in the audit log", async () => {
		expect(
			(await save(viewer, "task", "Ours", { is_shared: true })).status,
		).toBe(403);
		const { body } = await save(member, "task", "Ours");
		const { id } = body.saved_view;
		await save(member, "task", "Ours", { id, is_shared: true });
		expect(await named(viewer, "task")).toEqual(["Ours"]);
		for (const denied of [
			await save(viewer, "task", "Mine", { id }),
			await viewer.call("deleteView", { id }),
		]) {
			expect(denied.status).toBe(403);
			expect(denied.body.message).toMatch(/^permission denied:/);
		}
		// The view stays shared, although this call does not say so.
		await save(admin, "task", "Ours", { id, search: { due: "overdue" } });
		await member.use("deleteView", { id });
		const search = { q: "fire", sort: "name", treatment: "ACCEPTED" };
		expect(await auditOf(id)).toEqual([
			[
				"deleteView",
				{
					list: { before: "task" },
					name: { before: "Ours" },
					search: { before: { due: "overdue" } },
				},
			],
			["saveView", { search: { before: search, after: { due: "overdue" } } }],
			[
				"saveView",
				{
					list: { after: "task" },
					name: { after: "Ours" },
					search: { after: search },
				},
			],
		]);
	});

	test("is not found from another organization", async () => {
		const { body } = await save(member, "audit", "Ours", { is_shared: true });
		const { organization: other } = await admin.use("createOrganization", {
			name: "Other",
		});
		const stranger = await served.signIn("admin", other.id);
		const { id } = body.saved_view;
		const stolen = { id, organization_id: other.id };
		expect((await save(stranger, "audit", "Mine", stolen)).status).toBe(404);
		expect((await stranger.call("deleteView", { id })).status).toBe(404);
		expect(
			(
				await stranger.call("listSavedViews", {
					organization_id,
					list: "audit",
				})
			).status,
		).toBe(403);
	});
});

describe("limits", () => {
	test("a name is used once a list by each owner", async () => {
		expect((await save(member, "vendor", "Mine")).status).toBe(200);
		const again = await save(member, "vendor", "MINE");
		expect(again.status).toBe(400);
		expect(again.body.message).toBe(
			"name: is already used by another view of this list",
		);
		expect((await save(admin, "vendor", "Mine")).status).toBe(200);
		expect(
			(await save(member, "vendor", "Mine", { is_shared: true })).status,
		).toBe(200);
	});

	test("a member has at most 50 views of a list", async () => {
		for (let number = 1; number <= 50; number++) {
			await save(member, "control", `View ${number}`);
		}
		const { status, body } = await save(member, "control", "One more");
		expect(status).toBe(400);
		expect(body.message).toContain("already have 50 views");
		expect((await save(member, "measure", "One")).status).toBe(200);
	});

	test("a view has few and short parameters", async () => {
		const many = Object.fromEntries(
			Array.from({ length: 51 }, (_, at) => [`name_${at}`, "x"]),
		);
		for (const search of [
			many,
			{ q: "x".repeat(301) },
			{ q: [1] },
			{ q: Array(21).fill("x") },
		]) {
			expect((await save(member, "datum", "Wrong", { search })).status).toBe(
				400,
			);
		}
	});
});

describe("lists", () => {
	test("the owner `me` is the caller's own person", async () => {
		const { people } = await admin.use("addPeople", {
			organization_id,
			full_name: "Me Myself",
			primary_email_address: member.user.email,
			kind: "EMPLOYEE",
		});
		const taskOf = (assigned_to_id: string | null) =>
			admin.use("addTask", { organization_id, name: "T", assigned_to_id });
		const { task: own } = await taskOf(people.id);
		await taskOf(null);
		const mine = (by: Session) =>
			by.call("listTasks", {
				organization_id,
				filter: { assigned_to: "me" },
			});
		const { body } = await mine(member);
		expect(body.tasks.map(({ id }: Json) => id)).toEqual([own.id]);
		const { body: rejected, status } = await mine(viewer);
		expect(status).toBe(400);
		expect(rejected.message).toContain("has your e-mail address");
		const devices = await member.use("listDevices", {
			organization_id,
			filter: { owner: "me" },
		});
		expect(devices.devices).toEqual([]);
	});

	test("an export has only the selected rows, in the order of the list", async () => {
		const ids: string[] = [];
		for (const name of ["Cedar", "Alder", "Birch"]) {
			const { vendor } = await admin.use("addVendor", {
				organization_id,
				name,
			});
			ids.push(vendor.id);
		}
		const exported = (query: string) =>
			viewer.get(
				`/api/console/export/listVendors.csv?organization_id=${organization_id}&order_by.field=name&ids=${query}`,
			);
		const text = await (await exported(ids.slice(0, 2).join(","))).text();
		const lines = text.trim().split("\r\n").slice(1);
		expect(lines.map((line) => /Alder|Birch|Cedar/.exec(line)?.[0])).toEqual([
			"Alder",
			"Cedar",
		]);
		for (const wrong of ["", "nothing", Array(201).fill(ids[0]).join(",")]) {
			const answer = await exported(wrong);
			expect(answer.status).toBe(400);
			expect(await answer.text()).toContain("1 to 200 ids");
		}
	});
});

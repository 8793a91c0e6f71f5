import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../src/operations.ts";
import { toolsetOf } from "../../src/records/kind.ts";
import { recordKinds } from "../../src/registers/all.ts";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { makeApiToken } from "../support/people.ts";
import type { Json } from "../support/tools.ts";

let served: TestConsole;
let admin: Session;
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
});
afterAll(() => served.close());

const here = () => ({ organization_id: served.organizationId });

/** Signs a member in, and narrows the membership. */
async function narrowed(role: "member" | "viewer", limits: object) {
	const session = await served.signIn(role);
	const { member } = await admin.use("updateMember", {
		...here(),
		user_id: session.user.id,
		...limits,
	});
	expect(member).toMatchObject(limits);
	return session;
}

/** Calls a tool with a new API token of the session's user. Returns the HTTP status. */
async function asToken(session: Session, tool: string, input: object) {
	const { token } = await makeApiToken(served.database, session.user);
	return withToken(token, tool, input);
}

async function withToken(token: string, tool: string, input: object) {
	const { status } = await fetch(
		`${served.service.url}/api/mcp/tools/${tool}`,
		{
			method: "POST",
			headers: {
				authorization: `Bearer ${token}`,
				"content-type": "application/json",
			},
			body: JSON.stringify(input),
		},
	);
	return status;
}

describe("a membership that may write only some registers", () => {
	test("writes these, reads all, and calls no other writing operation, with a session and with a token", async () => {
		const session = await narrowed("member", {
			writable_registers: ["vendors"],
		});
		const vendor = { ...here(), name: "Cloud" };
		expect((await session.call("addVendor", vendor)).status).toBe(200);
		expect((await session.call("listRisks", here())).status).toBe(200);
		expect(await asToken(session, "addVendor", vendor)).toBe(200);
		expect(
			(
				await session.call("addRecords", {
					...here(),
					kind: "vendor",
					records: [{ name: "More" }],
				})
			).status,
		).toBe(200);
		const { status, body } = await session.call("addRecords", {
			...here(),
			kind: "measure",
			records: [{ name: "x", category: "x" }],
		});
		expect(status).toBe(403);
		expect(body.message).toContain("may write only the registers vendors");

		const mayWrite = new Set([
			"vendors",
			"vendor_reviews",
			"comments",
			"views",
		]);
		const others = operations.filter(
			(operation) =>
				operation.access === "write" &&
				!operation.isReadOnly &&
				!mayWrite.has(operation.toolset),
		);
		expect(others.length).toBeGreaterThan(30);
		const { token } = await makeApiToken(served.database, session.user);
		for (const { name, tenant } of others) {
			const input =
				tenant === "organization_id"
					? here()
					: { [tenant ?? ""]: served.organizationId };
			const { status } = await session.call(name, input);
			// Those that look at the register of each call refuse the input first.
			const expected =
				/^((add|archive|link|unlink)Records|(un)?linkControl\w+|(approve|reject)DocumentVersion)$/.test(
					name,
				)
					? 400
					: 403;
			expect([name, status]).toEqual([name, expected]);
			// A tool of the console alone does not exist for a token.
			const atTool = await withToken(token, name, input);
			expect([name, [expected, 404]]).toEqual([
				name,
				expect.arrayContaining([atTool]),
			]);
		}
	});

	test("is shown only the tools that it may call", async () => {
		const listed = async (writable_registers: string[]) => {
			const session = await narrowed("member", { writable_registers });
			const { token } = await makeApiToken(served.database, session.user);
			const response = await fetch(`${served.service.url}/api/mcp/v1`, {
				method: "POST",
				headers: {
					authorization: `Bearer ${token}`,
					"content-type": "application/json",
					accept: "application/json, text/event-stream",
				},
				body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
			});
			const { result } = (await response.json()) as Json;
			return result.tools
				.map(({ name }: { name: string }) => name)
				.filter((name: string) => /^(add|list)(Vendor|Risk)s?$/.test(name));
		};
		expect(await listed(["vendors"])).toEqual([
			"listRisks",
			"listVendors",
			"addVendor",
		]);
		expect(await listed(["risks"])).toEqual([
			"listRisks",
			"addRisk",
			"listVendors",
		]);
	});

	test("archives records of these, and no others", async () => {
		const session = await narrowed("member", {
			writable_registers: ["vendors"],
		});
		const { vendor } = await admin.use("addVendor", { ...here(), name: "B" });
		const { measure } = await admin.use("addMeasure", {
			...{ ...here(), name: "three", category: "IT" },
		});
		const archive = async (...record_ids: string[]) =>
			(await session.call("archiveRecords", { ...here(), record_ids })).status;
		expect(await archive(vendor.id, measure.id)).toBe(403);
		expect(await archive(vendor.id)).toBe(200);
	});

	test("links a record of these to any other, and no two others", async () => {
		const session = await narrowed("member", {
			writable_registers: ["vendors"],
		});
		const { vendor } = await admin.use("addVendor", { ...here(), name: "A" });
		const add = async (name: string) =>
			(await admin.use("addMeasure", { ...here(), name, category: "IT" }))
				.measure.id;
		const [one, two] = [await add("one"), await add("two")];
		const link = async (record_id: string, linked_record_id: string) =>
			(await session.call("linkRecords", { record_id, linked_record_id }))
				.status;
		expect(await link(vendor.id, one)).toBe(200);
		expect(await link(one, two)).toBe(403);
	});
});

describe("a membership with a last day", () => {
	test("counts on that day, and not on the next, for sessions and tokens", async () => {
		const session = await narrowed("viewer", {
			ends_on: new Date().toISOString().slice(0, 10),
		});
		expect((await session.call("listRisks", here())).status).toBe(200);
		await served.database.owner.query(
			"update memberships set ends_on = ends_on - 1 where user_id = $1",
			[session.user.id],
		);
		expect((await session.call("listRisks", here())).status).toBe(403);
		expect(await asToken(session, "listRisks", here())).toBe(403);
		const { profile } = await session.use("getProfile", {});
		expect(profile.organizations).toEqual([]);
		const { members } = await admin.use("listMembers", here());
		expect(
			members.find(
				(one: { user_id: string }) => one.user_id === session.user.id,
			),
		).toMatchObject({ is_ended: true });
		await admin.use("updateMember", {
			...here(),
			user_id: session.user.id,
			ends_on: null,
		});
		expect((await session.call("listRisks", here())).status).toBe(200);
	});

	test("that has passed is named to its user alone, and to whoever invites them again", async () => {
		const session = await narrowed("member", { ends_on: "2199-01-01" });
		const { vendor } = await session.use("addVendor", {
			...here(),
			name: "Cloud",
		});
		await served.database.owner.query(
			"update memberships set ends_on = '2020-01-31' where user_id = $1",
			[session.user.id],
		);
		const why =
			/^your membership in .+ ended on 2020-01-31; an administrator of .+ can give it a new last day$/;
		for (const [operation, input] of [
			["listRisks", here()],
			["listRisks", {}],
			["addVendor", { ...here(), name: "Water" }],
			["getVendor", { id: vendor.id }],
		] as const) {
			const { status, body } = await session.call(operation, input);
			expect([operation, status, body.message]).toEqual([
				operation,
				403,
				expect.stringMatching(why),
			]);
		}
		const { organizations, closed } = await session.use(
			"listOrganizations",
			{},
		);
		expect(organizations).toEqual([]);
		expect(closed).toEqual([
			{
				id: served.organizationId,
				message: expect.stringMatching(why),
				why: "ENDED",
			},
		]);
		const invited = await admin.call("inviteMember", {
			...here(),
			email: session.user.email,
			role: "viewer",
		});
		expect(invited.body.fields[0].message).toContain("ended on 2020-01-31");

		const left = await served.signIn("member");
		await admin.use("removeMember", { ...here(), user_id: left.user.id });
		const stranger = await left.call("listRisks", here());
		expect(stranger.status).toBe(403);
		expect(stranger.body.message).toContain("is not one of them");
		expect(await left.use("listOrganizations", {})).not.toHaveProperty(
			"closed",
		);
	});

	test("that has passed may stay while the role changes", async () => {
		const session = await narrowed("viewer", { ends_on: "2199-01-01" });
		await served.database.owner.query(
			"update memberships set ends_on = '2020-01-01' where user_id = $1",
			[session.user.id],
		);
		const { member } = await admin.use("updateMember", {
			...here(),
			user_id: session.user.id,
			role: "member",
		});
		expect(member).toMatchObject({ role: "member", is_ended: true });
	});
});

describe("an auditor", () => {
	test("reads the audit log, and calls nothing else of administrators", async () => {
		const session = await narrowed("viewer", { reads_audit_log: true });
		expect((await session.call("listAuditLog", here())).status).toBe(200);
		expect((await session.call("verifyAuditLog", here())).status).toBe(200);
		expect(await asToken(session, "listAuditLog", here())).toBe(200);
		const ofAdministrators = operations.filter(
			({ name, access, tenant }) =>
				access === "admin" &&
				tenant === "organization_id" &&
				!/^(list|verify)AuditLog$/.test(name),
		);
		expect(ofAdministrators.length).toBeGreaterThan(15);
		const { token } = await makeApiToken(served.database, session.user);
		for (const { name } of ofAdministrators) {
			const { status } = await session.call(name, here());
			expect([name, status]).toEqual([name, 403]);
			expect([403, 404]).toContain(await withToken(token, name, here()));
		}
	});
});

test("an invitation narrows the membership that it makes", async () => {
	const limits = {
		ends_on: "2199-12-31",
		writable_registers: null,
		reads_audit_log: true,
	};
	const { invitation, invitation_url } = await admin.use("inviteMember", {
		...here(),
		email: "auditor@example.com",
		role: "viewer",
		...limits,
	});
	expect(invitation).toMatchObject(limits);
	await fetch(`${served.service.url}/api/join`, {
		method: "POST",
		headers: {
			"content-type": "application/json",
			origin: served.service.url,
		},
		body: JSON.stringify({
			token: invitation_url.split("#")[1],
			name: "Ada",
			password: "correct horse battery",
		}),
	});
	const { members } = await admin.use("listMembers", {
		...here(),
		filter: { query: "auditor@example.com" },
	});
	expect(members).toMatchObject([{ role: "viewer", ...limits }]);
});

test.each([
	["a day that has passed", { ends_on: "2020-01-01" }, "ends_on"],
	[
		"an unknown register",
		{ writable_registers: ["cars"] },
		"writable_registers[0]",
	],
	["an end of an admin", { role: "admin", ends_on: "2199-01-01" }, "ends_on"],
	[
		"the audit log for an admin",
		{ role: "admin", reads_audit_log: true },
		"reads_audit_log",
	],
	[
		"registers of a viewer",
		{ role: "viewer", writable_registers: ["risks"] },
		"writable_registers",
	],
])("%s is refused, and nothing changes", async (_, limits, field) => {
	const { user } = await served.signIn("member");
	const { status, body } = await admin.call("updateMember", {
		...here(),
		user_id: user.id,
		...limits,
	});
	expect(status).toBe(400);
	expect(body.fields.map((one: { field: string }) => one.field)).toContain(
		field,
	);
	const { rows } = await served.database.owner.query(
		"select role, ends_on, writable_registers from memberships where user_id = $1",
		[user.id],
	);
	expect(rows).toEqual([
		{ role: "member", ends_on: null, writable_registers: null },
	]);
});

test("each register can be named as writable", () => {
	const toolsets = recordKinds.map((kind) => toolsetOf(kind));
	expect(new Set(toolsets).size).toBe(recordKinds.length);
	for (const toolset of toolsets) {
		expect(
			operations.some(
				(operation) =>
					operation.toolset === toolset && operation.access === "write",
			),
			toolset,
		).toBe(true);
	}
});

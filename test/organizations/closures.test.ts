import {
	Client,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeId } from "../../src/id.ts";
import {
	openOrganization,
	planDeletion,
	requireOpenOrganization,
	suspendOrganization,
} from "../../src/organizations/closures.ts";
import { GRACE_DAYS } from "../../src/organizations/days.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { joinOrganization, makeApiToken } from "../support/people.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";
import { until } from "../support/until.ts";
import { zoneOfAnotherDay } from "../support/zone-of-another-day.ts";

const REASON = "the contract has ended";
const MESSAGE = `Acme is suspended: ${REASON}`;

let served: TestConsole;
let url: string;
let person: Session;
let organizationId: string;
beforeAll(async () => {
	served = await startConsole();
	({ url } = served.service);
	({ organizationId } = served);
	person = await served.signIn("admin");
});
afterAll(() => served.close());

type Change = (
	client: Parameters<typeof suspendOrganization>[0],
) => Promise<unknown>;

/** Changes the organization, and waits until the service notices. */
async function change(work: Change, isOpen: boolean): Promise<void> {
	await withTenant(served.database.pool, organizationId, work);
	await until("the service notices", async () => {
		served.service.wake();
		const { status } = await person.call("getOrganization", {
			organization_id: organizationId,
		});
		return (status === 200) === isOpen;
	});
}
const suspend = () =>
	change(
		(client) =>
			suspendOrganization(client, systemPrincipal(), organizationId, REASON),
		false,
	);
const resume = () =>
	change(
		(client) =>
			openOrganization(client, systemPrincipal(), organizationId, "SUSPENDED"),
		true,
	);
afterEach(async () => {
	const { rows } = await served.database.owner.query(
		"select from organization_closures",
	);
	if (rows.length > 0) await resume();
});

describe("while an organization is suspended", () => {
	test("its devices get 503 with Retry-After, keep their keys, and go on afterwards", async () => {
		const device = await served.activateDevice();
		const pending = await served.enrollDevice();
		const { token } = await served.makeToken();
		const { enrollment_key: enrollmentKey } = await person.use(
			"addEnrollmentKey",
			{
				organization_id: organizationId,
				name: "laptops",
				max_devices: 5,
				expires_in_days: 5,
			},
		);
		const own = { key: device.key };
		const heartbeat = ({ key, hardwareUuid } = device) =>
			served.post("heartbeat", heartbeatBody({ hardware_uuid: hardwareUuid }), {
				key,
			});
		const [before] = (
			await served.database.owner.query(
				"select status, last_seen_at from devices where id = $1",
				[device.id],
			)
		).rows;
		await suspend();
		for (const answer of [
			await heartbeat(),
			await heartbeat(pending),
			await served.post("heartbeat", "not JSON", own),
			await served.post("postures", { results: [postureResult()] }, own),
			await served.post("postures", { results: [] }, own),
			await served.post("enroll", { token }),
			await served.post("enroll", { token: enrollmentKey }),
			await served.post("unenroll", "", own),
		]) {
			expect(answer.status).toBe(503);
			expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
			expect(await answer.json()).toEqual({
				error: "service_unavailable",
				message: MESSAGE,
			});
		}
		const unknown = await served.post("heartbeat", heartbeatBody(), {
			key: device.key.replace(/.$/, (last) => (last === "x" ? "y" : "x")),
		});
		expect(unknown.status).toBe(401);
		const { rows } = await served.database.owner.query(
			"select status, last_seen_at from devices where id = $1",
			[device.id],
		);
		expect(rows).toEqual([before]);
		await resume();
		expect((await heartbeat()).status).toBe(200);
		expect((await heartbeat(pending)).status).toBe(200);
		expect((await served.post("enroll", { token })).status).toBe(200);
	});

	test("API tokens are refused at plain HTTP, MCP and the door for files", async () => {
		const { token } = await makeApiToken(served.database, person.user);
		const headers = { authorization: `Bearer ${token}` };
		await suspend();
		for (const path of [
			`/api/mcp/tools/listRisks?organization_id=${organizationId}`,
			`/api/files/${makeId(organizationId, "evidence")}`,
		]) {
			const answer = await fetch(url + path, { headers });
			expect([path, answer.status]).toEqual([path, 403]);
			expect(await answer.json()).toMatchObject({ message: MESSAGE });
		}
		const client = new Client({ name: "test", version: "1" });
		await client.connect(
			new StreamableHTTPClientTransport(new URL(`${url}/api/mcp/v1`), {
				requestInit: { headers },
			}),
		);
		const answer = await client
			.callTool({
				name: "listRisks",
				arguments: { organization_id: organizationId },
			})
			.catch((error: Error) => error);
		expect(JSON.stringify(answer) + String(answer)).toContain(MESSAGE);
		const { structuredContent } = await client.callTool({
			name: "listOrganizations",
			arguments: {},
		});
		expect(structuredContent).toMatchObject({
			organizations: [],
			closed: [{ id: organizationId, message: MESSAGE }],
		});
		await client.close();
	});

	test("its people work on in their other organizations", async () => {
		const other = await createOrganization(served.database.pool, "Other");
		const both = await served.signIn("member");
		await joinOrganization(served.database, both.user, other, "admin");
		const risks = { organization_id: other };
		await suspend();
		expect((await both.call("listRisks", risks)).status).toBe(200);
		expect((await both.call("listRisks", {})).status).toBe(200);
		const { organizations, closed } = await both.use("listOrganizations");
		expect(organizations.map(({ id }: { id: string }) => id)).toEqual([other]);
		expect(closed).toEqual([{ id: organizationId, message: MESSAGE }]);
	});

	test("somebody who is no member learns nothing about it", async () => {
		const other = await createOrganization(served.database.pool, "Other");
		const stranger = await served.signIn("admin", other);
		await suspend();
		const { body } = await stranger.call("getOrganization", {
			organization_id: organizationId,
		});
		expect(body.message).not.toContain("Acme");
	});

	test("the service does nothing for it by itself", async () => {
		await served.activateDevice();
		await suspend();
		const { rows } = await served.database.pool.query(
			`select id from organizations_with_devices() as id
			union all select * from organizations_with_events()
			union all select * from organizations_with_daily_events()
			union all select * from organizations_with_due_digests()`,
		);
		expect(rows.map(({ id }) => id)).not.toContain(organizationId);
	});
});

test("deletion closes at once, says the day, and can be taken back", async () => {
	const deleteAfter = new Date(Date.now() + GRACE_DAYS * 86_400_000);
	const { zone, day } = zoneOfAnotherDay(deleteAfter.toISOString());
	await person.use("updateOrganizationSettings", {
		organization_id: organizationId,
		time_zone: zone,
	});
	await change(
		(client) => planDeletion(client, systemPrincipal(), organizationId, REASON),
		false,
	);
	// The commands read the closure by themselves.
	await expect(
		withTenant(served.database.pool, organizationId, (client) =>
			requireOpenOrganization(client, organizationId),
		),
	).rejects.toThrow(`will be deleted on ${day}`);
	const { body } = await person.call("getOrganization", {
		organization_id: organizationId,
	});
	expect(body.message).toContain(`will be deleted on ${day}`);
	expect(body.message).toContain(REASON);
	const suspension = withTenant(
		served.database.pool,
		organizationId,
		(client) =>
			suspendOrganization(client, systemPrincipal(), organizationId, "other"),
	);
	await expect(suspension).rejects.toThrow("restore it first");
	await change(
		(client) =>
			openOrganization(client, systemPrincipal(), organizationId, "DELETION"),
		true,
	);
	const { rows } = await served.database.owner.query(
		`select operation, changes from audit_entries
		where operation ~ 'delete|restore' and record_id = $1 order by id`,
		[organizationId],
	);
	expect(rows.map(({ operation }) => operation)).toEqual([
		"deleteOrganization",
		"restoreOrganization",
	]);
});

test("only what is closed can be opened, by its own command", async () => {
	const open = (kind: "SUSPENDED" | "DELETION") =>
		withTenant(served.database.pool, organizationId, (client) =>
			openOrganization(client, systemPrincipal(), organizationId, kind),
		);
	await expect(open("SUSPENDED")).rejects.toThrow("not suspended");
	await expect(open("DELETION")).rejects.toThrow("not waiting");
	await suspend();
	await expect(open("DELETION")).rejects.toThrow("another state");
});

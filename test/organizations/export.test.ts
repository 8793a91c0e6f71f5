import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openOrganizationExport } from "../../src/backup/export-organization.ts";
import { withTenant } from "../../src/db/pool.ts";
import { suspendOrganization } from "../../src/organizations/closures.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { query } from "../support/backups.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { importInto } from "../support/organization-files.ts";
import { zoneOfAnotherDay } from "../support/zone-of-another-day.ts";

let served: TestConsole;
let admin: Session;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.signIn("admin");
});
afterAll(() => served.close());

const ask = (session: Session, organization_id = served.organizationId) =>
	session.call("exportOrganization", { organization_id });

test("an administrator downloads the organization, and the file says that it was exported", async () => {
	await served.activateDevice();
	const { zone, day } = zoneOfAnotherDay(new Date().toISOString());
	await admin.use("updateOrganizationSettings", {
		organization_id: served.organizationId,
		time_zone: zone,
	});
	const { download_path } = await admin.use("exportOrganization", {
		organization_id: served.organizationId,
		leaves_out: ["files"],
	});
	const answer = await admin.get(download_path);
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-disposition")).toContain(
		`filename="Acme-${day}.assay-organization"`,
	);
	expect(answer.headers.get("cache-control")).toBe("private, no-store");
	const file = Buffer.from(await answer.arrayBuffer());
	const { url } = await createDatabaseForTest();
	const { organization, manifest } = await importInto(url, file);
	expect(organization.id).toBe(served.organizationId);
	expect(manifest.left_out).toEqual(["files"]);
	const entries = await query(
		url,
		"select actor_id, changes from audit_entries where operation = 'exportOrganization'",
	);
	expect(entries).toEqual([
		{ actor_id: admin.user.id, changes: { left_out: { after: ["files"] } } },
	]);
});

test("only an administrator with a fresh proof may ask for an export", async () => {
	for (const role of ["viewer", "member"] as const) {
		const refused = await ask(await served.signIn(role));
		expect(refused.status, role).toBe(403);
	}
	const stale = await served.signIn("admin");
	await served.database.owner.query(
		"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
		[stale.user.id],
	);
	const { status, body } = await ask(stale);
	expect(status).toBe(403);
	expect(body.fields).toMatchObject([{ field: "proof" }]);
});

test("the address of a download works only for the administrator who asked, while they are one, and for two minutes", async () => {
	const own = await served.signIn("admin");
	const { download_path: path } = await own.use("exportOrganization", {
		organization_id: served.organizationId,
	});
	const statusFor = async (session: Session, at: string) => {
		const answer = await session.get(at);
		await answer.arrayBuffer();
		return answer.status;
	};
	expect(await statusFor(own, path)).toBe(200);
	expect(await statusFor(admin, path)).toBe(403);
	expect(await statusFor(own, `${path}x`)).toBe(403);
	expect(await statusFor(own, path.replace("ticket=", "ticket=A"))).toBe(403);
	expect(await statusFor(own, path.split("?")[0] ?? "")).toBe(403);
	const answer = await fetch(served.service.url + path);
	expect(answer.status).toBe(401);

	vi.setSystemTime(Date.now() + 121_000);
	try {
		expect(await statusFor(own, path)).toBe(403);
	} finally {
		vi.useRealTimers();
	}
	await served.database.owner.query(
		"update memberships set role = 'member' where user_id = $1",
		[own.user.id],
	);
	expect(await statusFor(own, path)).toBe(403);
});

test("while an organization is being exported, its administrators get 409", async () => {
	const running = await openOrganizationExport(
		{ connectionString: served.database.url },
		served.organizationId,
	);
	const { download_path: path } = await admin.use("exportOrganization", {
		organization_id: served.organizationId,
	});
	const answer = await admin.get(path);
	expect(answer.status).toBe(409);
	expect(await answer.json()).toMatchObject({
		message: expect.stringContaining("is being exported already"),
	});
	await running.close();
	expect((await admin.get(path)).status).toBe(200);
});

test("a download that its reader leaves does not hold the next one", async () => {
	const { download_path: path } = await admin.use("exportOrganization", {
		organization_id: served.organizationId,
	});
	const left = await admin.get(path);
	await left.body?.cancel();
	await vi.waitFor(
		async () => {
			const answer = await admin.get(path);
			await answer.arrayBuffer();
			expect(answer.status).toBe(200);
		},
		{ timeout: 60_000, interval: 200 },
	);
});

test("a suspended organization is not exported from the console", async () => {
	const closed = await createOrganization(served.database.pool, "Closed");
	const session = await served.signIn("admin", closed);
	await withTenant(served.database.pool, closed, (client) =>
		suspendOrganization(client, systemPrincipal(), closed, "a reason"),
	);
	await vi.waitFor(
		async () => {
			served.service.wake();
			expect((await ask(session, closed)).body.message).toContain(
				"Closed is suspended: a reason",
			);
		},
		{ timeout: 60_000 },
	);
});

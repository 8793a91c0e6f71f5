import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAuditPackage } from "../../src/audit-package/open-package.ts";
import { withTenant } from "../../src/db/pool.ts";
import { makeLogger } from "../../src/log.ts";
import { suspendOrganization } from "../../src/organizations/closures.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { shareConsole, type TestConsole } from "../support/console-session.ts";
import { readZip } from "../support/read-zip.ts";

const YEAR = new Date().getUTCFullYear();
const PERIOD = { from: `${YEAR}-01-01`, until: `${YEAR}-12-31` };

let served: TestConsole;
beforeAll(async () => {
	served = await shareConsole();
});
afterAll(() => served.close());

/** Begins a package without a door, as the command does. */
const open = (organizationId = served.organizationId) =>
	openAuditPackage(
		{ pool: served.database.pool, log: makeLogger("silent"), baseUrl: "" },
		{ connectionString: served.database.url },
		{ organizationId, auditId: null, withFiles: true, ...PERIOD },
		"somebody",
	);

test("entries before the period are left out, and the package says that somebody changed one", async () => {
	const { owner, pool } = served.database;
	const old = await createOrganization(pool, "Old");
	await withTenant(pool, old, (client) =>
		suspendOrganization(client, systemPrincipal(), old, "a reason"),
	);
	const names = async () => {
		const { content } = await open(old);
		const files = readZip(await buffer(Readable.from(content)));
		const lines = String(files.get("audit-log/entries.jsonl")).trim();
		return {
			entries: lines.split("\n").map((line) => JSON.parse(line).operation),
			hashes: String(files.get("audit-log/hashes.csv")).trim().split("\r\n"),
			found: JSON.parse(String(files.get("audit-log/verification.json"))),
		};
	};
	const all = ["createOrganization", "suspendOrganization"];
	const sound = await names();
	expect(sound).toMatchObject({ entries: all, found: { finding_count: 0 } });
	const { head } = sound.found;
	expect(sound.hashes).toHaveLength(3);
	expect(sound.hashes.at(-1)).toBe(`${head.sequence},${head.hash}`);
	await owner.query("set session_replication_role = replica");
	await owner.query(
		`update audit_entries set at = '2019-01-01'
		where organization_id = $1 and operation = 'createOrganization'`,
		[old],
	);
	await owner.query("set session_replication_role = origin");
	expect(await names()).toMatchObject({
		entries: all.slice(1),
		hashes: sound.hashes,
		found: { finding_count: 1, findings: [{ sequence: 1 }] },
	});
});

test("everything in a package is of the moment at which it began", async () => {
	const { content } = await open();
	const { organizationId: organization_id } = served;
	const admin = await served.signIn("admin");
	await admin.use("addVendor", { organization_id, name: "Too late" });
	const files = readZip(await buffer(Readable.from(content)));
	expect(files.size).toBeGreaterThan(20);
	expect(String(files.get("registers/vendors.csv"))).not.toContain("Too late");
});

test("a package that its reader leaves gives its connection back", async () => {
	const connections = async () => {
		const { rows } = await served.database.owner.query(
			`select from pg_stat_activity
			where datname = current_database() and application_name = 'assay audit package'`,
		);
		return rows.length;
	};
	const { content } = await open();
	for await (const _ of content) {
		expect(await connections()).toBe(1);
		break;
	}
	await expect.poll(connections).toBe(0);
});

import { beforeEach, describe, expect, test } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import type { Session } from "../support/console-session.ts";
import { testImports } from "./imports.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape depends on the call.
type Json = any;

const imports = testImports();
const { doImport, addPerson } = imports;
let member: Session;
let organization_id: string;
beforeEach(() => {
	({ member, organization_id } = imports);
});

const names = async () => {
	const { vendors } = await member.use("listVendors", {
		organization_id,
		order_by: { field: "name", direction: "ASC" },
	});
	return vendors.map(({ name }: Json) => name);
};

/** Adds Alder by hand, and imports a file that changes Alder and adds Birch and Cedar. */
async function importVendors() {
	const { vendor: alder } = await member.use("addVendor", {
		organization_id,
		name: "Alder",
		description: "by hand",
	});
	const { import_id, lines } = await doImport("vendor", [
		"id,name,description",
		`${alder.id},Alder Inc,from a file`,
		",Birch,",
		",Cedar,",
	]);
	const [, birch, cedar] = lines.map(({ id }: Json) => id);
	return { import_id, alder: alder.id as string, birch, cedar };
}

const rollBack = (id: string, more: object = { dry_run: false }) =>
	member.call("rollBackImport", { id, ...more });

describe("rolling back an import", () => {
	test("deletes what it added and restores what it changed", async () => {
		const { import_id, alder } = await importVendors();
		const preview = await rollBack(import_id, {});
		expect(preview.body).toMatchObject({
			dry_run: true,
			deleted: 2,
			restored: 1,
			kept: 0,
		});
		expect(await names()).toEqual(["Alder Inc", "Birch", "Cedar"]);

		const done = await rollBack(import_id);
		expect(done.body).toMatchObject({ dry_run: false, deleted: 2, kept: 0 });
		expect(await names()).toEqual(["Alder"]);
		const { vendor } = await member.use("getVendor", { id: alder });
		expect(vendor.description).toBe("by hand");

		const { imports: listed } = await member.use("listImports", {
			organization_id,
			kind: "vendor",
		});
		expect(listed).toMatchObject([
			{
				id: import_id,
				added: 2,
				updated: 1,
				is_own: true,
				imported_by: member.user.name,
				rolled_back_by: member.user.name,
				kept: 0,
			},
		]);
		const again = await rollBack(import_id);
		expect(again.status).toBe(400);
		expect(again.body.message).toContain("was already rolled back");
	});

	test("names the records that were changed since, and leaves them on request", async () => {
		const { import_id, alder, birch, cedar } = await importVendors();
		await member.use("updateVendor", { id: birch, description: "newer" });
		const admin = await imports.served.signIn("admin", organization_id);
		await admin.use("deleteVendor", { id: cedar });

		const rejected = await rollBack(import_id);
		expect(rejected.status).toBe(400);
		expect(rejected.body.message).toContain("Birch was changed since");
		expect(rejected.body.message).toContain("Cedar was deleted since");
		expect(await names()).toEqual(["Alder Inc", "Birch"]);

		const done = await rollBack(import_id, {
			dry_run: false,
			skip_changed: true,
		});
		expect(done.body).toMatchObject({
			deleted: 0,
			restored: 1,
			kept: 2,
			kept_records: [
				{ id: birch, name: "Birch", reason: "was changed since" },
				{ id: cedar, name: "Cedar", reason: "was deleted since" },
			],
		});
		const { vendor } = await member.use("getVendor", { id: alder });
		expect(vendor.name).toBe("Alder");
	});

	test("keeps a record that another record uses, and a link counts as a change", async () => {
		const { import_id, lines } = await doImport("people", [
			"full_name,primary_email_address,kind",
			"Kim,kim@example.com,EMPLOYEE",
			"Lou,lou@example.com,EMPLOYEE",
		]);
		const kim = lines[0].id;
		await member.use("addTask", {
			organization_id,
			name: "Kim's task",
			assigned_to_id: kim,
		});
		const { body } = await rollBack(import_id, {});
		expect(body).toMatchObject({
			deleted: 1,
			kept_records: [{ id: kim, reason: "is used (tasks: 1)" }],
		});

		const vendors = await importVendors();
		const { risk } = await member.use("addRisk", {
			organization_id,
			name: "Outage",
			category: "Premises",
			inherent_likelihood: 2,
			inherent_impact: 2,
			treatment: "MITIGATED",
		});
		await member.use("linkRecords", {
			record_id: risk.id,
			linked_record_id: vendors.birch,
		});
		const linked = await rollBack(vendors.import_id, {});
		expect(linked.body.kept_records).toMatchObject([{ id: vendors.birch }]);
	});

	test("does not restore the name of a person who was deleted since", async () => {
		const owner_id = await addPerson("Ann", "ann@example.com");
		const other = await addPerson("Bob", "bob@example.com");
		const { asset } = await member.use("addAsset", {
			organization_id,
			name: "Server",
			asset_type: "VIRTUAL",
			amount: 1,
			owner_id,
		});
		const { import_id } = await doImport("asset", [
			"id,owner_id",
			`${asset.id},${other}`,
		]);
		const admin = await imports.served.signIn("admin", organization_id);
		await admin.use("deletePeople", { id: owner_id });
		const { body } = await rollBack(import_id, {});
		expect(body.kept_records).toMatchObject([
			{ reason: "named a record that was deleted since" },
		]);
	});

	test("belongs to the member who imported, and to administrators", async () => {
		const { import_id } = await importVendors();
		const other = await imports.served.signIn("member", organization_id);
		const denied = await other.call("rollBackImport", { id: import_id });
		expect(denied.status).toBe(403);
		const admin = await imports.served.signIn("admin", organization_id);
		const { status } = await admin.call("rollBackImport", {
			id: import_id,
			dry_run: false,
		});
		expect(status).toBe(200);
	});

	test("happens once if two people ask at the same time", async () => {
		const { import_id } = await importVendors();
		const admin = await imports.served.signIn("admin", organization_id);
		const answers = await Promise.all(
			[member, admin].map((one) =>
				one.call("rollBackImport", { id: import_id, dry_run: false }),
			),
		);
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
		expect(await names()).toEqual(["Alder"]);
	});

	test("leaves nothing half done when its connection is killed", async () => {
		const { import_id, alder } = await importVendors();
		const { owner } = imports.served.database;
		// Holds a link to the changed record, so the rollback waits before it has written everything.
		const holder = await owner.connect();
		await holder.query("begin");
		await holder.query("select from vendors where id = $1 for key share", [
			alder,
		]);
		const rolling = rollBack(import_id);
		const waiting = `select pid from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock'`;
		let found: { pid: number }[] = [];
		while (found.length === 0) ({ rows: found } = await owner.query(waiting));
		await owner.query("select pg_terminate_backend($1)", [found[0]?.pid]);
		const { status } = await rolling;
		await holder.query("rollback");
		holder.release();
		expect(status).toBe(503);
		expect(await names()).toEqual(["Alder Inc", "Birch", "Cedar"]);
		expect((await rollBack(import_id)).status).toBe(200);
		expect(await names()).toEqual(["Alder"]);
	});
});

describe("the audit log of an import", () => {
	test("is one entry from which the records can be reached, and verifies", async () => {
		const { import_id, birch } = await importVendors();
		await rollBack(import_id);
		const admin = await imports.served.signIn("admin", organization_id);
		const listed = async (filter: object) => {
			const { audit_entries } = await admin.use("listAuditLog", {
				organization_id,
				filter,
			});
			return audit_entries;
		};
		const brief = await listed({ is_imported: false });
		expect(
			brief
				.filter(({ operation }: Json) => /import/i.test(operation))
				.map(({ operation, record_kind, record_id, changes }: Json) => ({
					operation,
					record_kind,
					record_id,
					changes,
				})),
		).toEqual([
			{
				operation: "rollBackImport",
				record_kind: "import",
				record_id: import_id,
				changes: {
					kind: { after: "vendor" },
					deleted: { after: 2 },
					restored: { after: 1 },
					kept: { after: 0 },
				},
			},
			{
				operation: "importRecords",
				record_kind: "import",
				record_id: import_id,
				changes: {
					kind: { after: "vendor" },
					added: { after: 2 },
					updated: { after: 1 },
				},
			},
		]);
		const records = await listed({ import_id });
		expect(records).toHaveLength(6);
		expect(await listed({ record_id: birch })).toMatchObject([
			{ operation: "rollBackImport", import_id },
			{ operation: "importRecords", import_id },
		]);
		await sealAll(imports.served.database.pool);
		const verified = await admin.use("verifyAuditLog", { organization_id });
		expect(verified).toMatchObject({ finding: null, is_complete: true });
		expect(verified.entries).toBeGreaterThanOrEqual(records.length + 2);
	});

	test("an import that changes nothing is not an import", async () => {
		await importVendors();
		const { import_id } = await doImport("vendor", [
			"name,description,id",
			...(await member
				.use("listVendors", { organization_id })
				.then(({ vendors }) =>
					vendors.map(
						({ id, name, description }: Json) =>
							`${name},${description ?? ""},${id}`,
					),
				)),
		]);
		expect(import_id).toBe(null);
		const { imports: listed } = await member.use("listImports", {
			organization_id,
		});
		expect(listed).toHaveLength(1);
	});
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { transaction } from "../../src/db/pool.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";

let calls: Calls;
let ours: string;
let theirs: string;
beforeAll(async () => {
	calls = await makeCalls();
	ours = await createOrganization(calls.database.pool, "Ours");
	theirs = await createOrganization(calls.database.pool, "Theirs");
	for (const organization_id of [ours, theirs]) {
		const by = calls.principal("admin", organization_id);
		const references = await makeReferences(calls, organization_id);
		for (const sample of samples) {
			for (const which of ["required", "all"] as const) {
				await calls.call(
					`add${sample.one}`,
					{ organization_id, ...inputOf(sample, references, which) },
					by,
				);
			}
		}
		const { risk } = await calls.call(
			"addRisk",
			{
				organization_id,
				name: "Linked",
				category: "x",
				treatment: "AVOIDED",
				inherent_likelihood: 1,
				inherent_impact: 1,
			},
			by,
		);
		await calls.call(
			"linkRecords",
			{ record_id: risk.id, linked_record_id: references.measure[0] },
			by,
		);
		await calls.call("addComment", { record_id: risk.id, text: "Seen" }, by);
		await calls.call(
			"addVendorReview",
			{ vendor_id: references.vendor[0], outcome: "APPROVED" },
			by,
		);
		await calls.call(
			"takeSnapshot",
			{ organization_id, name: "All", type: "ALL" },
			by,
		);
		const { framework } = await calls.call(
			"addFramework",
			{ organization_id, name: "F" },
			by,
		);
		await calls.call(
			"addControl",
			{
				organization_id,
				framework_id: framework.id,
				section_title: "1",
				name: "C",
			},
			by,
		);
		const { sha256 } = await calls.call(
			"getStatementOfApplicability",
			{ framework_id: framework.id },
			by,
		);
		await calls.call(
			"approveStatementOfApplicability",
			{ framework_id: framework.id, sha256 },
			by,
		);
		const { document } = await calls.call(
			"addDocument",
			{
				organization_id,
				title: "Policy",
				document_type: "POLICY",
				classification: "INTERNAL",
				approver_ids: [references.people[0]],
			},
			by,
		);
		const { document_version } = await calls.call(
			"createDraftDocumentVersion",
			{ document_id: document.id, content: "x" },
			by,
		);
		await calls.database.owner.query(
			`with approval as (
				insert into document_approvals (organization_id, id, version_id, person_id, person_name, decision)
				values ($1, $2, $2, $3, 'x', 'APPROVED')
			)
			insert into document_signatures
				(organization_id, id, version_id, person_id, person_name, requested_by_name)
			values ($1, $2, $2, $3, 'x', 'x')`,
			[organization_id, document_version.id, references.people[0]],
		);
		await calls.database.owner.query(
			`with content as (
				insert into file_contents (organization_id, sha256, size_bytes)
				values ($1::text, sha256('x'), 1) returning organization_id, sha256
			)
			insert into evidence_files
				(organization_id, evidence_id, sha256, file_name, content_type, uploaded_by_name)
			select c.organization_id, e.id, c.sha256, 'x.txt', 'text/plain', 'x'
			from content c join evidence e on e.organization_id = c.organization_id limit 1`,
			[organization_id],
		);
		const ofPerson = [organization_id, references.people[0]];
		await calls.database.owner.query(
			`insert into my_devices_links (organization_id, id, people_id, token_hash, is_copied, expires_at)
			values ($1::text, $1, $2::text, sha256(convert_to($2::text, 'UTF8')), false, now())`,
			ofPerson,
		);
		await calls.database.owner.query(
			"insert into notification_stops (organization_id, people_id, kind) values ($1, $2, 'OVERDUE_WORK')",
			ofPerson,
		);
		await calls.database.owner.query(
			"insert into mails (organization_id, id, people_id, kind) values ($1, $1, $2, 'MY_DEVICES')",
			ofPerson,
		);
	}
	await sealAll(calls.database.pool);
});
afterAll(() => calls.close());

/** Tables with an organization_id in which this test stores rows of both organizations. */
const FILLED = [
	...samples.map(({ table }) => table),
	"asset_vendors",
	"datum_vendors",
	"record_links",
	"record_comments",
	"file_contents",
	"evidence_files",
	"vendor_reviews",
	"snapshots",
	"applicability_statements",
	"snapshot_records",
	"document_approvers",
	"document_versions",
	"document_approvals",
	"document_signatures",
	"my_devices_links",
	"notification_stops",
	"mails",
	"reference_counters",
	"audit_entries",
	"audit_heads",
	"audit_seals",
];

async function tenantTables(): Promise<string[]> {
	const { rows } = await calls.database.owner.query<{ name: string }>(`
		select c.relname as name
		from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			-- No operation reads what stays of deleted organizations, what has to be packed again, or which
			-- files the archive has.
			and c.relname not in (
				'archive_changes', 'archive_files', 'deleted_organizations', 'posture_report_changes'
			)
		order by c.relname`);
	return rows.map(({ name }) => name);
}

test("a query without a where clause sees only the rows of its own organization, in every table", async () => {
	const tables = await tenantTables();
	expect(tables).toEqual(expect.arrayContaining(FILLED));
	for (const organizationId of [ours, theirs]) {
		for (const table of tables) {
			const { rows } = await transaction(
				calls.database.pool,
				{ organizationId },
				(client) => client.query(`select organization_id from ${table}`),
			);
			const seen = new Set(rows.map((row) => row.organization_id));
			if (FILLED.includes(table))
				expect([...seen], table).toEqual([organizationId]);
			else expect([[], [organizationId]], table).toContainEqual([...seen]);
		}
	}
});

test("without an organization no record is visible", async () => {
	for (const table of FILLED) {
		const { rowCount } = await transaction(calls.database.pool, {}, (client) =>
			client.query(`select from ${table}`),
		);
		expect(rowCount, table).toBe(0);
	}
});

test("rows of another organization can be neither changed, deleted nor inserted, in any register", async () => {
	for (const { table } of samples) {
		const inOurs = (sql: string) =>
			transaction(calls.database.pool, { organizationId: ours }, (client) =>
				client.query(sql, [theirs]),
			);
		for (const sql of [
			`update ${table} set updated_at = now() where organization_id = $1`,
			`delete from ${table} where organization_id = $1`,
		]) {
			expect((await inOurs(sql)).rowCount, sql).toBe(0);
		}
		await expect(
			inOurs(`update ${table} set organization_id = $1`),
			table,
		).rejects.toMatchObject({ code: "42501" });
	}
});

/** Tables that have no row with a reference in this test. */
const WITHOUT_ROWS = [
	"check_nonconformities",
	"device_check_rules",
	"device_exceptions",
	"devices",
	"nonconformity_devices",
];

test("a reference to a record of another organization cannot be stored, even by the owner of the tables", async () => {
	const { rows } = await calls.database.owner.query<{
		from: string;
		column: string;
		to: string;
	}>(
		`
		select c.conrelid::regclass::text as from, a.attname as column, c.confrelid::regclass::text as to
		from pg_constraint c
		join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[2]
		where c.contype = 'f' and array_length(c.conkey, 1) = 2 and c.confrelid::regclass::text = any ($1)
			and c.conrelid::regclass::text <> all ($2)`,
		[samples.map(({ table }) => table), WITHOUT_ROWS],
	);
	expect(rows.length).toBeGreaterThan(15);
	for (const { from, column, to } of rows) {
		await expect(
			calls.database.owner.query(
				`update ${from} set ${column} = (select id from ${to} where organization_id = $2 limit 1)
				where (organization_id, ${column}) in (
					select organization_id, ${column} from ${from} where organization_id = $1 and ${column} is not null limit 1
				)`,
				[ours, theirs],
			),
			`${from}.${column}`,
		).rejects.toMatchObject({ code: "23503" });
	}
});

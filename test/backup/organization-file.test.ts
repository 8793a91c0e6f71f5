import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openOrganizationExport } from "../../src/backup/export-organization.ts";
import { importOrganization } from "../../src/backup/import-organization.ts";
import { SEAL_LENGTH, seal } from "../../src/backup/seal.ts";
import { OF_THE_MOMENT } from "../../src/backup/tables.ts";
import { migrate } from "../../src/db/migrate.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { makeLogger } from "../../src/log.ts";
import { deleteDueOrganizations } from "../../src/retention/delete-organizations.ts";
import { allRows, backUp, query, restore } from "../support/backups.ts";
import { withDatabaseName } from "../support/database.ts";
import { fillEverything } from "../support/filled-installation.ts";
import { connected, createInstallation } from "../support/installations.ts";
import {
	exportOf,
	importInto,
	verifyLogOf,
} from "../support/organization-files.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let id: string;
let file: Buffer;
/** The rows of the organization when it was exported. */
let exported: Record<string, Row[]>;
beforeAll(async () => {
	tools = await startTools();
	await fillEverything(tools);
	await fillMore();
	id = tools.organizationId;
	// The service still counts states of checks, so the rows before and after are compared.
	let after: typeof exported;
	do {
		exported = await rowsOf(tools.database.url, id);
		file = await exportOf(tools.database.url, id);
		after = await rowsOf(tools.database.url, id);
	} while (JSON.stringify(after) !== JSON.stringify(exported));
});
afterAll(() => tools.close());

/** Adds what an export has to leave out, and a log with an entry that has no seal yet. */
async function fillMore(): Promise<void> {
	const { owner } = tools.database;
	await owner.query(
		`insert into saved_views (organization_id, id, list, name, search, owner_id)
		select organization_id, 's' || right(user_id, 31), 'risk', 'Own', '{}', user_id from memberships`,
	);
	await owner.query(
		`insert into notification_channels (organization_id, id, kind, name, sealed_address, address_host)
		select id, 'c' || right(id, 31), 'SLACK', 'Chat', 'address of a chat', 'example.com' from organizations`,
	);
	await owner.query(
		`insert into revoked_device_keys select id, sha256(convert_to(id, 'UTF8')) from organizations`,
	);
}

type Row = Record<string, unknown>;

/** The packed reports of the exported organization, in the form of plain ones. */
let unpacked: Row[] = [];
beforeAll(async () => {
	const rows = await query<{ row: Row }>(
		tools.database.url,
		`select to_jsonb(r) as row from (
			select p.organization_id, p.device_id, u.report_id, u.received_at, u.results::jsonb as results
			from packed_posture_reports p
			cross join lateral unpack_reports(
				p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
			) u
			where p.organization_id = $1
		) r`,
		[id],
	);
	unpacked = rows.map(({ row }) => row);
	expect(unpacked).toHaveLength(1);
});

/** Returns the rows of an organization in every table, or all other rows. */
async function rowsOf(
	url: string,
	organizationId: string,
	which: "own" | "other" = "own",
): Promise<Record<string, Row[]>> {
	const tables = await query<{ name: string }>(
		url,
		`select c.relname as name from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
		order by 1`,
	);
	const all: Record<string, Row[]> = {};
	for (const { name } of tables) {
		const rows = await query<{ row: Row }>(
			url,
			`select to_jsonb(t) as row from ${name} t order by t::text`,
		);
		all[name] = rows
			.map(({ row }) => row)
			.filter(
				(row) =>
					(row[name === "organizations" ? "id" : "organization_id"] ===
						organizationId) ===
					(which === "own"),
			);
	}
	return all;
}

/** Tables of organizations that stay behind, besides those that no backup contains. */
const LEFT_BEHIND = [
	...OF_THE_MOMENT,
	"api_token_usage",
	"archive_changes",
	"archive_files",
	"deleted_organizations",
	"emergency_members",
	"emergency_sign_ins",
	"enrollment_keys",
	"enrollment_tokens",
	"idempotency_keys",
	"identity_providers",
	"invitations",
	"memberships",
	"organization_closures",
	"organization_domains",
	"record_watches",
	"revoked_device_keys",
	"scim_credentials",
	"scim_group_members",
	"scim_groups",
	"scim_requests",
	"scim_users",
	"sign_in_rules",
];

/** The rows that an import makes of the exported ones, in the same order. */
function expectedRows(table: string, rows: Row[]): Row[] {
	if (LEFT_BEHIND.includes(table)) return [];
	// An import adds packed reports as plain ones.
	if (table === "packed_posture_reports") return [];
	if (table === "posture_reports") return [...rows, ...unpacked];
	switch (table) {
		case "devices":
			return rows.map((row) => ({
				...row,
				key_hash: null,
				enrollment_key_id: null,
			}));
		case "webhooks":
			return rows.map((row) => ({
				...row,
				is_enabled: false,
				previous_secret_until: null,
			}));
		case "notification_channels":
			return rows
				.filter((row) => row.kind !== "SLACK")
				.map((row) => ({ ...row, is_enabled: false }));
		case "saved_views":
			return rows.filter((row) => row.owner_id === null);
		case "audit_entries":
			return rows.map(({ id, ...row }) => row);
		case "audit_seals":
			return rows.map(({ entry_id, ...row }) => row);
		default:
			return rows;
	}
}

/** What expectedRows leaves of imported rows, without the entry that the import wrote itself. */
function importedRows(table: string, rows: Row[]): Row[] {
	if (table === "audit_entries") {
		return rows
			.filter((row) => row.operation !== "importOrganization")
			.map(({ id, ...row }) => row);
	}
	return table === "audit_seals"
		? rows.map(({ entry_id, ...row }) => row)
		: rows;
}

const sorted = (rows: Row[]) => rows.map((row) => JSON.stringify(row)).sort();

async function expectImported(url: string): Promise<void> {
	const after = await rowsOf(url, id);
	expect(Object.keys(after)).toEqual(Object.keys(exported));
	for (const [table, rows] of Object.entries(exported)) {
		// If the organization was deleted here before, that stays on record.
		if (table === "deleted_organizations") continue;
		expect(sorted(importedRows(table, after[table] ?? [])), table).toEqual(
			sorted(expectedRows(table, rows)),
		);
	}
}

/** An empty database with the newest schema, whose owner is no superuser. */
async function emptyInstallation() {
	const installation = await createInstallation();
	await migrate({ connectionString: installation.url });
	return {
		url: installation.url,
		look: withDatabaseName(tools.database.url, installation.name),
	};
}

/** The filled database without the organization, for an owner who is no superuser. */
async function installationWithOthers() {
	const installation = await createInstallation();
	await restore(installation.url, (await backUp(tools.database.url)).file);
	const look = withDatabaseName(tools.database.url, installation.name);
	const deletion = async () => {
		await query(
			look,
			"insert into organization_closures values ($1, 'DELETION', 'the end', now() - interval '15 days', now() - interval '1 day')",
			[id],
		);
		await query(look, "delete from deleted_organizations where number = 1");
		await deleteDueOrganizations(
			{ connectionString: installation.url },
			makeLogger("silent"),
		);
	};
	await deletion();
	return { url: installation.url, look, deletion };
}

test("every table with an organization_id has rows of the organization, so that none is forgotten", async () => {
	const tables = Object.keys(exported).filter(
		(table) => !LEFT_BEHIND.includes(table) && table !== "organizations",
	);
	const global = await query<{ name: string }>(
		tools.database.url,
		`select c.relname as name from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id')`,
	);
	const names = new Set(global.map(({ name }) => name));
	const empty = tables.filter(
		(table) => !names.has(table) && exported[table]?.length === 0,
	);
	expect(empty).toEqual([]);
});

test("an export and its import into an empty installation keep every row", async () => {
	const { url, look } = await emptyInstallation();
	const imported = await importInto(url, file);
	expect(imported.organization.id).toBe(id);
	await expectImported(look);
	const others = await rowsOf(look, id, "other");
	expect(others.organizations).toEqual([]);
	expect(others.users).toEqual([]);
});

test("an import into an installation with other organizations changes none of their rows", async () => {
	const { url, look, deletion } = await installationWithOthers();
	const before = await rowsOf(look, id, "other");
	expect(before.risks?.length).toBeGreaterThan(0);
	await importInto(url, file);
	await expectImported(look);
	expect(await rowsOf(look, id, "other")).toEqual(before);
	// It can be deleted like every other organization, also for the second time.
	await verifyLogOf(look, id);
	await deletion();
	expect((await rowsOf(look, id)).organizations).toEqual([]);
});

test("the audit log keeps its numbers and hashes, is sound, and continues", async () => {
	const { url, look } = await emptyInstallation();
	const { head } = await importInto(url, file);
	const heads = await query<{ sequence: number; hash: string }>(
		tools.database.url,
		"select sequence::integer, encode(hash, 'hex') as hash from audit_heads where organization_id = $1",
		[id],
	);
	expect(head).toEqual(heads[0]);
	const report = await verifyLogOf(url, id);
	expect(report.findings).toEqual([]);
	expect(report.unsealed).toBe(0);
	expect(report.entries).toBe((head?.sequence ?? 0) + 1);
	const [newest] = await query<{ operation: string; sequence: number }>(
		look,
		`select e.operation, s.sequence::integer from audit_entries e
		join audit_seals s on s.organization_id = e.organization_id and s.entry_id = e.id
		where e.organization_id = $1 order by e.id desc limit 1`,
		[id],
	);
	expect(newest).toEqual({
		operation: "importOrganization",
		sequence: report.entries,
	});
});

const textOf = (bytes: Buffer) =>
	zstdDecompressSync(bytes.subarray(0, -SEAL_LENGTH)).toString();

/** Returns the export with a changed text and a seal that matches it. */
function rewritten(change: (text: string) => string): Promise<Buffer> {
	const frame = zstdCompressSync(change(textOf(file)));
	return buffer(Readable.from(seal(Readable.from([frame]))));
}

test("an export contains no password, token or key of anybody", async () => {
	const secrets = await query<{ kind: string; value: string }>(
		tools.database.url,
		`select 'device key' as kind, encode(key_hash, 'hex') as value from devices where key_hash is not null
		union all select 'revoked key', encode(key_hash, 'hex') from revoked_device_keys
		union all select 'enrollment token', encode(token_hash, 'hex') from enrollment_tokens
		union all select 'enrollment key', encode(secret_hash, 'hex') from enrollment_keys
		union all select 'invitation', encode(token_hash, 'hex') from invitations
		union all select 'API token', encode(token_hash, 'hex') from api_tokens
		union all select 'session', token from sessions
		union all select 'password', password from accounts where password is not null
		union all select 'second factor', secret from two_factors
		union all select 'chat', sealed_address from notification_channels where sealed_address is not null`,
	);
	expect(new Set(secrets.map(({ kind }) => kind)).size).toBe(10);
	const text = textOf(file);
	expect(text).toContain(tools.organizationId);
	const found = secrets.filter(({ value }) => text.includes(value));
	expect(found).toEqual([]);
	expect(text).not.toContain(tools.otherOrganizationId);
});

test("no exported column looks like a secret, except those that are none or are emptied", async () => {
	const columns = await query<{ name: string }>(
		tools.database.url,
		`select c.relname || '.' || a.attname as name from pg_class c
		join pg_policy p on p.polrelid = c.oid and p.polname = 'import'
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		where a.attname ~ 'hash|secret|token|password|sealed' order by 1`,
	);
	// A secret in a new table does not belong into an export (src/backup/organization-tables.ts).
	expect(columns.map(({ name }) => name)).toEqual([
		"audit_entries.hash_version",
		"audit_entries.token_id",
		"audit_entries.token_name",
		"audit_heads.hash",
		"audit_seals.hash",
		"audit_seals.previous_hash",
		"audit_seals.sealed_at",
		"device_group_policies.min_password_length",
		"device_policies.min_password_length",
		"devices.hardware_hash",
		"devices.key_hash",
		"document_signatures.content_hash",
		"document_versions.content_hash",
		"notification_channels.sealed_address",
		"webhooks.previous_secret_until",
		"webhooks.secret_version",
	]);
});

test("an import names the former members, and none of them becomes a member", async () => {
	const { url, look } = await emptyInstallation();
	const { members } = await importInto(url, file);
	const before = await query(
		tools.database.url,
		`select u.email, u.name, m.role, null as ends_on, m.writable_registers, m.reads_audit_log
		from memberships m join users u on u.id = m.user_id where m.organization_id = $1 order by u.email`,
		[id],
	);
	expect(before.length).toBeGreaterThan(2);
	expect(members).toEqual(before);
	expect(await query(look, "select from memberships")).toEqual([]);
});

test("parts that are left out are empty, and the rest is complete", async () => {
	const leavesOut = ["files", "reports"] as const;
	const small = await exportOf(tools.database.url, id, { leavesOut });
	const { url, look } = await emptyInstallation();
	const { manifest } = await importInto(url, small);
	expect(manifest.left_out).toEqual(leavesOut);
	const { file_chunks, posture_reports, packed_posture_reports, ...rest } =
		await rowsOf(look, id);
	expect([file_chunks, posture_reports, packed_posture_reports]).toEqual([
		[],
		[],
		[],
	]);
	for (const table of ["file_contents", "posture_spans", "evidence_files"]) {
		expect(rest[table], table).toEqual(exported[table]);
	}
});

test("an entry that has no seal yet is imported and gets the next number", async () => {
	const at = (await emptyInstallation()).url;
	await importInto(at, file);
	const look = withDatabaseName(
		tools.database.url,
		new URL(at).pathname.slice(1),
	);
	await query(
		look,
		`select audit_append('${id}', '[{"actor_kind": "SYSTEM", "actor_name": "x", "operation": "addRisk"}]')`,
	);
	const unsealed = await exportOf(look, id);
	const { url } = await emptyInstallation();
	const { head } = await importInto(url, unsealed);
	const report = await verifyLogOf(url, id);
	// Besides the one above, both imports have written an entry.
	expect(report.entries).toBe((head?.sequence ?? 0) + 3);
	expect(report.findings).toEqual([]);
});

test("a second import is refused, and two at the same time add the organization once", async () => {
	const { url, look } = await emptyInstallation();
	const results = await Promise.allSettled([
		importInto(url, file),
		importInto(url, file),
	]);
	expect(results.map(({ status }) => status).sort()).toEqual([
		"fulfilled",
		"rejected",
	]);
	const before = await allRows(look);
	await expect(importInto(url, file)).rejects.toMatchObject({
		code: "conflict",
		message: expect.stringContaining(`(${id}) exists in this database`),
	});
	expect(await allRows(look)).toEqual(before);
});

test("a file that is cut off or has another byte adds nothing", async () => {
	const { url, look } = await emptyInstallation();
	const before = await allRows(look);
	const changed = Buffer.from(file);
	changed.writeUInt8(
		(changed.readUInt8(file.length - 50) + 1) % 256,
		file.length - 50,
	);
	for (const broken of [
		file.subarray(0, file.length / 2),
		file.subarray(0, -1),
		Buffer.concat([file, Buffer.from("x")]),
		changed,
	]) {
		await expect(importInto(url, broken)).rejects.toMatchObject({
			code: "bad_request",
			message: expect.stringContaining("damaged or cut off"),
		});
	}
	expect(await allRows(look)).toEqual(before);
});

test("a file with a row of another organization adds nothing, although its seal is right", async () => {
	const { url, look } = await emptyInstallation();
	const before = await allRows(look);
	const risks = exported.risks ?? [];
	const other = tools.otherOrganizationId;
	const forged = await rewritten((text) =>
		text.replace(`${id}\t${risks[0]?.id}\t`, `${other}\t${risks[0]?.id}\t`),
	);
	await expect(importInto(url, forged)).rejects.toMatchObject({
		code: "bad_request",
		message: expect.stringContaining("rows of another organization"),
	});
	expect(await allRows(look)).toEqual(before);
});

test("an export of another schema is refused with what to do", async () => {
	const { url } = await emptyInstallation();
	const withMigrations = (change: (all: object[]) => object[]) =>
		rewritten((text) => {
			const end = text.indexOf("\n");
			const manifest = JSON.parse(text.slice(0, end));
			manifest.migrations = change(manifest.migrations);
			return JSON.stringify(manifest) + text.slice(end);
		});
	const later = { version: 9999, name: "9999_later.sql", checksum: "x" };
	const newer = await withMigrations((all) => [...all, later]);
	await expect(importInto(url, newer)).rejects.toThrow(
		/made by a newer version of Assay .* upgrade this installation/,
	);
	const older = await withMigrations((all) => all.slice(0, -1));
	await expect(importInto(url, older)).rejects.toThrow(
		/upgrade the other installation .* and export again/,
	);
});

test("a backup is no export, and an export is no backup", async () => {
	const { url } = await emptyInstallation();
	const backup = await backUp(tools.database.url);
	await expect(importInto(url, backup.file)).rejects.toThrow(
		/backup of a whole installation .* restore FILE/,
	);
	await expect(restore(url, file)).rejects.toThrow(
		/contains one organization .* org import FILE/,
	);
});

test("others work while the rows are added, and an import that fails at its end leaves nothing", async () => {
	const { url, look } = await installationWithOthers();
	const before = await rowsOf(look, id);
	const other = tools.otherOrganizationId;
	const during = importOrganization(
		{ connectionString: url },
		Readable.from([file]),
		() => {},
		undefined,
		async () => {
			await connected(look, async (client) => {
				await client.query("set lock_timeout = '2s'");
				for (const table of ["devices", "risks", "people", "posture_spans"]) {
					await client.query(
						`update ${table} set organization_id = organization_id where organization_id = $1`,
						[other],
					);
				}
				await client.query(
					`select audit_append('${other}', '[{"actor_kind": "SYSTEM", "actor_name": "x", "operation": "addRisk"}]')`,
				);
			});
			await verifyLogOf(url, other);
			throw new Error("the end");
		},
	);
	await expect(during).rejects.toThrow("the end");
	expect(await rowsOf(look, id)).toEqual(before);
	expect((await verifyLogOf(url, other)).unsealed).toBe(0);
});

test("an export runs once at a time for an organization, and ends with its reader", async () => {
	const connection = { connectionString: tools.database.url };
	const first = await openOrganizationExport(connection, id);
	await expect(openOrganizationExport(connection, id)).rejects.toMatchObject({
		code: "conflict",
	});
	await first.close();
	const second = await openOrganizationExport(connection, id);
	for await (const _ of second.content) break;
	const third = await openOrganizationExport(connection, id);
	await third.close();
	await expect(
		openOrganizationExport(connection, makeOrganizationId()),
	).rejects.toMatchObject({ code: "not_found" });
});

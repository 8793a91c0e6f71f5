import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openOrganizationExport } from "../../src/backup/export-organization.ts";
import { importOrganization } from "../../src/backup/import-organization.ts";
import { SEAL_LENGTH, seal } from "../../src/backup/seal.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { allRows, backUp, query, restore } from "../support/backups.ts";
import { fillEverything } from "../support/filled-installation.ts";
import { connected } from "../support/installations.ts";
import {
	exportOf,
	importInto,
	verifyLogOf,
} from "../support/organization-files.ts";
import { startTools, type TestTools } from "../support/tools.ts";
import {
	addToLeaveOut,
	deleteNow,
	makeInstallations,
} from "./organization-installations.ts";
import {
	expectedRows,
	importedRows,
	LEFT_BEHIND,
	notedReports,
	type Row,
	rowsOf,
	sorted,
	unpackedReports,
} from "./organization-rows.ts";

let tools: TestTools;
let id: string;
let file: Buffer;
/** The rows of the organization when it was exported. */
let exported: Record<string, Row[]>;
beforeAll(async () => {
	tools = await startTools();
	await fillEverything(tools);
	await addToLeaveOut(tools.database.owner);
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

/** The packed reports of the exported organization, in the form of plain ones. */
let unpacked: Row[] = [];
beforeAll(async () => {
	unpacked = await unpackedReports(tools.database.url, id);
	expect(unpacked).toHaveLength(1);
});

async function expectImported(url: string): Promise<void> {
	const after = await rowsOf(url, id);
	expect(Object.keys(after)).toEqual(Object.keys(exported));
	for (const [table, rows] of Object.entries(exported)) {
		// If the organization was deleted here before, that stays on record.
		if (table === "deleted_organizations") continue;
		expect(sorted(importedRows(table, after[table] ?? [])), table).toEqual(
			sorted(expectedRows(table, rows, unpacked)),
		);
	}
	expect(sorted(after.posture_report_changes ?? [])).toEqual(
		sorted(notedReports(after.posture_reports ?? [])),
	);
}

let installations: Awaited<ReturnType<typeof makeInstallations>>;
beforeAll(async () => {
	installations = await makeInstallations(tools.database.url, id);
});

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
	const { url, look } = await installations.copyEmpty();
	const imported = await importInto(url, file);
	expect(imported.organization.id).toBe(id);
	await expectImported(look);
	const others = await rowsOf(look, id, "other");
	expect(others.organizations).toEqual([]);
	expect(others.users).toEqual([]);
});

test("an import into an installation with other organizations changes none of their rows", async () => {
	const installation = await installations.copyOthers();
	const { url, look } = installation;
	const before = await rowsOf(look, id, "other");
	expect(before.risks?.length).toBeGreaterThan(0);
	await importInto(url, file);
	await expectImported(look);
	expect(await rowsOf(look, id, "other")).toEqual(before);
	// It can be deleted like every other organization, also for the second time.
	await verifyLogOf(look, id);
	await deleteNow(installation, id);
	expect((await rowsOf(look, id)).organizations).toEqual([]);
});

test("the audit log keeps its numbers and hashes, is sound, and continues", async () => {
	const { url, look } = await installations.copyEmpty();
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
	const { url, look } = await installations.copyEmpty();
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
	const { url, look } = await installations.copyEmpty();
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
	const { url: at, look } = await installations.copyEmpty();
	await importInto(at, file);
	await query(
		look,
		`select audit_append('${id}', '[{"actor_kind": "SYSTEM", "actor_name": "x", "operation": "addRisk"}]')`,
	);
	const unsealed = await exportOf(look, id);
	const { url } = await installations.copyEmpty();
	const { head } = await importInto(url, unsealed);
	const report = await verifyLogOf(url, id);
	// Besides the one above, both imports have written an entry.
	expect(report.entries).toBe((head?.sequence ?? 0) + 3);
	expect(report.findings).toEqual([]);
});

test("a second import is refused, and two at the same time add the organization once", async () => {
	const { url, look } = await installations.copyEmpty();
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
	const { url, look } = await installations.copyEmpty();
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
	const { url, look } = await installations.copyEmpty();
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
	const { url } = await installations.copyEmpty();
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
	const { url } = await installations.copyEmpty();
	const backup = await backUp(tools.database.url);
	await expect(importInto(url, backup.file)).rejects.toThrow(
		/backup of a whole installation .* restore FILE/,
	);
	await expect(restore(url, file)).rejects.toThrow(
		/contains one organization .* org import FILE/,
	);
});

test("others work while the rows are added, and an import that fails at its end leaves nothing", async () => {
	const { url, look } = await installations.copyOthers();
	const before = await rowsOf(look, id);
	const other = tools.otherOrganizationId;
	const during = importOrganization(
		{ connectionString: url },
		Readable.from([file]),
		() => {},
		undefined,
		async () => {
			await connected(look, async (client) => {
				await client.query("set lock_timeout = '10s'");
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
	// PostgreSQL notices a moment later that the reader has gone.
	const third = await vi.waitFor(
		() => openOrganizationExport(connection, id),
		60_000,
	);
	await third.close();
	await expect(
		openOrganizationExport(connection, makeOrganizationId()),
	).rejects.toMatchObject({ code: "not_found" });
});

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { query } from "../support/backups.ts";
import { runCommand } from "../support/command.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let folder: string;
let file: string;
beforeAll(async () => {
	tools = await startTools();
	folder = await makeFolder("assay-backup-");
	file = join(folder, "assay.backup");
	const { organizationId: organization_id } = tools;
	await tools.activateDevice();
	await tools.use("addEnrollmentKey", {
		organization_id,
		name: "Laptops",
		max_devices: 5,
	});
	for (const [table, kind, columns, values] of [
		[
			"invitations",
			"invitation",
			"email, role, invited_by, token_hash",
			"'grace@example.com', 'viewer', 'Ada'",
		],
		[
			"scim_credentials",
			"scim_credential",
			"name, created_by, secret_hash",
			"'Okta', 'Ada'",
		],
	] as const) {
		await tools.database.owner.query(
			`insert into ${table} (organization_id, id, expires_at, ${columns})
			values ($1, $2, now() + interval '1 day', ${values}, sha256('secret'))`,
			[organization_id, makeId(organization_id, kind)],
		);
	}
	const made = await runCommand(["backup", file], at());
	expect(made, made.stderr).toMatchObject({ code: 0 });
});
afterAll(async () => {
	await tools.close();
	await rm(folder, { recursive: true, force: true });
});

const at = (url = tools.database.url) => ({ DATABASE_URL: url });

test("a restore lists which credentials are valid again, and revokes what its options say", async () => {
	const revocable = [
		"api_tokens",
		"scim_credentials",
		"enrollment_keys",
		"invitations",
	];
	const restore = async (...options: string[]) => {
		const { url } = await createDatabaseForTest();
		const { code, stdout } = await runCommand(
			["restore", file, "--json", ...options],
			at(url),
		);
		expect(code).toBe(0);
		const live: Record<string, number> = {};
		for (const table of revocable) {
			const rows = await query(
				url,
				`select from ${table} where revoked_at is null`,
			);
			live[table] = rows.length;
		}
		const entries = await query(
			url,
			"select distinct operation from audit_entries where operation ~ '^revoke' order by 1",
		);
		return { ...JSON.parse(stdout), live, entries };
	};
	const { credentials, ...kept } = await restore();
	const all = Object.fromEntries(
		revocable.map((name) => [name, credentials[name].length]),
	);
	expect(Math.min(...Object.values(all))).toBeGreaterThan(0);
	expect(credentials.members.length).toBeGreaterThan(0);
	expect(kept).toMatchObject({ live: all, revoked_api_tokens: 0, revoked: [] });

	expect(await restore("--revoke-tokens")).toMatchObject({
		live: { ...all, api_tokens: 0 },
		revoked_api_tokens: all.api_tokens,
		revoked: ["api_tokens"],
	});
	expect(await restore("--revoke-credentials")).toMatchObject({
		live: {
			api_tokens: 0,
			scim_credentials: 0,
			enrollment_keys: 0,
			invitations: 0,
		},
		revoked: revocable,
		entries: [
			{ operation: "revokeApiToken" },
			{ operation: "revokeEnrollmentKey" },
			{ operation: "revokeInvitation" },
			{ operation: "revokeScimCredential" },
		],
	});
});

test("the text of a restore names every list, its entries, and which were revoked", async () => {
	const restore = async (...options: string[]) => {
		const { url } = await createDatabaseForTest();
		return (await runCommand(["restore", file, ...options], at(url))).stdout;
	};
	const kept = await restore();
	for (const list of [
		/^ {2}API tokens: \d+$/m,
		/^ {2}SCIM credentials: 1\n {4}\S+ .+, Okta$/m,
		/^ {2}enrollment keys: 1\n {4}\S+ .+, Laptops$/m,
		/^ {2}devices with an enrollment token: \d+$/m,
		/^ {2}invitations: 1\n {4}\S+ .+, grace@example\.com$/m,
		/^ {2}identity providers of organizations: 0$/m,
		/^ {2}verified domains: 0$/m,
		/^ {2}device keys: 1\n/m,
		/^ {2}members: \d+\n/m,
	]) {
		expect(kept).toMatch(list);
	}
	expect(kept).not.toContain("now revoked");
	const revoked = await restore("--revoke-credentials");
	expect(revoked.match(/^ {2}.+(?=: \d+, now revoked$)/gm)).toEqual([
		"  API tokens",
		"  SCIM credentials",
		"  enrollment keys",
		"  invitations",
	]);
});

import { beforeAll, expect, test } from "vitest";
import {
	CREDENTIAL_LISTS,
	type Credentials,
	readCredentials,
} from "../../src/backup/credentials.ts";
import { OF_THE_MOMENT } from "../../src/backup/tables.ts";
import { makeId } from "../../src/id.ts";
import { query } from "../support/backups.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});

/** Returns the entries of our organization in a list. */
async function listed(list: keyof Credentials): Promise<string[]> {
	const all = await readCredentials({ connectionString: tools.database.url });
	return all[list]
		.filter(
			(one) =>
				"organization_id" in one &&
				one.organization_id === tools.organizationId,
		)
		.map((one) => ("name" in one ? one.name : ""));
}

const run = (sql: string, ...values: unknown[]) =>
	tools.database.owner.query(sql, [tools.organizationId, ...values]);

test("open enrollment keys, enrollment tokens, SCIM credentials and invitations are listed, and closed ones are not", async () => {
	const { organizationId: organization_id } = tools;
	for (const name of ["Open key", "Revoked key", "Expired key"]) {
		await tools.use("addEnrollmentKey", {
			organization_id,
			name,
			max_devices: 5,
		});
		const { device } = await tools.use("addDevice", { organization_id });
		await run(
			"update devices set name = $2 where organization_id = $1 and id = $3",
			name.replace("key", "device"),
			device.id,
		);
		await run(
			`insert into scim_credentials (organization_id, id, name, secret_hash, created_by, expires_at)
			values ($1, $2, $3::text, sha256(convert_to($3::text, 'UTF8')), 'Ada', now() + interval '1 day')`,
			makeId(organization_id, "scim_credential"),
			name.replace("key", "credential"),
		);
		await run(
			`insert into invitations (organization_id, id, email, role, token_hash, invited_by, expires_at)
			values ($1, $2, $3::text, 'viewer', sha256(convert_to($3::text, 'UTF8')), 'Ada', now() + interval '7 days')`,
			makeId(organization_id, "invitation"),
			name.toLowerCase().replace(" key", "@example.com"),
		);
	}
	for (const [table, name] of [
		["enrollment_keys", "t.name"],
		["scim_credentials", "t.name"],
		["invitations", "t.email"],
		["enrollment_tokens", "(select name from devices where id = t.device_id)"],
	]) {
		await run(
			`update ${table} t set revoked_at = now() where organization_id = $1 and ${name} ilike 'revoked%'`,
		);
		await run(
			`update ${table} t set expires_at = now() where organization_id = $1 and ${name} ilike 'expired%'`,
		);
	}
	await run(
		`insert into invitations (organization_id, id, email, role, token_hash, invited_by, expires_at, accepted_at)
		values ($1, $2, 'accepted@example.com', 'viewer', sha256('accepted'), 'Ada', now() + interval '7 days', now())`,
		makeId(organization_id, "invitation"),
	);
	// A device that was removed keeps its open token, which enrolls nothing.
	const { device } = await tools.use("addDevice", { organization_id });
	await run(
		"update devices set status = 'REVOKED', revoked_at = now() where organization_id = $1 and id = $2",
		device.id,
	);
	expect(await listed("enrollment_keys")).toEqual(["Open key"]);
	expect(await listed("enrollment_tokens")).toEqual(["Open device"]);
	expect(await listed("scim_credentials")).toEqual(["Open credential"]);
	expect(await listed("invitations")).toEqual(["open@example.com"]);
});

test("identity providers in use and verified domains are listed, and others are not", async () => {
	const { organizationId: organization_id } = tools;
	for (const name of ["used", "unused"]) {
		await run(
			`insert into identity_providers
				(organization_id, id, kind, name, issuer, client_id, client_secret, is_enabled, tested_at)
			values ($1, $2, 'OIDC', $3::text, 'https://' || $3::text || '.example.com', 'assay', 'sealed', $4, now())`,
			makeId(organization_id, "identity_provider"),
			name,
			name === "used",
		);
		await run(
			`insert into organization_domains (organization_id, id, domain, challenge, verified_by, verified_at)
			values ($1, $2, $3, 'challengechallengechallenge', $4::text, case when $4::text is not null then now() end)`,
			makeId(organization_id, "domain"),
			`${name}.credentials.example`,
			name === "used" ? "DNS" : null,
		);
	}
	expect(await listed("identity_providers")).toEqual(["used"]);
	expect(await listed("domains")).toEqual(["used.credentials.example"]);
});

test("device keys are listed from the enrollment until they are revoked", async () => {
	const before = await listed("devices");
	await tools.use("addDevice", { organization_id: tools.organizationId });
	expect(await listed("devices")).toEqual(before);
	await tools.enrollDevice();
	expect(await listed("devices")).toHaveLength(before.length + 1);
	const { key } = await tools.activateDevice();
	expect(await listed("devices")).toHaveLength(before.length + 2);
	await tools.post("unenroll", "", { key });
	expect(await listed("devices")).toHaveLength(before.length + 1);
});

test("API tokens are listed until they are revoked or expire", async () => {
	for (const [name, more] of [
		["Unlimited", {}],
		["Lasting", { expires_at: "2999-01-01" }],
		["Expired", { expires_at: "2000-01-01" }],
		["Revoked", { revoked_at: "2000-01-01" }],
	] as const) {
		await tools.database.owner.query(
			`insert into api_tokens (id, user_id, name, token_hash, expires_at, revoked_at)
			select $1, user_id, $2::text, sha256(convert_to($2::text, 'UTF8')), $3, $4 from memberships
			where organization_id = $5 limit 1`,
			[
				makeId(tools.organizationId, "api_token"),
				`Restored: ${name}`,
				"expires_at" in more ? more.expires_at : null,
				"revoked_at" in more ? more.revoked_at : null,
				tools.organizationId,
			],
		);
	}
	const { api_tokens } = await readCredentials({
		connectionString: tools.database.url,
	});
	expect(
		api_tokens
			.map(({ name }) => name)
			.filter((name) => name.startsWith("Restored: "))
			.sort(),
	).toEqual(["Restored: Lasting", "Restored: Unlimited"]);
});

/** Tables with such columns that no list needs, each with the reason. */
const NOT_LISTED: Readonly<Record<string, string>> = {
	accounts: "a user's own password, which the text of the command names",
	two_factors: "a second factor gives no access alone",
	connected_apps: "belongs to an API token",
	audit_heads: "the chain of the audit log",
	audit_seals: "the chain of the audit log",
	deleted_organizations: "the chain of what stays of organizations",
	devices: "in the list of devices; hardware_hash is no secret",
	document_signatures: "the hash of a text",
	document_versions: "the hash of a text",
	file_chunks: "the contents of files",
	idempotency_keys: "the hash of an input",
	notification_channels:
		"the service sends there and accepts nothing from there",
	passkeys: "a user's own, which the text of the command names",
	revoked_device_keys: "these keys are refused",
};

test("every table of a backup that has a secret is in a list, or has a reason why not", async () => {
	const tables = await query<{ name: string }>(
		tools.database.url,
		`select distinct c.relname as name
		from pg_class c join pg_attribute a on a.attrelid = c.oid
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
			-- The columns with sha256 in their names have hashes of contents.
			and (format_type(a.atttypid, null) = 'bytea' and a.attname !~ 'sha256'
				or format_type(a.atttypid, null) in ('text', 'text[]', 'jsonb')
				and a.attname ~ 'hash|secret|token|password|credential|code|sealed|challenge|private'
				and a.attname !~ '_(id|name)$')
			and c.relname <> all ($1)
		order by 1`,
		[OF_THE_MOMENT],
	);
	const lists = Object.values(CREDENTIAL_LISTS).flatMap(
		(statement) => statement.match(/(?<=from )\w+/g) ?? [],
	);
	const forgotten = tables
		.map(({ name }) => name)
		.filter((name) => !lists.includes(name) && !(name in NOT_LISTED));
	// A new table belongs into CREDENTIAL_LISTS if an outsider can present its secret to the service.
	expect(forgotten).toEqual([]);
	const names = tables.map(({ name }) => name);
	expect(
		Object.keys(NOT_LISTED).filter((name) => !names.includes(name)),
	).toEqual([]);
});

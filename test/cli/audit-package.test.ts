import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
import { copyDataFolder } from "../support/made-data.ts";
import { readZip } from "../support/read-zip.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let folder: string;
beforeAll(async () => {
	tools = await startTools();
	folder = await makeFolder("assay-package-");
});
afterAll(async () => {
	await tools.close();
	await rm(folder, { recursive: true, force: true });
});

const make = (...args: string[]) =>
	runCommand(["org", "audit-package", tools.organizationId, ...args], {
		DATABASE_URL: tools.database.url,
	});

test("the operator writes a package, which is in the audit log", async () => {
	const { organizationId: organization_id } = tools;
	const { framework } = await tools.use("addFramework", {
		...{ organization_id, name: "ISO/IEC 27001" },
	});
	const { audit } = await tools.use("addAudit", {
		...{ organization_id, framework_id: framework.id, name: "First" },
		...{ valid_from: "2026-01-01", valid_until: "2026-12-31" },
	});
	const file = join(folder, "package.zip");
	const { code, stdout, stderr } = await make(
		...[file, "--audit", audit.id, "--without-files", "--json"],
	);
	expect(code, stderr).toBe(0);
	const files = readZip(readFileSync(file));
	expect(JSON.parse(String(files.get("manifest.json")))).toMatchObject({
		audit: { id: audit.id },
		period: { from: "2026-01-01", until: "2026-12-31" },
		made_by: "command line",
		with_files: false,
	});
	const { manifest_sha256 } = JSON.parse(stdout);
	expect(String(files.get("SHA256SUMS"))).toContain(
		`${manifest_sha256}  manifest.json\n`,
	);
	const { audit_entries } = await tools.use("listAuditLog", {
		organization_id,
		filter: { operation: "exportAuditPackage" },
	});
	expect(audit_entries).toMatchObject([
		{ actor_kind: "SYSTEM", record_id: audit.id },
	]);
});

test("a package comes from the embedded database, where every login needs a password", async () => {
	const dataDir = join(folder, "data");
	await copyDataFolder(dataDir);
	const settings = { ASSAY_DATA_DIR: dataDir };
	const org = await runCommand(
		["org", "create", "--name", "Acme", "--json"],
		settings,
	);
	const { organization_id: id } = JSON.parse(org.stdout);
	const file = join(folder, "embedded.zip");
	const { code, stderr } = await runCommand(
		[
			...["org", "audit-package", id, file],
			...["--from", "2026-01-01", "--until", "2026-12-31"],
		],
		settings,
	);
	expect(code, stderr).toBe(0);
	expect(readZip(readFileSync(file)).has("manifest.json")).toBe(true);
});

test("a package without a period, or over another file, is refused", async () => {
	const file = join(folder, "other.zip");
	const none = await make(file);
	expect(none.code).toBe(1);
	expect(none.stderr).toContain("from: must be given, unless audit_id names");
	const period = ["--from", "2026-01-01", "--until", "2026-02-01"];
	expect((await make(file, ...period)).stdout).toContain(
		"SHA-256 of its manifest.json: ",
	);
	expect((await make(file, ...period)).code).toBe(1);
});

import { createHash, randomBytes } from "node:crypto";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, test } from "vitest";
import { safeName } from "../../src/audit-package/chosen-files.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { readZip } from "../support/read-zip.ts";
import { postureResult } from "../support/service.ts";

const FORMULA = '=HYPERLINK("https://evil.example","Open")';
const YEAR = new Date().getUTCFullYear();
const PERIOD = { from: `${YEAR}-01-01`, until: `${YEAR}-12-31` };
const EARLIER = { from: "2019-03-01", until: "2019-06-30" };
/** It is stored in three pieces. */
const PDF = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(700_000)]);

let served: TestConsole;
let admin: Session;
let organization_id: string;
let auditId: string;
let policyId: string;
let evidenceId: string;
/** The package of `PERIOD`. */
let made: Package;
beforeAll(async () => {
	served = await startConsole();
	organization_id = served.organizationId;
	admin = await served.signIn("admin");
	const add = async (operation: string, key: string, input: object) =>
		(await admin.use(operation, { organization_id, ...input }))[key].id;
	const risk = {
		...{ category: "Fraud", treatment: "MITIGATED" },
		...{ inherent_likelihood: 1, inherent_impact: 1 },
	};
	await add("addRisk", "risk", { ...risk, name: FORMULA });
	const framework_id = await add("addFramework", "framework", {
		name: "ISO/IEC 27001",
	});
	const other = await add("addFramework", "framework", { name: "SOC 2" });
	const control = { section_title: "A.8", name: "Backups" };
	const controlId = await add("addControl", "control", {
		...{ ...control, framework_id, status: "INCLUDED" },
	});
	await add("addControl", "control", {
		...{ ...control, framework_id: other, status: "INCLUDED" },
	});
	await add("addMeasure", "measure", {
		name: "Nightly copies",
		category: "Operations",
		state: "IMPLEMENTED",
		linked_record_ids: [controlId],
	});
	auditId = await add("addAudit", "audit", {
		framework_id,
		name: "Surveillance",
		valid_from: PERIOD.from,
		valid_until: PERIOD.until,
	});
	policyId = await add("addDocument", "document", {
		title: "Policy: backups?",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const archived = await add("addDocument", "document", {
		title: "Given up in 2018",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: old } = await admin.use(
		"createDraftDocumentVersion",
		{ document_id: archived, content: "Old" },
	);
	await admin.use("publishDocumentVersion", { id: old.id });
	for (const content of ["First", "Second", "Third"]) {
		const { document_version } = await admin.use("createDraftDocumentVersion", {
			document_id: policyId,
			content,
		});
		await admin.use("publishDocumentVersion", { id: document_version.id });
	}
	// A trigger keeps published versions as they are.
	await served.database.owner.query(`
		alter table document_versions disable trigger user;
		update document_versions set published_at = case version_number
			when 1 then '2018-01-01' else '2019-05-01' end::timestamptz
		where version_number < 3;
		alter table document_versions enable trigger user;
		update documents set archived_at = '2018-12-01' where title like 'Given up%'`);
	evidenceId = await upload(admin, organization_id, "Report.pdf", PDF);
	await upload(admin, organization_id, "Old.txt", Buffer.from("Old"), {
		valid_until: "2018-12-31",
	});
	const { key } = await served.activateDevice();
	await served.post("postures", { results: [postureResult()] }, { key });

	const foreign = await createOrganization(served.database.pool, "Foreign");
	const stranger = await served.signIn("admin", foreign);
	await stranger.use("addRisk", {
		...{ ...risk, organization_id: foreign, name: "Foreign risk" },
	});
	await upload(stranger, foreign, "Foreign.txt", Buffer.from("Foreign file"));
	await served.activateDevice(foreign);
	made = await packageOf(PERIOD);
});
afterAll(() => served.close());

async function upload(
	{ cookie }: Session,
	organization: string,
	name: string,
	body: Buffer,
	more: Record<string, string> = {},
): Promise<string> {
	const { url } = served.service;
	const query = new URLSearchParams({
		...{ organization_id: organization, file_name: name, ...more },
	});
	const answer = await fetch(`${url}/api/console/files?${query}`, {
		method: "POST",
		headers: {
			cookie,
			origin: url,
			"content-type": "application/octet-stream",
		},
		body: new Uint8Array(body),
	});
	expect(answer.status).toBe(201);
	return ((await answer.json()) as { evidence: { id: string } }).evidence.id;
}

const ask = (session: Session, input: object) =>
	session.call("exportAuditPackage", { organization_id, ...input });

async function packageOf(input: object) {
	const { status, body } = await ask(admin, input);
	expect(status, body.message).toBe(200);
	const answer = await admin.get(body.download_path);
	expect(answer.status).toBe(200);
	const zip = Buffer.from(await answer.arrayBuffer());
	const files = readZip(zip);
	const text = (path: string) => {
		const found = files.get(path);
		if (!found) throw new Error(`${path} is not in the package`);
		return found.toString("utf8");
	};
	return {
		headers: answer.headers,
		files,
		paths: [...files.keys()],
		text,
		rows: (path: string): Record<string, string>[] =>
			parse(text(path), { bom: true, columns: true }),
		manifest: JSON.parse(text("manifest.json")),
	};
}

type Package = Awaited<ReturnType<typeof packageOf>>;

test("the package of an audit has what an auditor asks for, and no more than its framework's statement", async () => {
	const { headers, paths, text, rows, manifest } = await packageOf({
		audit_id: auditId,
	});
	expect(headers.get("content-type")).toBe("application/zip");
	expect(headers.get("content-disposition")).toMatch(
		/filename="Acme-audit-package-\d{4}-\d\d-\d\d\.zip"/,
	);
	expect(headers.get("cache-control")).toBe("private, no-store");
	expect(text("README.txt")).toMatch(/^Audit: +Surveillance$/m);
	expect(text("README.txt")).toContain(`${PERIOD.from} to ${PERIOD.until}`);
	expect(manifest).toMatchObject({
		organization: { id: organization_id, name: "Acme" },
		audit: { id: auditId, framework: "ISO/IEC 27001" },
		period: { ...PERIOD, time_zone: "UTC" },
		made_by: admin.user.name,
	});
	const statements = paths.filter((path) =>
		/^statements\/.* .*csv$/.test(path),
	);
	expect(statements).toHaveLength(1);
	expect(rows(statements[0] ?? "")).toMatchObject([
		{
			name: "Backups",
			applies: "true",
			implementation: "IMPLEMENTED",
			measures: "Nightly copies (IMPLEMENTED)",
		},
	]);
	expect(rows("registers/links.csv")).toHaveLength(1);
	expect(rows("devices/devices.csv")).toHaveLength(1);
	expect(rows("devices/check-history.csv")).toMatchObject([
		{ check_key: postureResult().check_key, status: postureResult().status },
	]);
	expect(rows("members.csv")).toMatchObject([
		{ email: admin.user.email, role: "admin" },
	]);
});

test("every register has its file, and no cell is a formula", async () => {
	const { rows, paths } = await packageOf({ ...PERIOD, with_files: false });
	expect(paths.filter((path) => path.startsWith("registers/"))).toHaveLength(
		17,
	);
	expect(rows("registers/risks.csv")).toMatchObject([{ name: `'${FORMULA}` }]);
	expect(rows("registers/documents.csv")).toHaveLength(2);
});

test("the digests, sizes and counts of the manifest are those of the files", async () => {
	const { files, text, rows, manifest } = made;
	const sums: string[] = [];
	for (const { path, size_bytes, sha256, rows: count } of manifest.files) {
		const content = files.get(path) ?? Buffer.alloc(0);
		expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
		expect(content.length).toBe(size_bytes);
		if (path.endsWith(".csv")) expect(rows(path).length, path).toBe(count);
		sums.push(`${sha256}  ${path}`);
	}
	expect(manifest.files.length).toBe(files.size - 2);
	const digest = createHash("sha256")
		.update(files.get("manifest.json") ?? "")
		.digest("hex");
	expect(text("SHA256SUMS")).toBe(
		`${[...sums, `${digest}  manifest.json`].join("\n")}\n`,
	);
});

test("the files of evidence are whole, and only their names are there if they are left out", async () => {
	const path = `evidence/${evidenceId} Report.pdf`;
	expect(made.files.get(path)?.equals(PDF)).toBe(true);
	expect(made.rows("evidence/files.csv")).toMatchObject([{ file: path }]);
	const names = await packageOf({ ...PERIOD, with_files: false });
	expect(names.paths.some((one) => one.endsWith("Report.pdf"))).toBe(false);
	expect(names.rows("evidence/files.csv")).toMatchObject([
		{ file_name: "Report.pdf", file: "" },
	]);
});

test("documents, devices, evidence and the audit log are those of the period", async () => {
	const namesOf = ({ paths }: { paths: string[] }) =>
		paths.filter((path) => path.endsWith(".md"));
	expect(namesOf(made)).toEqual([
		expect.stringMatching(/^documents\/Policy_ backups_ v2 /),
		expect.stringMatching(/^documents\/Policy_ backups_ v3 /),
	]);
	const entries = made.rows("audit-log/entries.csv");
	expect(entries[0]).toMatchObject({
		operation: "exportAuditPackage",
		actor_name: admin.user.name,
	});
	const sealed = made.text("audit-log/entries.jsonl").trim().split("\n");
	expect(sealed.length).toBe(entries.length);
	expect(JSON.parse(sealed.at(-1) ?? "").hash).toBe(entries[0]?.hash);
	expect(JSON.parse(made.text("audit-log/verification.json"))).toMatchObject({
		finding_count: 0,
		head: { hash: entries[0]?.hash },
	});

	const earlier = await packageOf(EARLIER);
	expect(namesOf(earlier)).toEqual([
		expect.stringMatching(/^documents\/Policy_ backups_ v1 /),
		expect.stringMatching(/^documents\/Policy_ backups_ v2 /),
	]);
	expect(earlier.rows("audit-log/entries.csv")).toEqual([]);
	expect(earlier.text("audit-log/entries.jsonl")).toBe("");
	expect(earlier.rows("devices/devices.csv")).toEqual([]);
	expect(earlier.rows("devices/check-history.csv")).toEqual([]);
	const before = await packageOf({ from: "2018-01-01", until: "2018-02-01" });
	expect(before.rows("evidence/files.csv")).toHaveLength(2);
});

test("nothing of another organization is in the package", async () => {
	for (const [path, content] of made.files) {
		expect(path).not.toContain("Foreign");
		expect(content.includes("Foreign"), path).toBe(false);
	}
});

test("only an administrator with a fresh proof gets a package", async () => {
	for (const role of ["viewer", "member"] as const) {
		expect((await ask(await served.signIn(role), PERIOD)).status).toBe(403);
	}
	const stale = await served.signIn("admin");
	await served.database.owner.query(
		"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
		[stale.user.id],
	);
	const { status, body } = await ask(stale, PERIOD);
	expect(status).toBe(403);
	expect(body.fields).toMatchObject([{ field: "proof" }]);
	const { body: given } = await ask(admin, PERIOD);
	const other = await served.signIn("admin");
	expect((await other.get(given.download_path)).status).toBe(403);
});

test("a package is in the audit log, with its audit and its period", async () => {
	await ask(admin, {
		audit_id: auditId,
		from: EARLIER.from,
		with_files: false,
	});
	const { audit_entries } = await admin.use("listAuditLog", {
		organization_id,
		filter: { operation: "exportAuditPackage" },
	});
	expect(audit_entries[0]).toMatchObject({
		record_kind: "audit",
		record_id: auditId,
		changes: {
			from: { after: EARLIER.from },
			until: { after: PERIOD.until },
			left_out: { after: ["files"] },
		},
	});
});

test("a period must be known, in order, and not in the future", async () => {
	const { audit } = await admin.use("addAudit", {
		organization_id,
		framework_id: (
			await admin.use("addFramework", { organization_id, name: "Empty" })
		).framework.id,
	});
	for (const [input, message] of [
		[{}, "from: must be given, unless audit_id names an audit"],
		[{ from: "2026-01-01" }, "until: must be given, unless"],
		[{ audit_id: audit.id }, "from: must be given, because the audit has no"],
		[{ from: "2026-02-01", until: "2026-01-01" }, "until: must not be before"],
		[{ from: "2999-01-01", until: "2999-01-02" }, "from: must not be after"],
		[{ from: "1900-01-01", until: "1999-01-01" }, "from: must be from 1900-01"],
		[
			{ from: "2026-01-01", until: "9999-12-31" },
			"until: must be from 1900-01",
		],
	] as const) {
		const { status, body } = await ask(admin, input);
		expect(status).toBe(400);
		expect(body.message).toContain(message);
	}
	const gone = auditId.replace(/.{4}$/, "0000");
	expect((await ask(admin, { audit_id: gone })).status).toBe(404);
});

test("a name of letters with many bytes leaves room for an id in the 255 of Linux", () => {
	expect(safeName("ท".repeat(100))).toBe("ท".repeat(60));
	expect(safeName("a. ".repeat(3))).toBe("a. a. a");
});

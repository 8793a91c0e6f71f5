import { createHash } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTools, type TestTools } from "../support/tools.ts";

/** Answers as clamd does: it reads INSTREAM, and finds what contains the word "EICAR". */
function startClamd(): Promise<{ server: Server; address: string }> {
	const server = createServer((socket) => {
		let received = Buffer.alloc(0);
		socket.on("data", (bytes: Buffer) => {
			received = Buffer.concat([received, bytes]);
			if (!received.subarray(-4).equals(Buffer.alloc(4))) return;
			const isFound = received.includes("EICAR");
			socket.end(`stream: ${isFound ? "Eicar-Signature FOUND" : "OK"}\0`);
		});
		socket.on("error", () => {});
	});
	return new Promise((resolve) => {
		server.listen(0, "127.0.0.1", () => {
			const address = server.address();
			if (typeof address !== "object" || !address) throw new Error("no port");
			resolve({ server, address: `127.0.0.1:${address.port}` });
		});
	});
}

const MIB = 1 << 20;
const pdf = (bytes = 2_000, filling = "x") =>
	Buffer.from(`%PDF-1.7\n${filling.repeat(bytes)}`.slice(0, bytes));

let tools: TestTools;
let clamd: Awaited<ReturnType<typeof startClamd>>;
let measureId: string;
let controlId: string;

beforeAll(async () => {
	clamd = await startClamd();
	tools = await startTools(undefined, {
		ASSAY_MAX_FILE_MB: "2",
		ASSAY_MAX_FILES_GB: "1",
		ASSAY_CLAMD: clamd.address,
	});
	const { organizationId: organization_id } = tools;
	const { measure } = await tools.use("addMeasure", {
		organization_id,
		name: "Access review",
		category: "Access",
	});
	measureId = measure.id;
	const { framework } = await tools.use("addFramework", {
		organization_id,
		name: "ISO 27001",
	});
	const { control } = await tools.use("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.5.18",
		name: "Access rights",
	});
	controlId = control.id;
});

afterAll(async () => {
	await tools?.close();
	clamd?.server.close();
});

type Query = Record<string, string | string[]>;

async function upload(
	query: Query,
	body: Buffer | string | ReadableStream,
	token = tools.member.token,
) {
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query)) {
		for (const one of [value].flat()) search.append(name, one);
	}
	const response = await fetch(`${tools.url}/api/files?${search}`, {
		method: "POST",
		headers: { authorization: `Bearer ${token}` },
		body,
		...(body instanceof ReadableStream && { duplex: "half" }),
	} as RequestInit);
	return { status: response.status, body: JSON.parse(await response.text()) };
}

const download = (id: string, token = tools.viewer.token) =>
	fetch(`${tools.url}/api/files/${id}`, {
		headers: { authorization: `Bearer ${token}` },
	});

/** Counts the rows of the tables of files. */
async function storedRows(): Promise<Record<string, number>> {
	const { rows } = await tools.database.owner.query(
		`select (select count(*) from file_contents)::int as contents,
			(select count(*) from file_chunks)::int as chunks,
			(select count(*) from evidence_files)::int as files,
			(select count(*) from evidence)::int as evidence`,
	);
	return rows[0];
}

test("a file is stored with its hash and its sender, linked to its records, and comes back unchanged", async () => {
	const content = Buffer.concat([pdf(10), Buffer.alloc(700_000, "content ")]);
	const { status, body } = await upload(
		{
			record_id: [measureId, controlId],
			file_name: "Zugriffsprüfung Q3.pdf",
			valid_until: "2027-01-31",
		},
		content,
	);
	expect(status, JSON.stringify(body)).toBe(201);
	const sha256 = createHash("sha256").update(content).digest("hex");
	expect(body.evidence).toMatchObject({
		name: "Zugriffsprüfung Q3.pdf",
		valid_until: "2027-01-31",
		file: {
			file_name: "Zugriffsprüfung Q3.pdf",
			content_type: "application/pdf",
			size_bytes: content.length,
			sha256,
			has_content: true,
		},
	});
	const { linked_records } = await tools.use("listLinkedRecords", {
		record_id: measureId,
	});
	expect(linked_records).toMatchObject([
		{ kind: "evidence", id: body.evidence.id },
	]);

	const response = await download(body.evidence.id);
	expect(response.status).toBe(200);
	expect(Object.fromEntries(response.headers)).toMatchObject({
		"content-type": "application/pdf",
		"content-disposition":
			"attachment; filename=\"Zugriffspr_fung Q3.pdf\"; filename*=UTF-8''Zugriffspr%C3%BCfung%20Q3.pdf",
		"x-content-type-options": "nosniff",
		"content-security-policy":
			"sandbox; default-src 'none'; frame-ancestors 'none'",
	});
	expect(Buffer.from(await response.arrayBuffer())).toEqual(content);

	const { audit_entries: entries } = await tools.use("listAuditLog", {
		organization_id: tools.organizationId,
		filter: { record_id: body.evidence.id },
	});
	expect(JSON.stringify(entries)).toContain(sha256);
});

test("a content is stored once, and goes with the last file that has it", async () => {
	const before = await storedRows();
	const content = pdf(3_000, "shared");
	const add = async (file_name: string) =>
		(await upload({ record_id: measureId, file_name }, content)).body.evidence;
	const [one, other] = [await add("one.pdf"), await add("other.pdf")];
	expect((await storedRows()).contents).toBe((before.contents ?? 0) + 1);
	await tools.use("deleteEvidence", { id: one.id });
	expect((await download(other.id)).status).toBe(200);
	await tools.use("deleteEvidence", { id: other.id });
	expect(await storedRows()).toEqual(before);
	const { audit_entries: entries } = await tools.use("listAuditLog", {
		organization_id: tools.organizationId,
		filter: { record_id: other.id, operation: "deleteEvidence" },
	});
	expect(JSON.stringify(entries)).toContain("other.pdf");
});

test.each([
	["a program named as a PDF", "a.pdf", Buffer.from("MZ\u0000\u0003program")],
	["a PDF named as an image", "a.png", pdf()],
	["a web page", "page.html", Buffer.from("<script>alert(1)</script>")],
	["a drawing that can hold scripts", "a.svg", Buffer.from("<svg/>")],
	["a program without an extension", "program", Buffer.from("\u007fELF")],
	["binary named as a text", "a.txt", Buffer.from([0x61, 0xff, 0xfe, 0x62])],
	["a text with NUL", "a.csv", Buffer.from("a,b\0c")],
	[
		"an archive named as a document",
		"a.docx",
		Buffer.from("PK\u0003\u0004zip"),
	],
	["an empty file", "a.txt", Buffer.alloc(0)],
	["malware", "a.txt", Buffer.from("EICAR")],
	["a file that is too large", "a.pdf", pdf(2 * MIB + 1)],
])("%s is refused with 400, and nothing of it stays", async (_, file_name, content) => {
	const before = await storedRows();
	const { status, body } = await upload(
		{ record_id: measureId, file_name },
		content,
	);
	expect([status, body.error]).toEqual([400, "bad_request"]);
	expect(await storedRows()).toEqual(before);
});

test.each([
	"../../etc/passwd.txt",
	"C:\\windows\\a.txt",
	"a\u0000b.txt",
	"a\nb.txt",
	"photo\u202Etxt.exe.png",
	".htaccess.txt",
	"a.txt ",
	`${"a".repeat(252)}.txt`,
	"",
])("a file may not be named %j", async (file_name) => {
	const { status, body } = await upload(
		{ record_id: measureId, file_name },
		"text",
	);
	expect(status).toBe(400);
	expect(body.message).toMatch(/^file_name: /);
});

test("an upload larger than any file is refused while it arrives", async () => {
	const before = await storedRows();
	let sent = 0;
	const endless = new ReadableStream({
		pull(controller) {
			sent += MIB;
			controller.enqueue(sent === MIB ? pdf(MIB) : Buffer.alloc(MIB, "x"));
		},
	});
	const answer = await upload(
		{ record_id: measureId, file_name: "endless.pdf" },
		endless,
	).catch(() => undefined);
	if (answer) expect(answer.body.message).toContain("at most 2 MB");
	expect(await storedRows()).toEqual(before);
});

/** Counts the files in which this process keeps uploads that are arriving. */
function openUploads(): number {
	const links = readdirSync("/proc/self/fd").map((fd) => {
		try {
			return readlinkSync(`/proc/self/fd/${fd}`);
		} catch {
			return "";
		}
	});
	return links.filter((link) => link.includes("assay-upload-")).length;
}

test("an upload that is cut off leaves nothing", async () => {
	const before = await storedRows();
	const { port, hostname } = new URL(tools.url);
	const socket = connect(Number(port), hostname);
	socket.on("error", () => {});
	socket.write(
		[
			`POST /api/files?record_id=${measureId}&file_name=cut.pdf HTTP/1.1`,
			`Host: ${hostname}:${port}`,
			`Authorization: Bearer ${tools.member.token}`,
			"Content-Length: 100000",
			"",
			"%PDF-1.7 the rest never comes",
		].join("\r\n"),
	);
	await expect.poll(openUploads).toBe(1);
	socket.destroy();
	await expect.poll(openUploads).toBe(0);
	expect(await storedRows()).toEqual(before);
});

test("nothing is read before it is known who asks and whether they may", async () => {
	const query = { record_id: measureId, file_name: "a.pdf" };
	expect((await upload(query, pdf(), "wrong")).status).toBe(401);
	expect((await upload(query, pdf(), tools.viewer.token)).status).toBe(403);
	expect((await upload(query, pdf(), tools.stranger.token)).status).toBe(404);
	const foreign = { ...query, organization_id: tools.otherOrganizationId };
	expect((await upload(foreign, pdf())).status).toBe(403);
});

test("another organization cannot read a file, and a text has no file to read", async () => {
	const { body } = await upload(
		{ record_id: measureId, file_name: "own.txt" },
		"private",
	);
	expect((await download(body.evidence.id, tools.stranger.token)).status).toBe(
		404,
	);
	const { evidence } = await tools.use("addEvidence", {
		organization_id: tools.organizationId,
		name: "Seen in person",
		linked_record_ids: [measureId],
	});
	expect(evidence.file).toBeNull();
	expect((await download(evidence.id)).status).toBe(404);
});

test("an idempotency key stores a file once, and is an error with another content", async () => {
	const query = {
		record_id: measureId,
		file_name: "once.txt",
		idempotency_key: "once",
	};
	const first = await upload(query, "one");
	const again = await upload(query, "one");
	expect(again.body.evidence.id).toBe(first.body.evidence.id);
	const { status, body } = await upload(query, "other");
	expect(status).toBe(400);
	expect(body.message).toContain("idempotency_key");
});

test("two uploads at once cannot exceed the quota together", async () => {
	// One file fits into what is left, and two do not.
	const { rows } = await tools.database.owner.query<{ used: number }>(
		"select coalesce(sum(size_bytes), 0)::float8 as used from file_contents where organization_id = $1",
		[tools.organizationId],
	);
	const left = 1_500_000;
	await tools.database.owner.query(
		"insert into file_contents (organization_id, sha256, size_bytes) values ($1, $2, $3)",
		[
			tools.organizationId,
			Buffer.alloc(32, 1),
			1024 * MIB - (rows[0]?.used ?? 0) - left,
		],
	);
	const answers = await Promise.all(
		["one", "two", "three"].map((name) =>
			upload(
				{ record_id: measureId, file_name: `${name}.pdf` },
				pdf(1_000_000, name),
			),
		),
	);
	expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
	const refused = answers.find(({ status }) => status === 400);
	expect(refused?.body.message).toContain("at most 1 GB together");
	const late = await upload(
		{ record_id: measureId, file_name: "late.pdf" },
		pdf(1_000_000, "late"),
	);
	expect(late.status).toBe(400);
	await tools.database.owner.query(
		"delete from file_contents where sha256 = $1",
		[Buffer.alloc(32, 1)],
	);
});

test("a form is refused, because its parts would become a part of the file", async () => {
	const form = new FormData();
	form.append("file", new Blob(["text"]), "a.txt");
	const response = await fetch(
		`${tools.url}/api/files?record_id=${measureId}&file_name=a.txt`,
		{
			method: "POST",
			headers: { authorization: `Bearer ${tools.member.token}` },
			body: form,
		},
	);
	expect(response.status).toBe(400);
	expect(await response.text()).toContain("no form");
});

test("without its scanner, the service stores no file", async () => {
	clamd.server.close();
	const { status, body } = await upload(
		{ record_id: measureId, file_name: "unseen.txt" },
		"text",
	);
	expect([status, body.error]).toEqual([503, "service_unavailable"]);
	clamd = { ...clamd, server: createServer() };
});

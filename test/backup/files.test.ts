import { afterAll, beforeAll, expect, test } from "vitest";
import { backUp, query, restore } from "../support/backups.ts";
import { startService, type TestService } from "../support/service.ts";
import { type Json, startTools, type TestTools } from "../support/tools.ts";

const CONTENT = Buffer.alloc(
	600_000,
	"evidence that is long enough for chunks ",
);

let tools: TestTools;
let evidenceId: string;

/** The answer of a service as plain JSON. */
const readJson = async (response: Response): Promise<Json> => response.json();

const upload = (url: string) =>
	fetch(
		`${url}/api/files?file_name=log.txt&organization_id=${tools.organizationId}`,
		{
			method: "POST",
			headers: { authorization: `Bearer ${tools.admin.token}` },
			body: CONTENT,
		},
	);

beforeAll(async () => {
	tools = await startTools();
	const response = await upload(tools.url);
	evidenceId = (await readJson(response)).evidence.id;
});
afterAll(() => tools?.close());

const read = (url: string) =>
	fetch(`${url}/api/files/${evidenceId}`, {
		headers: { authorization: `Bearer ${tools.admin.token}` },
	});

/** Restores a backup and starts a service on it. */
async function serveRestored(file: Buffer): Promise<TestService> {
	return startService(async (url) => {
		await restore(url, file, 100_000);
		return url;
	});
}

test("a restored file is the same, byte by byte", async () => {
	const { file } = await backUp(tools.database.url);
	const restored = await serveRestored(file);
	try {
		const response = await read(restored.service.url);
		expect(Buffer.from(await response.arrayBuffer())).toEqual(CONTENT);
	} finally {
		await restored.close();
	}
});

test("a backup can leave the contents of files out, and a later upload brings one back", async () => {
	const { file, rows } = await backUp(tools.database.url, {
		verifiesAudit: false,
		leavesOutFiles: true,
	});
	expect(rows).toMatchObject({
		evidence_files: 1,
		file_contents: 1,
		file_chunks: 0,
	});
	const whole = await query<{ chunks: number }>(
		tools.database.url,
		"select count(*)::int as chunks from file_chunks",
	);
	expect(whole).toEqual([{ chunks: 3 }]);

	const restored = await serveRestored(file);
	const { url } = restored.service;
	try {
		const missing = await read(url);
		expect(missing.status).toBe(404);
		expect((await readJson(missing)).message).toContain(
			"upload the file again",
		);
		expect((await upload(url)).status).toBe(201);
		const response = await read(url);
		expect(Buffer.from(await response.arrayBuffer())).toEqual(CONTENT);
	} finally {
		await restored.close();
	}
});

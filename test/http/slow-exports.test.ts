import { randomBytes } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";

interface Exporter extends Session {
	organization_id: string;
}

let served: TestConsole;
let slow: Exporter[];
beforeAll(async () => {
	served = await startConsole();
	slow = [await makeExporter(), await makeExporter()];
	for (const exporter of slow) await addLargeFile(exporter);
}, 120_000);
afterAll(() => served.close());

/** Makes an organization and signs in its administrator. */
async function makeExporter(): Promise<Exporter> {
	const { pool } = served.database;
	const organization_id = await createOrganization(pool, "Exports");
	const session = await served.signIn("admin", organization_id);
	return { ...session, organization_id };
}

/** Adds a file that is larger than the buffers of a connection. */
async function addLargeFile({ cookie, organization_id }: Exporter) {
	const { url } = served.service;
	const { status } = await fetch(
		`${url}/api/console/files?organization_id=${organization_id}&file_name=a.pdf`,
		{
			method: "POST",
			headers: {
				cookie,
				origin: url,
				"content-type": "application/octet-stream",
			},
			body: Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(24_000_000)]),
		},
	);
	expect(status).toBe(201);
}

async function pathOf({ use, organization_id }: Exporter): Promise<string> {
	const { download_path } = await use("exportOrganization", {
		organization_id,
	});
	return download_path;
}

/** Begins an export, and reads no more of it than its headers. */
async function begin(exporter: Exporter) {
	const path = await pathOf(exporter);
	return new Promise<IncomingMessage>((resolve, reject) => {
		const request = get(
			served.service.url + path,
			{ headers: { cookie: exporter.cookie }, agent: false },
			(response) => {
				response.pause();
				expect(response.statusCode).toBe(200);
				resolve(response);
			},
		);
		request.on("error", reject);
		onTestFinished(() => {
			request.destroy();
		});
	});
}

test("two users who read their exports slowly hold up no other user", async () => {
	for (const exporter of slow) await begin(exporter);
	const other = await makeExporter();
	const answer = await other.get(await pathOf(other));
	expect(answer.status).toBe(200);
	expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(0);
});

test("a user has one export of an organization in progress, and one that waits", async () => {
	const [exporter] = slow as [Exporter];
	await begin(exporter);
	const path = await pathOf(exporter);
	const answer = await Promise.race([exporter.get(path), exporter.get(path)]);
	expect(answer.status).toBe(503);
	expect(await answer.json()).toMatchObject({
		message: expect.stringContaining("exports of organizations of yours"),
	});
});

test("an export ends whose client reads less than 4 MiB within 64 seconds", async () => {
	const other = await makeExporter();
	await addLargeFile(other);
	vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
	onTestFinished(() => {
		vi.useRealTimers();
	});
	const response = await begin(other);
	const isRunning = async () => {
		const { rows } = await served.database.owner.query(
			`select from pg_locks where locktype = 'advisory'
				and objid = (hashtext($1)::bigint & 4294967295)::oid`,
			[other.organization_id],
		);
		return rows.length > 0;
	};
	expect(await isRunning()).toBe(true);
	// The service first fills the buffers of the connection. After 30 real seconds the export would
	// end because its client has read nothing.
	const runsAfterWindow = async () => {
		await vi.advanceTimersByTimeAsync(64_000);
		return isRunning();
	};
	await expect.poll(runsAfterWindow, { timeout: 20_000 }).toBe(false);
	const read = async () => {
		for await (const _ of response);
	};
	await expect(read()).rejects.toThrow();
	expect(response.complete).toBe(false);
});

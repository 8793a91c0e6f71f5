import { randomBytes } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";

let served: TestConsole;
let admin: Session;
let organization_id: string;
/** A file of 10 MB, which is more than the buffers of a connection hold. */
let evidence: string;
let snapshot: string;
beforeAll(async () => {
	served = await startConsole();
	({ organizationId: organization_id } = served);
	admin = await served.signIn("admin");
	await served.database.owner.query(
		`insert into measures (organization_id, id, name, category, state, description)
		select $1::text, left($1::text, 11) || lpad(n::text, 21, '0'), n::text, 'x', 'IMPLEMENTED', repeat('x', 5000)
		from generate_series(1, 2000) n`,
		[organization_id],
	);
	const { url } = served.service;
	const answer = await fetch(
		`${url}/api/console/files?organization_id=${organization_id}&file_name=big.pdf`,
		{
			method: "POST",
			headers: {
				cookie: admin.cookie,
				origin: url,
				"content-type": "application/octet-stream",
			},
			body: Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(10_000_000)]),
		},
	);
	expect(answer.status).toBe(201);
	evidence = ((await answer.json()) as { evidence: { id: string } }).evidence
		.id;
	const taken = await admin.use("takeSnapshot", {
		organization_id,
		name: "Measures",
		type: "MEASURES",
	});
	snapshot = taken.snapshot.id;
}, 120_000);
afterAll(() => served.close());

/** Begins a download, and reads no more of it than its headers. */
function begin(path: string, headers: Record<string, string>) {
	return new Promise<IncomingMessage>((resolve, reject) => {
		const request = get(
			served.service.url + path,
			{ headers, agent: false },
			(response) => {
				response.pause();
				resolve(response);
			},
		);
		request.on("error", reject);
		onTestFinished(() => {
			request.destroy();
		});
	});
}

/**
 * Reads the rest of a download, and waits `pauseMs` after each part. Returns true if it has arrived
 * whole.
 */
async function arrivesWhole(
	response: IncomingMessage,
	pauseMs = 0,
): Promise<boolean> {
	try {
		for await (const _ of response) if (pauseMs > 0) await setTimeout(pauseMs);
	} catch {
		return false;
	}
	return response.complete;
}

const remove = (user_id: string) =>
	admin.use("removeMember", { organization_id, user_id });

const downloads = {
	"a CSV export": () =>
		`/api/console/export/listMeasures.csv?organization_id=${organization_id}`,
	"a file of evidence": () => `/api/console/files/${evidence}/download`,
	"a snapshot": () => `/api/console/files/${snapshot}/download`,
};

test.for(
	Object.entries(downloads),
)("%s breaks off when its reader is removed, and is whole otherwise", async ([
	,
	path,
]) => {
	const reader = await served.signIn("viewer");
	const response = await begin(path(), { cookie: reader.cookie });
	expect(response.statusCode).toBe(200);
	await remove(reader.user.id);
	expect(await arrivesWhole(response)).toBe(false);
	const other = await served.signIn("viewer");
	const whole = await begin(path(), { cookie: other.cookie });
	expect(await arrivesWhole(whole)).toBe(true);
});

test("a download breaks off when its session ends", async () => {
	const reader = await served.signIn("viewer");
	const response = await begin(downloads["a CSV export"](), {
		cookie: reader.cookie,
	});
	await served.database.owner.query("delete from sessions where user_id = $1", [
		reader.user.id,
	]);
	expect(await arrivesWhole(response)).toBe(false);
});

test("a download with an API token breaks off when the token is revoked", async () => {
	const reader = await served.signIn("viewer");
	const created = await reader.use("createApiToken", { name: "Reader" });
	for (const id of [evidence, snapshot]) {
		const response = await begin(`/api/files/${id}`, {
			authorization: `Bearer ${created.token}`,
		});
		expect(response.statusCode).toBe(200);
		if (id === snapshot) await remove(reader.user.id);
		expect(await arrivesWhole(response)).toBe(id === evidence);
	}
});

test("the export of an organization breaks off when the administrator is removed", async () => {
	const reader = await served.signIn("admin");
	const { download_path } = await reader.use("exportOrganization", {
		organization_id,
	});
	const response = await begin(download_path, { cookie: reader.cookie });
	expect(response.statusCode).toBe(200);
	await remove(reader.user.id);
	// A download of 10 MB in parts of at most 64 KB takes 20 seconds, and it never pauses for as long as
	// a client that has gone.
	expect(await arrivesWhole(response, 125)).toBe(false);
});

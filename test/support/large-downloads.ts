import { randomBytes } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "./console-session.ts";

/** An organization whose downloads are larger than the buffers of a connection. */
export interface LargeDownloads {
	served: TestConsole;
	admin: Session;
	/** The id of a file of 10 MB. */
	evidence: string;
	/** Begins a download, and reads no more of it than its headers. */
	begin: (
		path: string,
		headers: Record<string, string>,
	) => Promise<IncomingMessage>;
}

/** Fills an organization of the shared service, under the conditions of `shareService`. */
export async function makeLargeDownloads(): Promise<LargeDownloads> {
	const served = await shareConsole();
	const { organizationId: organization_id } = served;
	const admin = await served.signIn("admin");
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
	const { evidence } = (await answer.json()) as { evidence: { id: string } };
	const begin: LargeDownloads["begin"] = (path, headers) =>
		new Promise((resolve, reject) => {
			const request = get(url + path, { headers, agent: false }, (response) => {
				response.pause();
				resolve(response);
			});
			request.on("error", reject);
			onTestFinished(() => {
				request.destroy();
			});
		});
	return { served, admin, evidence: evidence.id, begin };
}

/**
 * Reads the rest of a download, and waits `pauseMs` after each part. Returns true if it has arrived
 * whole.
 */
export async function arrivesWhole(
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

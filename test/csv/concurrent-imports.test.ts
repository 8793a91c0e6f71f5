import { afterAll, beforeAll, expect, test } from "vitest";
import { shareConsole, type TestConsole } from "../support/console-session.ts";
import { RawConnection } from "../support/raw-http.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await shareConsole();
});
afterAll(() => served.close());

const signIn = async () => (await served.signIn("member")).cookie;
const path = () =>
	`/api/console/importRecords?organization_id=${served.organizationId}&kind=measure`;
const CSV = "name,category\nx,y\n";

/** Sends an import except for its last byte, so that it stays in progress. */
function startImport(cookie: string) {
	const { url } = served.service;
	const connection = new RawConnection(url).send(
		[
			`POST ${path()} HTTP/1.1`,
			`host: ${new URL(url).host}`,
			`origin: ${url}`,
			`cookie: ${cookie}`,
			"content-type: text/csv",
			`content-length: ${CSV.length}`,
			"",
			CSV.slice(0, -1),
		].join("\r\n"),
	);
	return { finish: () => connection.send(CSV.slice(-1)).response() };
}

async function importAtOnce(cookie: string): Promise<number> {
	const { url } = served.service;
	const { status } = await fetch(url + path(), {
		method: "POST",
		headers: { cookie, origin: url, "content-type": "text/csv" },
		body: CSV,
	});
	return status;
}

/**
 * Sends imports until one has to wait, and returns its answer, which is still to come. An import
 * waits if it has no answer after twenty calls of another user. Fails if none of twenty imports has
 * to wait.
 */
async function waitingImport(cookie: string) {
	const { use } = await served.signIn("viewer");
	const { organizationId: organization_id } = served;
	for (let tries = 0; tries < 20; tries++) {
		let isAnswered = false;
		const status = importAtOnce(cookie).finally(() => {
			isAnswered = true;
		});
		for (let calls = 0; calls < 20 && !isAnswered; calls++) {
			await use("listRisks", { organization_id });
		}
		if (!isAnswered) return { status };
	}
	throw new Error("no import had to wait");
}

test("imports whose files arrive slowly hold up nobody else", async () => {
	const viewer = await served.signIn("viewer");
	const member = await signIn();
	const slow = [
		startImport(await signIn()),
		startImport(await signIn()),
		startImport(await signIn()),
	];
	for (let calls = 0; calls < 20; calls++) {
		await viewer.use("listRisks", { organization_id: served.organizationId });
	}
	expect(await importAtOnce(viewer.cookie)).toBe(403);
	expect(await importAtOnce(member)).toBe(200);
	for (const one of slow) expect((await one.finish()).status).toBe(200);
});

test("a user has one import in progress, and does not hold up other users", async () => {
	const cookie = await signIn();
	const first = startImport(cookie);
	const second = await waitingImport(cookie);
	expect(await importAtOnce(await signIn())).toBe(200);
	expect((await first.finish()).status).toBe(200);
	expect(await second.status).toBe(200);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { shareConsole, type TestConsole } from "../support/console-session.ts";
import { RawConnection } from "../support/raw-http.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await shareConsole();
});
afterAll(() => served.close());

const FILE = "%PDF-1.7\nx";
const path = () =>
	`/api/console/files?organization_id=${served.organizationId}&file_name=a.pdf`;

/** Sends an upload except for its last byte. */
function startUpload(cookie: string) {
	const { url } = served.service;
	const connection = new RawConnection(url).send(
		[
			`POST ${path()} HTTP/1.1`,
			`host: ${new URL(url).host}`,
			`origin: ${url}`,
			`cookie: ${cookie}`,
			"content-type: application/octet-stream",
			`content-length: ${FILE.length}`,
			"",
			FILE.slice(0, -1),
		].join("\r\n"),
	);
	return { finish: () => connection.send(FILE.slice(-1)).response() };
}

test("uploads of five users that arrive slowly hold up nobody else", async () => {
	const { url } = served.service;
	const other = await served.signIn("member");
	const slow: ReturnType<typeof startUpload>[] = [];
	for (let users = 0; users < 5; users++) {
		const { cookie } = await served.signIn("member");
		for (let n = 0; n < 3; n++) slow.push(startUpload(cookie));
	}
	for (let calls = 0; calls < 20; calls++) {
		await other.use("listRisks", { organization_id: served.organizationId });
	}
	const { status } = await fetch(url + path(), {
		method: "POST",
		headers: {
			cookie: other.cookie,
			origin: url,
			"content-type": "application/octet-stream",
		},
		body: FILE,
	});
	expect(status).toBe(201);
	for (const one of slow) expect((await one.finish()).status).toBe(201);
});

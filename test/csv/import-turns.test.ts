import { afterAll, beforeAll, expect, test } from "vitest";
import { startConsole, type TestConsole } from "../support/console-session.ts";
import { RawConnection } from "../support/raw-http.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

/**
 * The lines are larger than the buffers of a connection, so that only an import which is being read
 * can take all of them.
 */
const LINE = `${"x".repeat(1_000_000)}\n`;
const LINES = 15;

/** Sends an import except for its last byte, so that it does not end. */
async function startImport() {
	const { cookie } = await served.signIn("member");
	const { service, organizationId } = served;
	const query = `organization_id=${organizationId}&kind=measure`;
	const heading = "name,category\n";
	const connection = new RawConnection(service.url).send(
		[
			`POST /api/console/importRecords?${query} HTTP/1.1`,
			`host: ${new URL(service.url).host}`,
			`origin: ${service.url}`,
			`cookie: ${cookie}`,
			"content-type: text/csv",
			`content-length: ${heading.length + LINES * LINE.length + 1}`,
			"",
			heading,
		].join("\r\n"),
		...Array(LINES).fill(LINE),
	);
	return {
		isRead: () => connection.socket.writableLength === 0,
		finish: () => connection.send("\n").response(),
	};
}

test("a process reads two imports at a time, and the next one when one of them ends", async () => {
	const reader = await served.signIn("viewer");
	const imports: Awaited<ReturnType<typeof startImport>>[] = [];
	for (let n = 0; n < 4; n++) imports.push(await startImport());
	const read = () => imports.filter(({ isRead }) => isRead());
	// The test measures in calls, not in seconds, how long the service takes to read two imports.
	let calls = 0;
	const call = async () => {
		calls += 1;
		const { organizationId: organization_id } = served;
		await reader.use("listMeasures", { organization_id });
	};
	while (read().length < 2) await call();
	for (let left = calls * 2 + 50; left > 0; left--) await call();
	expect(read()).toHaveLength(2);

	const [first, second] = read();
	expect((await first?.finish())?.status).toBe(200);
	await expect.poll(() => read().length).toBe(3);
	expect((await second?.finish())?.status).toBe(200);
	await expect.poll(() => read().length).toBe(4);
});

import { type ClientRequest, get } from "node:http";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { startConsole, type TestConsole } from "../support/console-session.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
	// The file is larger than the buffers of a connection, so an export whose client does not read
	// stays in progress.
	await served.database.owner.query(
		`insert into measures (organization_id, id, name, category, state, description)
		select $1::text, left($1::text, 11) || lpad(n::text, 21, '0'), n::text, 'x', 'IMPLEMENTED', repeat('x', 5000)
		from generate_series(1, 5000) n`,
		[served.organizationId],
	);
});
afterAll(() => served.close());

/** Begins an export whose client never reads the file. */
function startExport(cookie: string) {
	let hasBegun = false;
	const request: ClientRequest = get(
		`${served.service.url}/api/console/export/listMeasures.csv?organization_id=${served.organizationId}`,
		{ headers: { cookie }, agent: false },
		(response) => {
			hasBegun = response.statusCode === 200;
		},
	);
	request.on("error", () => {});
	onTestFinished(() => {
		request.destroy();
	});
	return { hasBegun: () => hasBegun, leave: () => request.destroy() };
}

test("a process sends three exports at a time, and the next one when a client leaves", async () => {
	const reader = await served.signIn("viewer");
	const exports: ReturnType<typeof startExport>[] = [];
	for (let n = 0; n < 5; n++) {
		exports.push(startExport((await served.signIn("viewer")).cookie));
	}
	const begun = () => exports.filter(({ hasBegun }) => hasBegun());
	await expect.poll(() => begun().length).toBe(3);
	for (let calls = 0; calls < 20; calls++) {
		await reader.use("listRisks", { organization_id: served.organizationId });
	}
	expect(begun()).toHaveLength(3);
	begun()[0]?.leave();
	// On a very busy machine those that waited may have given up by now.
	exports.push(startExport((await served.signIn("viewer")).cookie));
	await expect.poll(() => begun().length).toBeGreaterThan(3);
});

test("an export that nobody reads ends, and the next one begins", async () => {
	const exports: ReturnType<typeof startExport>[] = [];
	for (let n = 0; n < 3; n++) {
		exports.push(startExport((await served.signIn("viewer")).cookie));
	}
	const begun = () => exports.filter(({ hasBegun }) => hasBegun());
	await expect.poll(() => begun().length).toBe(3);
	const { cookie } = await served.signIn("viewer");
	const begunAfterwards = () => {
		// On a very busy machine an export that waited may have given up, so others follow.
		exports.push(startExport(cookie));
		return begun().length;
	};
	await expect.poll(begunAfterwards, { interval: 5_000 }).toBeGreaterThan(3);
});

test("a user has one export in progress, in any number of sessions, and does not hold up other users", async () => {
	const { user, cookie } = await served.signIn("viewer");
	const exports = [startExport(cookie)];
	while (exports.length < 4) {
		const again = await sendTo(served.service.url, "/api/auth/sign-in/email", {
			email: user.email,
			password: PASSWORD,
		});
		exports.push(startExport(again.cookie));
	}
	const other = startExport((await served.signIn("viewer")).cookie);
	await expect.poll(other.hasBegun).toBe(true);
	expect(exports.filter(({ hasBegun }) => hasBegun())).toHaveLength(1);
});

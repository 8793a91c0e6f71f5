import { afterAll, beforeAll, expect, test } from "vitest";
import { FairShares } from "../../src/load/fair-shares.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeApiToken, makeUser } from "../support/people.ts";
import {
	startTools,
	type TestTools,
	type ToolAnswer,
} from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

type Answer = Pick<ToolAnswer, "status" | "body">;

const isRefused = ({ status, body }: Answer) =>
	status === 503 &&
	/too many (calls|exports) of yours are in progress, and the maximum is (8|32|64);/.test(
		String(body.message),
	);

/**
 * Sends 100 calls while the table that they read is locked, and waits until the first surplus call
 * is turned away. In the meantime, another caller is served.
 */
async function flood(
	call: () => Promise<Answer>,
	other: () => Promise<Answer>,
) {
	const client = await tools.database.owner.connect();
	try {
		await client.query("begin; lock table risks in access exclusive mode");
		let refused = 0;
		const calls = Array.from({ length: 100 }, async () => {
			const answer = await call();
			if (isRefused(answer)) refused++;
			return answer;
		});
		await expect.poll(() => refused).toBeGreaterThanOrEqual(1);
		const others = await Promise.all(Array.from({ length: 3 }, other));
		await client.query("rollback");
		await Promise.all(calls);
		return others.map(({ status }) => status);
	} finally {
		client.release();
	}
}

test("the running and waiting calls of a caller are limited, waiting calls keep their order, and failed calls free their places", async () => {
	const shares = new FairShares({ running: 2, waiting: 3 });
	const begun: number[] = [];
	const ends: (() => void)[] = [];
	const call = (number: number) =>
		shares.run("a", async () => {
			begun.push(number);
			await new Promise<void>((resolve) => ends.push(resolve));
			if (number === 1) throw new Error("failed");
		});
	const calls = [1, 2, 3, 4, 5].map((number) => call(number).catch(String));
	await expect(call(6)).rejects.toThrow(
		/too many calls of yours are in progress, and the maximum is 5;/,
	);
	expect(begun).toEqual([1, 2]);
	expect(await shares.run("b", async () => "served")).toBe("served");
	while (begun.length < 5) {
		ends.shift()?.();
		await new Promise(setImmediate);
	}
	expect(begun).toEqual([1, 2, 3, 4, 5]);
	for (const end of ends) end();
	expect(await Promise.all(calls)).toContain("Error: failed");
	expect(await shares.run("a", async () => "served")).toBe("served");
});

test("a call whose turn does not come in time times out, and the other calls get their turn", async () => {
	const shares = new FairShares({ running: 1, waiting: 2, maxWaitMs: 1 });
	const end = Promise.withResolvers<string>();
	const running = shares.run("a", () => end.promise);
	let begun = false;
	const waiting = shares.run("a", async () => {
		begun = true;
	});
	await expect(waiting).rejects.toMatchObject({ code: "service_unavailable" });
	end.resolve("served");
	expect(await running).toBe("served");
	expect(await shares.run("a", async () => "served too")).toBe("served too");
	expect(begun).toBe(false);
});

test("an API token with too many calls in progress is asked to retry later, and others are served meanwhile", async () => {
	const organization_id = tools.organizationId;
	const list = (tool: string, token: string) => () =>
		tools.call(tool, { organization_id }, token);
	const others = await flood(
		list("listRisks", tools.admin.token),
		list("listVendors", tools.viewer.token),
	);
	expect(others).toEqual([200, 200, 200]);
	expect((await list("listRisks", tools.admin.token)()).status).toBe(200);
});

async function signIn(): Promise<string> {
	return signInAgain(await makeViewer());
}

async function makeViewer(): Promise<string> {
	const { email } = await makeUser(
		tools.database,
		{ organizationId: tools.organizationId, role: "viewer" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	return email;
}

/** Signs a user in, in another browser. */
async function signInAgain(email: string): Promise<string> {
	const { cookie } = await sendTo(tools.url, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	});
	return cookie;
}

const callFromConsole = (operation: string, cookie: string) => () =>
	sendTo(
		tools.url,
		`/api/console/${operation}`,
		{ organization_id: tools.organizationId },
		{ cookie },
	);

test("a user with many API tokens has one share, and others are served meanwhile", async () => {
	const user = await makeUser(tools.database, {
		organizationId: tools.organizationId,
		role: "viewer",
	});
	const tokens: string[] = [];
	while (tokens.length < 20) {
		tokens.push((await makeApiToken(tools.database, user)).token);
	}
	const input = { organization_id: tools.organizationId };
	let sent = 0;
	const others = await flood(
		() => tools.call("listRisks", input, tokens[sent++ % tokens.length]),
		() => tools.call("listVendors", input, tools.viewer.token),
	);
	expect(others).toEqual([200, 200, 200]);
});

test("a console session with too many calls is turned away, and other sessions are served", async () => {
	const others = await flood(
		callFromConsole("listRisks", await signIn()),
		callFromConsole("listVendors", await signIn()),
	);
	expect(others).toEqual([200, 200, 200]);
});

test("a user who sends a hundred exports at once in several sessions leaves other users their exports and calls", async () => {
	const exportFrom = (list: string, cookie: string) => async () => {
		const response = await fetch(
			`${tools.url}/api/console/export/${list}.csv?organization_id=${tools.organizationId}`,
			{ headers: { cookie } },
		);
		const text = await response.text();
		return {
			status: response.status,
			body: response.ok ? {} : JSON.parse(text),
		};
	};
	const other = await signIn();
	const email = await makeViewer();
	const browsers: string[] = [];
	while (browsers.length < 4) browsers.push(await signInAgain(email));
	let sent = 0;
	const flooding = () =>
		exportFrom("listRisks", browsers[sent++ % browsers.length] ?? "")();
	expect(await flood(flooding, callFromConsole("listVendors", other))).toEqual([
		200, 200, 200,
	]);
	expect(await flood(flooding, exportFrom("listVendors", other))).toEqual([
		200, 200, 200,
	]);
});

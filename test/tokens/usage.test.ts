import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makePool, withTenant } from "../../src/db/pool.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { listApiTokens } from "../../src/tokens/api-token-operations.ts";
import {
	listOrganizationApiTokens,
	revokeOrganizationApiToken,
} from "../../src/tokens/organization-token-operations.ts";
import { Usage } from "../../src/tokens/usage.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import {
	callAs,
	joinOrganization,
	makeApiToken,
	makeUser,
	type TestUser,
} from "../support/people.ts";

const log = makeLogger("silent");
const today = () => new Date().toISOString().slice(0, 10);

let database: TestDatabase;
let acme: string;
beforeAll(async () => {
	database = await createDatabase();
	acme = await createOrganization(database.pool, "Acme");
});
afterAll(() => database.drop());

async function userWithToken(): Promise<{ user: TestUser; tokenId: string }> {
	const user = await makeUser(database, {
		organizationId: acme,
		role: "viewer",
	});
	const { id } = await makeApiToken(database, user);
	return { user, tokenId: id };
}

async function listed(user: TestUser) {
	const { api_tokens } = await callAs(database, user, listApiTokens, {});
	const [token] = api_tokens;
	if (!token) throw new Error("no token");
	return token;
}

test("calls and errors are counted by day and tool, with the token's last use", async () => {
	const { user, tokenId } = await userWithToken();
	const usage = new Usage(database.pool, log);
	const from = { client: "claude-code/2", address: "192.0.2.7" };
	for (const [tool, isError] of [
		["getRisk", false],
		["listRisks", false],
		["listRisks", true],
	] as const) {
		usage.record({ tokenId, organizationId: acme, tool, isError, ...from });
	}
	usage.record({
		tokenId,
		organizationId: acme,
		tool: null,
		isError: false,
		...from,
	});
	await usage.close();
	const token = await listed(user);
	expect(token.usage).toEqual({
		days: [{ day: today(), calls: 3, errors: 1 }],
		tools: [
			{ tool: "listRisks", calls: 2, errors: 1 },
			{ tool: "getRisk", calls: 1, errors: 0 },
		],
	});
	expect(token.last_used_client).toBe("claude-code/2");
	expect(token.last_used_address).toBe("192.0.2.7");
	expect(Date.parse(token.last_used_at ?? "")).toBeGreaterThan(0);
});

test("the use of tokens is stored soon afterwards, with one statement for many calls", async () => {
	const { user, tokenId } = await userWithToken();
	const usage = new Usage(database.pool, log);
	onTestFinished(() => usage.close());
	for (let i = 0; i < 500; i++) {
		usage.record({
			tokenId,
			organizationId: acme,
			tool: "getRisk",
			isError: false,
		});
	}
	await expect
		.poll(async () => (await listed(user)).usage.days)
		.toEqual([{ day: today(), calls: 500, errors: 0 }]);
});

test("several processes that count the same tokens at the same time lose nothing and block nobody", async () => {
	const people = await Promise.all(Array.from({ length: 8 }, userWithToken));
	const rounds = 10;
	const processes = 4;
	for (let round = 0; round < rounds; round++) {
		const usages = Array.from(
			{ length: processes },
			() => new Usage(database.pool, log),
		);
		usages.forEach((usage, index) => {
			// Each process names the tokens in a different order.
			const order = [...people.slice(index * 2), ...people.slice(0, index * 2)];
			if (index % 2) order.reverse();
			for (const { tokenId } of order) {
				usage.record({
					tokenId,
					organizationId: acme,
					tool: "a",
					isError: false,
				});
				usage.record({
					tokenId,
					organizationId: acme,
					tool: "b",
					isError: true,
				});
			}
		});
		await Promise.all(usages.map((usage) => usage.close()));
	}
	const calls = rounds * processes;
	for (const { user } of people) {
		expect((await listed(user)).usage.tools).toEqual([
			{ tool: "a", calls, errors: 0 },
			{ tool: "b", calls, errors: calls },
		]);
	}
});

test("an earlier use that is stored later does not replace a newer last use", async () => {
	const { user, tokenId } = await userWithToken();
	const early = new Usage(database.pool, log);
	const late = new Usage(database.pool, log);
	early.record({
		tokenId,
		organizationId: null,
		tool: null,
		isError: false,
		client: "early",
	});
	// The times are stored in milliseconds, so a few must pass.
	await new Promise((resolve) => setTimeout(resolve, 5));
	late.record({
		tokenId,
		organizationId: null,
		tool: null,
		isError: false,
		client: "late",
	});
	await late.close();
	await early.close();
	expect((await listed(user)).last_used_client).toBe("late");
});

test("uses are kept in memory while the database cannot be reached, and stored when it is back", async () => {
	const { user, tokenId } = await userWithToken();
	const proxy = await openDatabaseProxy(database.url);
	const pool = makePool({ connectionString: proxy.url }, { max: 1 });
	const failed = Promise.withResolvers<void>();
	const usage = new Usage(pool, pino({}, { write: () => failed.resolve() }));
	onTestFinished(async () => {
		await usage.close();
		await pool.end();
		await proxy.cut();
	});
	await proxy.cut();
	usage.record({
		tokenId,
		organizationId: acme,
		tool: "getRisk",
		isError: false,
	});
	await failed.promise;
	usage.record({
		tokenId,
		organizationId: acme,
		tool: "getRisk",
		isError: false,
	});
	await proxy.restore();
	await expect
		.poll(async () => (await listed(user)).usage.days)
		.toEqual([{ day: today(), calls: 2, errors: 0 }]);
});

test("the name that a client gives itself is cut off and cleaned so that it can be stored", async () => {
	const { user, tokenId } = await userWithToken();
	const usage = new Usage(database.pool, log);
	usage.record({
		tokenId,
		organizationId: acme,
		tool: 'x"\\,{}\0',
		isError: false,
		client: `\0\ud800"NULL${"a".repeat(5000)}`,
	});
	await usage.close();
	const token = await listed(user);
	expect(token.last_used_client).toMatch(/^\ufffd\ufffd"NULLa{193}$/);
	expect(token.usage.tools).toEqual([
		{ tool: 'x"\\,{}\ufffd', calls: 1, errors: 0 },
	]);
});

test("an administrator sees only the use of a token that concerned the administrator's own organization", async () => {
	const globex = await createOrganization(database.pool, "Globex");
	const chiefs = new Map<string, TestUser>();
	for (const organizationId of [acme, globex]) {
		chiefs.set(
			organizationId,
			await makeUser(database, { organizationId, role: "admin" }),
		);
	}
	const { user, tokenId } = await userWithToken();
	await joinOrganization(database, user, globex, "member");
	const usage = new Usage(database.pool, log);
	for (const [organizationId, tool, isError, client] of [
		[globex, "addRisk", true, "in-globex/1"],
		[globex, "addRisk", false, "in-globex/2"],
		[null, "listOrganizations", false, "anywhere/1"],
		[acme, "listRisks", false, "in-acme/1"],
	] as const) {
		usage.record({ tokenId, organizationId, tool, isError, client });
	}
	await usage.close();
	const seenIn = async (organizationId: string) => {
		const { api_tokens } = await callAs(
			database,
			chiefs.get(organizationId) as TestUser,
			listOrganizationApiTokens,
			{ organization_id: organizationId },
		);
		const token = api_tokens.find(({ id }) => id === tokenId);
		return { ...token?.usage, client: token?.last_used_client };
	};
	expect(await seenIn(globex)).toEqual({
		client: "in-globex/2",
		days: [{ day: today(), calls: 2, errors: 1 }],
		tools: [{ tool: "addRisk", calls: 2, errors: 1 }],
	});
	expect(await seenIn(acme)).toEqual({
		client: "in-acme/1",
		days: [{ day: today(), calls: 1, errors: 0 }],
		tools: [{ tool: "listRisks", calls: 1, errors: 0 }],
	});
	const own = await listed(user);
	expect(own.usage.days).toEqual([{ day: today(), calls: 4, errors: 1 }]);
	expect(own.last_used_client).toBe("in-acme/1");
	// The answer to a revocation contains no more than the list.
	const { api_token } = await callAs(
		database,
		chiefs.get(globex) as TestUser,
		revokeOrganizationApiToken,
		{ organization_id: globex, id: tokenId },
	);
	expect(api_token.usage.tools).toEqual([
		{ tool: "addRisk", calls: 2, errors: 1 },
	]);
	expect(api_token.last_used_client).toBe("in-globex/2");
	// Row-level security hides the other rows from every statement.
	const { rows } = await withTenant(database.pool, globex, (client) =>
		client.query("select tool from api_token_usage where token_id = $1", [
			tokenId,
		]),
	);
	expect(rows).toEqual([{ tool: "addRisk" }]);
});

test("a process of an earlier version can still count uses, which only the token's user sees", async () => {
	const { user, tokenId } = await userWithToken();
	for (let n = 0; n < 2; n++) {
		await database.pool.query(
			"select record_api_token_usage(array[$1], array[now()], array['old'], array['::1'], array[$1], array[$2]::date[], array['listRisks'], array[2::bigint], array[1::bigint])",
			[tokenId, today()],
		);
	}
	const token = await listed(user);
	expect(token.usage.tools).toEqual([
		{ tool: "listRisks", calls: 4, errors: 2 },
	]);
	expect(token.last_used_client).toBe("old");
});

test("a deleted token does not affect the counts of others", async () => {
	const { user, tokenId } = await userWithToken();
	const usage = new Usage(database.pool, log);
	usage.record({
		tokenId: "x".repeat(32),
		organizationId: acme,
		tool: "a",
		isError: false,
	});
	usage.record({ tokenId, organizationId: acme, tool: "a", isError: false });
	await usage.close();
	expect((await listed(user)).usage.days).toHaveLength(1);
});

import { Pool } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makePool } from "../../src/db/pool.ts";
import { toAppError } from "../../src/errors.ts";
import { operations } from "../../src/operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	listApiTokens,
	makeCreateApiToken,
	revokeApiToken,
	revokeApiTokens,
	rotateApiToken,
} from "../../src/tokens/api-token-operations.ts";
import { ApiTokens } from "../../src/tokens/authentication.ts";
import {
	listOrganizationApiTokens,
	revokeOrganizationApiToken,
} from "../../src/tokens/organization-token-operations.ts";
import { toolsetsOf } from "../../src/tokens/scopes.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import {
	auditEntries,
	callAs,
	joinOrganization,
	makeApiToken,
	makeUser,
} from "../support/people.ts";

const createApiToken = makeCreateApiToken(() => toolsetsOf(operations));

let database: TestDatabase;
let acme: string;
let globex: string;
let apiTokens: ApiTokens;
beforeAll(async () => {
	database = await createDatabase();
	acme = await createOrganization(database.pool, "Acme");
	globex = await createOrganization(database.pool, "Globex");
	apiTokens = new ApiTokens(database.pool);
});
afterAll(() => database.drop());

const viewer = () =>
	makeUser(database, { organizationId: acme, role: "viewer" });
const admin = () => makeUser(database, { organizationId: acme, role: "admin" });
const authenticate = (token: string) =>
	apiTokens.authenticate(`Bearer ${token}`, {});
const refused = (word: string) => ({
	code: "unauthorized",
	message: expect.stringMatching(new RegExp(`^${word}: `)) as string,
});

test("a token acts for its user, with the role in each of the user's organizations", async () => {
	const user = await viewer();
	await joinOrganization(database, user, globex, "admin");
	const { id, token } = await makeApiToken(database, user);
	const principal = await apiTokens.authenticate(`Bearer ${token}`, {
		client: "curl/8",
		address: "192.0.2.7",
	});
	expect(principal).toEqual({
		kind: "TOKEN",
		userId: user.id,
		name: user.name,
		token: { id, name: "laptop" },
		client: "curl/8",
		address: "192.0.2.7",
		memberships: [
			{ organizationId: acme, role: "viewer" },
			{ organizationId: globex, role: "admin" },
		].sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1)),
	});
});

test("a missing, a malformed and a mistyped token get different errors without a query to the database", async () => {
	const closed = new Pool();
	await closed.end();
	const unreachable = new ApiTokens(closed);
	const { token } = await makeApiToken(database, await viewer());
	const other = token.endsWith("0") ? "1" : "0";
	for (const header of [undefined, ""]) {
		await expect(unreachable.authenticate(header, {})).rejects.toMatchObject(
			refused("missing"),
		);
	}
	for (const header of [
		"Bearer",
		"Bearer ",
		`bearer ${token}`,
		`Bearer  ${token}`,
		`Bearer ${token} `,
		`Bearer ${token}\n`,
		`Basic ${token}`,
		token,
		`Bearer ${token.slice(0, -1)}${other}`,
		`Bearer ${makeSecret("dev")}`,
		"Bearer something",
	]) {
		await expect(
			unreachable.authenticate(header, {}),
			header,
		).rejects.toMatchObject(refused("malformed"));
	}
	await expect(
		unreachable.authenticate(`Bearer ${token.slice(0, -1)}${other}`, {}),
	).rejects.toThrow(/^malformed: the API token was mistyped or changed/);
});

test("an unknown, expired or revoked token is invalid", async () => {
	const user = await viewer();
	await expect(authenticate(makeSecret("pat"))).rejects.toMatchObject(
		refused("invalid"),
	);
	const expired = await makeApiToken(database, user, {
		expiresAt: new Date(Date.now() - 1000),
	});
	await expect(authenticate(expired.token)).rejects.toMatchObject(
		refused("invalid"),
	);
	const revoked = await makeApiToken(database, user);
	await authenticate(revoked.token);
	await callAs(database, user, revokeApiToken, { id: revoked.id });
	await expect(authenticate(revoked.token)).rejects.toMatchObject(
		refused("invalid"),
	);
});

test("among many simultaneous requests each gets the answer for its own token", async () => {
	const users = await Promise.all([viewer(), viewer(), viewer()]);
	const tokens = await Promise.all(
		users.map((user) => makeApiToken(database, user)),
	);
	const answers = await Promise.all(
		Array.from({ length: 300 }, (_, index) =>
			index % 4 === 3
				? authenticate(makeSecret("pat")).catch(() => undefined)
				: authenticate(tokens[index % 4]?.token ?? ""),
		),
	);
	expect(answers.map((answer) => answer?.userId)).toEqual(
		answers.map((_, index) => users[index % 4]?.id),
	);
});

test("a token loses an organization as soon as the membership ends", async () => {
	const user = await viewer();
	const { token } = await makeApiToken(database, user);
	expect((await authenticate(token)).memberships).toHaveLength(1);
	await database.owner.query("delete from memberships where user_id = $1", [
		user.id,
	]);
	expect((await authenticate(token)).memberships).toEqual([]);
});

test("while the database cannot be reached, a request with a valid token gets 503 and not 401", async () => {
	const { token } = await makeApiToken(database, await viewer());
	const away = makePool(
		{ connectionString: "postgres://assay@127.0.0.1:1/assay" },
		{ max: 1 },
	);
	onTestFinished(() => away.end());
	const error = await new ApiTokens(away)
		.authenticate(`Bearer ${token}`, {})
		.catch(toAppError);
	expect(error).toMatchObject({ code: "service_unavailable" });
});

test("a created token works, is listed without its secret, and the secret is nowhere in the database", async () => {
	const user = await viewer();
	await joinOrganization(database, user, globex, "member");
	const { api_token, token } = await callAs(database, user, createApiToken, {
		name: "Claude",
		description: "on my laptop",
		expires_in_days: 30,
	});
	expect((await authenticate(token)).token?.id).toBe(api_token.id);
	const { api_tokens } = await callAs(database, user, listApiTokens, {});
	expect(api_tokens).toEqual([api_token]);
	expect(api_token).toMatchObject({
		name: "Claude",
		description: "on my laptop",
		status: "ACTIVE",
		is_old: false,
		last_used_at: null,
		usage: { days: [], tools: [] },
	});
	const { rows } = await database.owner.query(
		"select t::text as text from api_tokens t where id = $1",
		[api_token.id],
	);
	expect(rows[0]?.text).not.toContain(token);
	for (const organizationId of [acme, globex]) {
		const entries = await auditEntries(database, organizationId);
		expect(entries.at(-1)).toMatchObject({
			operation: "createApiToken",
			record_id: api_token.id,
			record_name: "Claude",
			actor_name: user.name,
		});
		expect(JSON.stringify(entries)).not.toMatch(/asy_/);
	}
});

test("an expiry in the past, two expiries at once, or a date that does not exist is rejected", async () => {
	const user = await viewer();
	for (const given of [
		{ expires_at: "2020-01-01T00:00:00Z" },
		{ expires_at: "tomorrow" },
		{ expires_at: "2999-01-01T00:00:00Z" },
		{ expires_in_days: 0 },
		{ expires_in_days: 1, expires_at: "2027-01-01T00:00:00Z" },
	]) {
		await expect(
			callAs(database, user, createApiToken, { name: "x", ...given }),
		).rejects.toMatchObject({ code: "bad_request" });
	}
});

test("rotation creates a second token with the same lifetime, and both tokens work", async () => {
	const user = await viewer();
	const first = await callAs(database, user, createApiToken, {
		name: "CI",
		expires_in_days: 10,
	});
	const second = await callAs(database, user, rotateApiToken, {
		id: first.api_token.id,
	});
	expect(second.api_token.name).toBe("CI");
	const third = await callAs(database, user, rotateApiToken, {
		id: first.api_token.id,
		name: "CI, from May on",
	});
	expect(third.api_token.name).toBe("CI, from May on");
	expect(second.token).not.toBe(first.token);
	for (const { api_token, token } of [first, second]) {
		expect((await authenticate(token)).token?.id).toBe(api_token.id);
		const lifeMs =
			Date.parse(api_token.expires_at ?? "") - Date.parse(api_token.created_at);
		expect(lifeMs / 86_400_000).toBeCloseTo(10, 2);
	}
	await callAs(database, user, revokeApiToken, { id: first.api_token.id });
	await expect(
		callAs(database, user, rotateApiToken, { id: first.api_token.id }),
	).rejects.toMatchObject({ code: "bad_request" });
	await authenticate(second.token);
});

test("nobody sees, revokes or rotates another user's token", async () => {
	const { id, token } = await makeApiToken(database, await viewer());
	const other = await admin();
	for (const operation of [revokeApiToken, rotateApiToken]) {
		await expect(
			callAs(database, other, operation, { id }),
		).rejects.toMatchObject({ code: "not_found" });
	}
	expect(await callAs(database, other, listApiTokens, {})).toEqual({
		api_tokens: [],
	});
	await authenticate(token);
});

test("an admin sees and can revoke only the tokens of members", async () => {
	const [chief, user] = [await admin(), await viewer()];
	const outsider = await makeUser(database, {
		organizationId: globex,
		role: "admin",
	});
	const ours = await makeApiToken(database, user);
	const theirs = await makeApiToken(database, outsider);
	const input = { organization_id: acme };
	const { api_tokens } = await callAs(
		database,
		chief,
		listOrganizationApiTokens,
		input,
	);
	const ids = api_tokens.map((token) => token.id);
	expect(ids).toContain(ours.id);
	expect(ids).not.toContain(theirs.id);
	await expect(
		callAs(database, user, listOrganizationApiTokens, input),
	).rejects.toMatchObject({ code: "forbidden" });
	await expect(
		callAs(database, chief, revokeOrganizationApiToken, {
			...input,
			id: theirs.id,
		}),
	).rejects.toMatchObject({ code: "not_found" });
	await callAs(database, chief, revokeOrganizationApiToken, {
		...input,
		id: ours.id,
	});
	await expect(authenticate(ours.token)).rejects.toMatchObject(
		refused("invalid"),
	);
	await authenticate(theirs.token);
});

test("a user can revoke several own tokens at once, and if one belongs to another user, none is revoked", async () => {
	const user = await viewer();
	await joinOrganization(database, user, globex, "member");
	const own = [
		await makeApiToken(database, user),
		await makeApiToken(database, user),
	];
	const foreign = await makeApiToken(database, await viewer());
	const ids = own.map(({ id }) => id);
	await expect(
		callAs(database, user, revokeApiTokens, { ids: [...ids, foreign.id] }),
	).rejects.toMatchObject({ code: "not_found" });
	for (const { token } of own) await authenticate(token);
	await callAs(database, user, revokeApiTokens, { ids });
	for (const { token } of own) {
		await expect(authenticate(token)).rejects.toMatchObject(refused("invalid"));
	}
	for (const organizationId of [acme, globex]) {
		const entries = await auditEntries(database, organizationId);
		expect(
			entries
				.filter(({ operation }) => operation === "revokeApiTokens")
				.map(({ record_id }) => record_id)
				.toSorted(),
		).toEqual(ids.toSorted());
	}
});

test("an admin's revocation is in the log of every organization that the token reaches", async () => {
	const [chief, user] = [await admin(), await viewer()];
	await joinOrganization(database, user, globex, "member");
	const { id } = await makeApiToken(database, user);
	await callAs(database, chief, revokeOrganizationApiToken, {
		organization_id: acme,
		id,
	});
	for (const organizationId of [acme, globex]) {
		const entries = await auditEntries(database, organizationId);
		expect(entries.at(-1)).toMatchObject({
			operation: "revokeOrganizationApiToken",
			actor_name: chief.name,
			record_id: id,
		});
	}
});

test("when many tokens are created at once, no more than 100 are stored", async () => {
	const user = await viewer();
	await database.owner.query(
		`insert into api_tokens (id, user_id, name, token_hash)
		select left(md5(n::text || $1), 32), $1, 'old', sha256(convert_to($1 || n, 'UTF8'))
		from generate_series(1, 98) n`,
		[user.id],
	);
	// Every call writes to the log of this organization, so its entry refers to this row. The row is
	// locked, so that no call can commit before all have begun.
	const holder = await database.owner.connect();
	await holder.query("begin");
	await holder.query("select from organizations where id = $1 for update", [
		acme,
	]);
	const tries = Array.from({ length: 5 }, () =>
		callAs(database, user, createApiToken, { name: "new" }).then(
			() => "made",
			({ code }) => code,
		),
	);
	await expect
		.poll(async () => {
			// The query uses another connection, because within a transaction pg_stat_activity does not
			// change.
			const { rowCount } = await database.owner.query(
				"select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
			);
			return rowCount;
		})
		.toBe(5);
	await holder.query("commit");
	holder.release();
	expect((await Promise.all(tries)).sort()).toEqual([
		...Array(3).fill("bad_request"),
		...Array(2).fill("made"),
	]);
});

test("a token older than 90 days is marked as old", async () => {
	const user = await viewer();
	const { id } = await makeApiToken(database, user);
	await database.owner.query(
		"update api_tokens set created_at = now() - interval '91 days' where id = $1",
		[id],
	);
	const { api_tokens } = await callAs(database, user, listApiTokens, {});
	expect(api_tokens).toMatchObject([{ id, is_old: true }]);
});

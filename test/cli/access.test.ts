import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeLogger } from "../../src/log.ts";
import { type Service, serve } from "../../src/serve.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { auditEntries } from "../support/people.ts";
import { assay } from "../support/program.ts";

const PASSWORD = "correct horse battery";

let database: TestDatabase;
let settings: Record<string, string>;
let service: Service;
beforeAll(async () => {
	database = await createDatabase();
	settings = {
		DATABASE_URL: database.url,
		ASSAY_SECRET: "what the sessions of the tests are signed with",
	};
	service = await serve(
		readConfig({ ...settings, ASSAY_PORT: "0" }),
		makeLogger("silent"),
	);
});
afterAll(async () => {
	await service.close();
	await database.drop();
});

/** Runs a command that must succeed. Returns its result. */
// biome-ignore lint/suspicious/noExplicitAny: the test checks the form of what was printed.
async function run(args: string[], input = "", by = runCommand): Promise<any> {
	const ended = await by([...args, "--json"], settings, input);
	expect(ended).toMatchObject({ code: 0, stderr: "" });
	return JSON.parse(ended.stdout);
}

const makeOrganization = async (name: string): Promise<string> =>
	(await run(["org", "create", "--name", name])).organization_id;

const createUser = (
	email: string,
	org: string,
	role: string,
	input?: string,
	by = runCommand,
) =>
	run(
		[
			"user",
			"create",
			...["--email", email, "--name", "Ada", "--org", org, "--role", role],
			...(input === undefined ? [] : ["--password-stdin"]),
		],
		input,
		by,
	);

async function signIn(email: string, password: string): Promise<number> {
	const answer = await fetch(`${service.url}/api/auth/sign-in/email`, {
		method: "POST",
		headers: { "content-type": "application/json", origin: service.url },
		body: JSON.stringify({ email, password }),
	});
	return answer.status;
}

const callTool = async (token: string) => {
	const answer = await fetch(`${service.url}/api/mcp/tools/listOrganizations`, {
		headers: { authorization: `Bearer ${token}` },
	});
	return { status: answer.status, text: await answer.text() };
};

test("commands create an organization, a user who can sign in, and a token that works until it is revoked", async () => {
	const org = await makeOrganization("Acme");
	const user = await createUser(
		"Ada@Example.com",
		org,
		"admin",
		`${PASSWORD}\n`,
		assay,
	);
	expect(user).toMatchObject({
		email: "ada@example.com",
		organization_id: org,
		role: "admin",
		is_new: true,
	});
	expect(await signIn("ada@example.com", PASSWORD)).toBe(200);
	expect(await run(["user", "list", "--org", org])).toEqual({
		users: [
			{
				user_id: user.user_id,
				name: "Ada",
				email: "ada@example.com",
				role: "admin",
			},
		],
	});
	expect((await run(["org", "list"])).organizations).toContainEqual(
		expect.objectContaining({ id: org, name: "Acme", members: 1 }),
	);

	const args = ["--user", "ada@example.com", "--name", "CI"];
	const { api_token, token } = await run([
		"api-token",
		"create",
		...args,
		...["--description", "builds", "--expires-in-days", "30"],
	]);
	expect(await callTool(token)).toMatchObject({
		status: 200,
		text: expect.stringContaining(org) as string,
	});
	const { api_tokens } = await run(["api-token", "list", ...args.slice(0, 2)]);
	expect(api_tokens).toMatchObject([
		{ id: api_token.id, name: "CI", description: "builds", status: "ACTIVE" },
	]);
	expect(JSON.stringify(api_tokens)).not.toContain("asy_");
	await run(["api-token", "revoke", api_token.id]);
	expect((await callTool(token)).status).toBe(401);

	const entries = await auditEntries(database, org);
	// The user also becomes a person of the register.
	const byCommand = entries.filter(
		({ actor_kind, record_kind }) =>
			actor_kind === "SYSTEM" && record_kind !== "people",
	);
	expect(byCommand).toMatchObject(
		[
			"createOrganization",
			"createUser",
			"createApiToken",
			"revokeApiToken",
		].map((operation) => ({ operation, actor_kind: "SYSTEM", actor_id: null })),
	);
	expect(JSON.stringify(entries)).not.toMatch(/asy_|correct horse/);
});

test("the printed text contains the secret once, with commands for Claude Code and curl", async () => {
	const org = await makeOrganization("Acme");
	await createUser("grace@example.com", org, "viewer");
	const { code, stdout } = await runCommand(
		["api-token", "create", "--user", "grace@example.com", "--name", "x"],
		{ ...settings, ASSAY_BASE_URL: "https://assay.example.com" },
	);
	expect(code).toBe(0);
	expect(stdout).toMatch(/^ {2}export ASSAY_TOKEN=asy_pat_\w{46}$/m);
	expect(stdout).toMatch(
		/^ {2}claude mcp add --transport http assay https:\/\/assay\.example\.com\/api\/mcp\/v1 --header "Authorization: Bearer \$ASSAY_TOKEN"$/m,
	);
	expect(stdout).toMatch(
		/^ {2}curl -H "Authorization: Bearer \$ASSAY_TOKEN" https:/m,
	);
});

test("an existing user joins another organization and keeps the name, the password and all API tokens", async () => {
	const [first, second] = [
		await makeOrganization("First"),
		await makeOrganization("Second"),
	];
	const made = await createUser("kay@example.com", first, "admin", PASSWORD);
	const { token } = await run([
		"api-token",
		"create",
		...["--user", "kay@example.com", "--name", "made before"],
	]);
	const again = await createUser("KAY@example.com", second, "viewer");
	expect(again).toMatchObject({ user_id: made.user_id, is_new: false });
	// The operator has decided who belongs together, so the tokens that exist reach both.
	const reached = (await callTool(token)).text;
	expect(reached).toContain(first);
	expect(reached).toContain(second);
	expect(await signIn("kay@example.com", PASSWORD)).toBe(200);
	for (const [org, input] of [
		[second, ""],
		[await makeOrganization("Third"), "another password"],
	] as const) {
		const { code, stderr } = await runCommand(
			[
				"user",
				"create",
				...["--email", "kay@example.com", "--name", "Kay"],
				...["--org", org, "--role", "admin"],
				...(input ? ["--password-stdin"] : []),
			],
			settings,
			input,
		);
		expect(code).toBe(1);
		expect(stderr).toMatch(/already/);
	}
});

test("a user without a password can get one later, and a new password ends the sessions", async () => {
	const org = await makeOrganization("Acme");
	await createUser("alan@example.com", org, "member");
	expect(await signIn("alan@example.com", PASSWORD)).toBe(401);
	const args = ["user", "set-password", "--email", "alan@example.com"];
	await run(args, PASSWORD);
	expect(await signIn("alan@example.com", PASSWORD)).toBe(200);
	await run(args, "another long password");
	expect(await signIn("alan@example.com", PASSWORD)).toBe(401);
	const { rowCount } = await database.owner.query(
		"select from sessions s join users u on u.id = s.user_id where u.email = 'alan@example.com'",
	);
	expect(rowCount).toBe(0);
	expect(await auditEntries(database, org)).toContainEqual(
		expect.objectContaining({
			operation: "setPassword",
			actor_kind: "SYSTEM",
		}),
	);
});

test("a command rejects every password that the console would reject", async () => {
	const org = await makeOrganization("Acme");
	const email = "weak@example.com";
	const create = [
		...["user", "create", "--email", email, "--name", "Wilhelmina"],
		...["--org", org, "--role", "viewer", "--password-stdin"],
	];
	const refuse = async (args: string[], password: string, why: RegExp) => {
		const ended = await runCommand(args, settings, password);
		expect(ended, password).toMatchObject({ code: 1, stdout: "" });
		expect(ended.stderr).toMatch(why);
	};
	await refuse(create, "unbelievable", /easy to guess/);
	await refuse(create, "wilhelmina2026", /easy to guess/);
	await createUser(email, org, "viewer", PASSWORD);
	const set = ["user", "set-password", "--email", email];
	await refuse(set, "unbelievable", /easy to guess/);
	await refuse(set, PASSWORD, /is your current password/);
	expect(await signIn(email, PASSWORD)).toBe(200);
});

test("commands change a member's role and end the membership, except for the last admin", async () => {
	const org = await makeOrganization("Acme");
	const [chief, ada] = ["chief@example.com", "role@example.com"];
	await createUser(chief, org, "admin");
	const { user_id } = await createUser(ada, org, "viewer");
	const of = (email: string) => ["--email", email, "--org", org];

	const again = await runCommand(
		["user", "create", ...of(ada), "--name", "Ada", "--role", "member"],
		settings,
	);
	expect(again).toMatchObject({ code: 1, stdout: "" });
	expect(again.stderr).toContain("assay user set-role");

	const changed = await run([
		"user",
		"set-role",
		...of(ada),
		"--role",
		"member",
	]);
	expect(changed.member).toMatchObject({ user_id, role: "member" });
	expect(await run(["user", "remove", ...of(ada)])).toEqual({
		removed_user_id: user_id,
	});
	expect((await auditEntries(database, org)).slice(-2)).toMatchObject([
		{ actor_kind: "SYSTEM", operation: "updateMember", record_id: user_id },
		{ actor_kind: "SYSTEM", operation: "removeMember", record_id: user_id },
	]);
	for (const [args, message] of [
		[["remove", ...of(ada)], /is not a member of this organization/],
		[["set-role", ...of(ada), "--role", "admin"], /is not a member/],
		[["remove", ...of(chief)], /last admin/],
		[["set-role", ...of(chief), "--role", "viewer"], /last admin/],
		[["remove", ...of("unknown@example.com")], /user create/],
	] as const) {
		const ended = await runCommand(["user", ...args], settings);
		expect(ended, args.join(" ")).toMatchObject({ code: 1, stdout: "" });
		expect(ended.stderr).toMatch(message);
	}
});

test("a missing record or a value that is too short exits with 1 and says what to do", async () => {
	const org = await makeOrganization("Acme");
	const nobody = "nobody@example.com";
	for (const [args, message] of [
		[["api-token", "create", "--user", nobody, "--name", "x"], /user create/],
		[["api-token", "list", "--user", nobody], /user create/],
		[["api-token", "revoke", "nothing"], /api-token list/],
		[["user", "list", "--org", "nothing"], /org list/],
		[["user", "set-password", "--email", nobody], /12 to 128/],
		[
			[
				...["user", "create", "--email", nobody, "--name", "N"],
				...["--org", org, "--role", "viewer", "--password-stdin"],
			],
			/12 to 128/,
		],
	] as const) {
		const ended = await runCommand([...args], settings, "short");
		expect(ended, args.join(" ")).toMatchObject({ code: 1, stdout: "" });
		expect(ended.stderr).toMatch(message);
	}
});

test("a token says which organizations it does not reach, because they accept only their identity provider", async () => {
	const [open, strict] = [
		await makeOrganization("Open"),
		await makeOrganization("Strict"),
	];
	const email = "guest@example.com";
	await createUser(email, open, "member");
	await createUser(email, strict, "member");
	await database.owner.query(
		"insert into sign_in_rules (organization_id) values ($1)",
		[strict],
	);
	const command = ["api-token", "create", "--user", email, "--name", "CI"];

	const ended = await runCommand(command, settings);
	expect(ended.stdout).toContain(
		`It does not reach Strict (${strict}), which accepts only its identity provider.`,
	);
	const { token, unreached_organizations } = await run(command);
	expect(unreached_organizations).toEqual([{ id: strict, name: "Strict" }]);
	expect((await callTool(token)).text).toContain(
		"this organization accepts only API tokens that were made after a sign-in",
	);
	const entries = await auditEntries(database, strict);
	expect(entries.map(({ event }) => event)).not.toContain("createApiToken");
	expect(
		(await run([...command, "--org", open])).unreached_organizations,
	).toEqual([]);

	const refused = await runCommand([...command, "--org", strict], settings);
	expect(refused).toMatchObject({ code: 1, stdout: "" });
	expect(refused.stderr).toContain(
		"the API token would reach no organization, because Strict",
	);
	expect(refused.stderr).toContain("assay org allow-passwords");
});

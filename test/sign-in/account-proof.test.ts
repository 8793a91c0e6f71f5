import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeResetLink } from "../../src/sign-in/password-reset.ts";
import { type Answer, PASSWORD, sendTo } from "../support/console-client.ts";
import { auditEntries, makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

const ANOTHER = "another fine password";

let served: TestService;
let sink: SmtpSink;
let passwordHash: string;
let acme: string;
let alice: Person;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	passwordHash = await hashPassword(PASSWORD);
	acme = served.organizationId;
	alice = await signInAsNew("admin");
});
afterAll(async () => {
	await served.close();
	sink.close();
});

interface Person {
	user: TestUser;
	cookie: string;
}

const send = (path: string, body: object, cookie = ""): Promise<Answer> =>
	sendTo(served.service.url, path, body, { cookie });

async function use(operation: string, input: object, cookie: string) {
	const answer = await send(`/api/console/${operation}`, input, cookie);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return answer.body;
}

async function signIn(email: string, password = PASSWORD): Promise<string> {
	const answer = await send("/api/auth/sign-in/email", { email, password });
	expect(answer.status).toBe(200);
	return answer.cookie;
}

async function signInAsNew(role: "admin" | "viewer"): Promise<Person> {
	const user = await makeUser(
		served.database,
		{ organizationId: acme, role },
		{ passwordHash },
	);
	return { user, cookie: await signIn(user.email) };
}

const tokenIn = (text: string, type: string) =>
	new RegExp(`asy_${type}_\\w+`).exec(text)?.[0] ?? "";

/**
 * Invites an address. Returns the tokens of two links: the one that is shown and the one that is
 * mailed.
 */
async function invite(email: string, organizationId: string, cookie: string) {
	const made = await use(
		"inviteMember",
		{ organization_id: organizationId, email, role: "admin" },
		cookie,
	);
	const { to, text } = await sink.next();
	expect(to).toBe(email);
	return {
		shown: tokenIn(made.invitation_url, "inv"),
		mailed: tokenIn(text, "inv"),
	};
}

async function join(token: string): Promise<Answer> {
	return send("/api/join", { token, name: "Newcomer", password: PASSWORD });
}

const rolesOf = async (apiToken: string): Promise<number> => {
	const response = await fetch(
		`${served.service.url}/api/mcp/tools/listMembers`,
		{
			method: "POST",
			headers: {
				"content-type": "application/json",
				authorization: `Bearer ${apiToken}`,
			},
			body: JSON.stringify({ organization_id: acme }),
		},
	);
	return response.status;
};

/**
 * Creates an account for `email` with a token and a session, as an attacker could. A viewer creates
 * an organization, invites the address, and uses the invitation link that is shown.
 */
async function hijack(email: string) {
	const attacker = await signInAsNew("viewer");
	const own = await use(
		"createOrganization",
		{ name: "Trap" },
		attacker.cookie,
	);
	const { shown } = await invite(email, own.organization.id, attacker.cookie);
	expect((await join(shown)).status).toBe(200);
	const cookie = await signIn(email);
	const { token } = await use("createApiToken", { name: "trap" }, cookie);
	return { cookie, token: token as string };
}

let people = 0;
const newAddress = () => `stranger-${++people}@example.com`;

test("when a reset mail proves an address, an account that an attacker made for it beforehand loses its token and session", async () => {
	const email = newAddress();
	const trap = await hijack(email);
	const { mailed } = await invite(email, acme, alice.cookie);
	await send("/api/forgot-password", { email });
	const reset = tokenIn((await sink.next()).text, "rst");
	const answer = await send("/api/reset-password", {
		token: reset,
		password: ANOTHER,
		keep_api_tokens: true,
	});
	expect(answer.body).toMatchObject({
		live_api_tokens: 0,
		revoked_api_tokens: 1,
	});
	const cookie = await signIn(email, ANOTHER);
	await use("acceptInvitation", { token: mailed }, cookie);
	expect(await rolesOf(trap.token)).toBe(401);
	expect((await send("/api/console/getProfile", {}, trap.cookie)).status).toBe(
		401,
	);
});

test("the mailed link of another organization is a first proof too, and ends everything except the session that uses it", async () => {
	const email = newAddress();
	const trap = await hijack(email);
	const elsewhere = await signIn(email);
	const { mailed } = await invite(email, acme, alice.cookie);
	const tokens = await use("listApiTokens", {}, elsewhere);
	await use(
		"acceptInvitation",
		{ token: mailed, api_token_ids: tokens.api_tokens.map(idOf) },
		elsewhere,
	);
	expect(await rolesOf(trap.token)).toBe(401);
	expect((await send("/api/console/getProfile", {}, trap.cookie)).status).toBe(
		401,
	);
	expect((await send("/api/console/getProfile", {}, elsewhere)).status).toBe(
		200,
	);
	const entries = await auditEntries(served.database, acme);
	expect(
		entries.filter(({ operation }) => operation === "acceptInvitation"),
	).toContainEqual(
		expect.objectContaining({
			changes: expect.objectContaining({ api_tokens: { after: "REVOKED" } }),
		}),
	);
});

const idOf = ({ id }: { id: string }) => id;

test("no screen shows the mailed link's secret, and only that link proves the address", async () => {
	const email = newAddress();
	const { shown, mailed } = await invite(email, acme, alice.cookie);
	expect(mailed).not.toBe("");
	expect(mailed).not.toBe(shown);
	expect((await join(mailed)).status).toBe(200);
	const { owner } = served.database;
	const proofOf = async (address: string) => {
		const { rows } = await owner.query(
			"select address_proof from users where email = $1",
			[address],
		);
		return rows[0]?.address_proof;
	};
	expect(await proofOf(email)).toBe("LINK");
	const other = newAddress();
	const { shown: seen } = await invite(other, acme, alice.cookie);
	expect((await join(seen)).status).toBe(200);
	expect(await proofOf(other)).toBeNull();
});

test("a reset revokes API tokens unless the user keeps them, and does not turn off the second factor of a proven account", async () => {
	const email = newAddress();
	const { mailed } = await invite(email, acme, alice.cookie);
	await join(mailed);
	const { owner } = served.database;
	const { rows } = await owner.query<{ id: string }>(
		"update users set two_factor_enabled = true where email = $1 returning id",
		[email],
	);
	const userId = rows[0]?.id ?? "";
	const addToken = () =>
		owner.query(
			"insert into api_tokens (id, user_id, name, token_hash) values (left(md5(random()::text), 32), $1, 'laptop', sha256(random()::text::bytea))",
			[userId],
		);
	await addToken();
	const reset = async (given: object) => {
		const link = await makeResetLink(owner, "https://x.test", userId);
		const token = tokenIn(link, "rst");
		const read = await send("/api/link", { token });
		expect(read.body).toMatchObject({
			live_api_tokens: 1,
			is_first_proof: false,
		});
		return send("/api/reset-password", { token, ...given });
	};
	expect(
		(await reset({ password: ANOTHER, keep_api_tokens: true })).body,
	).toMatchObject({ live_api_tokens: 1, revoked_api_tokens: 0 });
	expect((await reset({ password: PASSWORD })).body).toMatchObject({
		live_api_tokens: 0,
		revoked_api_tokens: 1,
	});
	const after = await owner.query(
		"select two_factor_enabled from users where id = $1",
		[userId],
	);
	expect(after.rows[0]?.two_factor_enabled).toBe(true);
});

test("only the existing tokens that the user chooses reach a new organization, and its audit log names them", async () => {
	const other = await createOrganization(served.database.pool, "Other");
	const user = await makeUser(
		served.database,
		{ organizationId: other, role: "viewer" },
		{ passwordHash },
	);
	const cookie = await signIn(user.email);
	const make = (name: string) => use("createApiToken", { name }, cookie);
	const chosen = await make("chosen");
	const left = await make("left out");
	const { mailed } = await invite(user.email, acme, alice.cookie);
	await use(
		"acceptInvitation",
		{ token: mailed, api_token_ids: [chosen.api_token.id] },
		cookie,
	);
	// Accepting the mailed invitation was the first proof of the account's address, so both tokens
	// were revoked.
	expect(await rolesOf(chosen.token)).toBe(401);
	const again = await createOrganization(served.database.pool, "Third");
	const first = await make("first");
	const second = await make("second");
	await served.database.owner.query(
		"insert into memberships (organization_id, user_id, role) values ($1, $2, 'admin')",
		[again, alice.user.id],
	);
	const invitation = await invite(user.email, again, alice.cookie);
	await use(
		"acceptInvitation",
		{ token: invitation.mailed, api_token_ids: [first.api_token.id] },
		cookie,
	);
	const reach = async (token: string) => {
		const response = await fetch(
			`${served.service.url}/api/mcp/tools/listOrganizations`,
			{
				method: "POST",
				headers: {
					"content-type": "application/json",
					authorization: `Bearer ${token}`,
				},
				body: "{}",
			},
		);
		const { organizations } = (await response.json()) as {
			organizations: { id: string }[];
		};
		return organizations.map(idOf).sort();
	};
	expect(await reach(first.token)).toEqual([acme, other, again].sort());
	expect(await reach(second.token)).toEqual([acme, other].sort());
	const entries = await auditEntries(served.database, again);
	expect(
		entries
			.filter(({ record_kind }) => record_kind === "api_token")
			.map(({ record_name }) => record_name),
	).toEqual(["first"]);
	expect(left.api_token.name).toBe("left out");
});

test("an invitation's page is the same whether or not the address has an account, and attempts to join are limited and reported to the owner", async () => {
	const known = await signInAsNew("viewer");
	const own = await use("createOrganization", { name: "Mine" }, alice.cookie);
	const forKnown = await invite(
		known.user.email,
		own.organization.id,
		alice.cookie,
	);
	const forNew = await invite(newAddress(), own.organization.id, alice.cookie);
	const read = async (token: string) => {
		const { body } = await send("/api/link", { token });
		return Object.keys(body).sort();
	};
	expect(await read(forKnown.shown)).toEqual(await read(forNew.shown));
	for (let times = 0; times < 5; times++) {
		const answer = await join(forKnown.shown);
		expect(answer.body.message).toContain("account");
		expect(await sink.next()).toMatchObject({
			to: known.user.email,
			text: expect.stringContaining("tried to create an account"),
		});
	}
	expect((await join(forKnown.shown)).body.message).toContain(
		"too many attempts",
	);
	expect(sink.waiting()).toBe(0);
});

test("a user can send a hundred invitations a day, including revoked ones", async () => {
	const inviter = await signInAsNew("admin");
	await served.database.owner.query(
		`insert into invitations (organization_id, id, email, role, token_hash, invited_by, invited_by_id, expires_at, revoked_at)
		select $1::text, left($1::text, 12) || 'i' || lpad(n::text, 19, '0'), 'x' || n || '@example.com', 'viewer',
			sha256(('invitation ' || n)::bytea), 'x', $2, now() + interval '7 days', now()
		from generate_series(1, 99) n`,
		[acme, inviter.user.id],
	);
	await invite(newAddress(), acme, inviter.cookie);
	const refused = await send(
		"/api/console/inviteMember",
		{ organization_id: acme, email: newAddress(), role: "viewer" },
		inviter.cookie,
	);
	expect(refused).toMatchObject({
		status: 400,
		body: { message: expect.stringContaining("100 invitations") },
	});
	expect(sink.waiting()).toBe(0);
});

test("with ASSAY_ORGANIZATION_CREATION=command-line no session can create an organization", async () => {
	const apart = await startService(undefined, {
		ASSAY_ORGANIZATION_CREATION: "command-line",
	});
	onTestFinished(() => apart.close());
	const user = await makeUser(
		apart.database,
		{ organizationId: apart.organizationId, role: "admin" },
		{ passwordHash },
	);
	const { cookie } = await sendTo(
		apart.service.url,
		"/api/auth/sign-in/email",
		{ email: user.email, password: PASSWORD },
	);
	const answer = await sendTo(
		apart.service.url,
		"/api/console/createOrganization",
		{ name: "Mine" },
		{ cookie },
	);
	expect(answer).toMatchObject({
		status: 403,
		body: { message: expect.stringContaining("assay org create") },
	});
});

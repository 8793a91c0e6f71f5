import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { REFUSALS, type SamlRefusal } from "../../src/sign-in/saml/refusals.ts";
import { verify } from "../scim/stand.ts";
import { makeKey } from "../support/certificate.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import { makeUser } from "../support/people.ts";
import {
	type PersonAtSaml,
	type ResponseChanges,
	SamlProvider,
} from "../support/saml-provider.ts";
import { startService, type TestService } from "../support/service.ts";
import { Visitor } from "../support/visitor.ts";

const START = "/api/sign-in-with-provider";

const provider = new SamlProvider();
let served: TestService;
let base: string;
let ours: string;
let cookie: string;
let id: string;
let people = 0;
const theirs = makeOrganizationId();
let theirCookie: string;
/** The lines that the service has logged. */
const logged: string[] = [];

beforeAll(async () => {
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	served = await startService(
		undefined,
		{ ASSAY_PORT: String(port) },
		undefined,
		pino({ level: "debug" }, { write: (line) => logged.push(line) }),
	);
	ours = served.organizationId;
	await withTenant(served.database.pool, theirs, (client) =>
		insertOrganization(client, theirs, { name: "Theirs" }),
	);
	cookie = await signInAdmin(ours);
	theirCookie = await signInAdmin(theirs);
	id = await add();
	await enable(id);
});
afterAll(() => served.close());

async function signInAdmin(organizationId: string): Promise<string> {
	const { email } = await makeUser(
		served.database,
		{ organizationId, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const credentials = { email, password: PASSWORD };
	return (await sendTo(base, "/api/auth/sign-in/email", credentials)).cookie;
}

const call = (operation: string, input: object, as = cookie) =>
	sendTo(
		base,
		`/api/console/${operation}`,
		{ organization_id: ours, ...input },
		{ cookie: as },
	);
const profileOf = async (as: string) =>
	(await sendTo(base, "/api/console/getProfile", {}, { cookie: as })).body
		.profile;
const readMetadata = (xml: string, as = cookie) =>
	call("readSamlMetadata", { xml }, as);

async function add(organization_id = ours, as = cookie): Promise<string> {
	const { body: found } = await readMetadata(provider.metadata());
	const input = {
		organization_id,
		kind: "SAML",
		name: "Example Inc.",
		...found,
		role: "viewer",
		group_roles: [{ group: "Security", role: "admin" }],
	};
	const { body } = await call("addIdentityProvider", input, as);
	return body.identity_provider.id;
}

async function enable(of: string) {
	const visitor = new Visitor();
	visitor.keep(base, cookie);
	const { page } = await signIn(somebody(), { of, visitor, query: "&test=1" });
	expect(page).toMatch(/^\/provider-tested\?email=/);
	const { status } = await call("updateIdentityProvider", {
		id: of,
		is_enabled: true,
	});
	expect(status).toBe(200);
}

const somebody = (): PersonAtSaml => ({
	nameId: `subject-${++people}`,
	attributes: {
		email: [`saml-${people}@example.com`],
		displayName: ["Grace Hopper"],
	},
});

const isPage = (url: URL) => !url.pathname.startsWith("/api/");

/** Begins an attempt. Returns what the service asks the provider. */
async function begin(visitor: Visitor, of = id, query = "") {
	const { url } = await visitor.open(
		`${base}${START}?provider=${of}${query}`,
		(one) => one.host === "login.example.com",
	);
	return { url, asked: provider.read(url) };
}

/** Sends a response as the provider's page does, without cookies, and follows where it leads. */
async function bring(visitor: Visitor, address: string, xml: string) {
	const form = new URLSearchParams({
		SAMLResponse: Buffer.from(xml).toString("base64"),
		RelayState: "x",
	});
	const answer = await fetch(address, {
		method: "POST",
		redirect: "manual",
		headers: { origin: "https://login.example.com" },
		body: form,
	});
	for (const one of answer.headers.getSetCookie()) {
		visitor.keep(base, one.split(";")[0] ?? "");
	}
	const location = answer.headers.get("location");
	if (!location)
		return { status: answer.status, page: "", problem: null, why: null };
	const { url } = await visitor.open(
		new URL(location, base).href,
		(one) => isPage(one) || one.host === "login.example.com",
	);
	return {
		status: answer.status,
		url,
		page: url.pathname + url.search,
		problem: url.searchParams.get("problem"),
		why: url.searchParams.get("why"),
	};
}

async function signIn(
	person: PersonAtSaml,
	{
		of = id,
		visitor = new Visitor(),
		query = "",
		changes = {} as ResponseChanges,
	} = {},
) {
	const { asked } = await begin(visitor, of, query);
	const xml = provider.respond(asked, person, changes);
	const came = await bring(visitor, asked.answerUrl, xml);
	return { ...came, asked, xml, visitor, session: visitor.cookieFor(base) };
}

describe("sign-in with SAML", () => {
	test("a newcomer gets an account, comes back to it, and reaches only this organization", async () => {
		const person = somebody();
		const first = await signIn(person, { query: "&to=/help/x" });
		expect(first.page).toBe("/help/x");
		const profile = await profileOf(first.session);
		expect(profile).toMatchObject({
			name: "Grace Hopper",
			email: person.attributes?.email?.[0],
			provider: "Example Inc.",
			is_confined: true,
			organizations: [{ id: ours, role: "viewer" }],
		});
		const again = await signIn(person);
		expect((await profileOf(again.session)).user_id).toBe(profile.user_id);
	});

	test("a confined session shows the console who is signed in, and can be ended", async () => {
		const person = somebody();
		const { session } = await signIn(person);
		const ask = (path: string, body?: object) =>
			sendTo(base, `/api/auth/${path}`, body, { cookie: session });
		const { body } = await ask("get-session");
		expect(body.user.email).toBe(person.attributes?.email?.[0]);
		expect((await ask("sign-out", {})).status).toBe(200);
		expect((await ask("get-session")).body).toBeNull();
	});

	test("an account of a verified domain is linked, and its session reaches all organizations", async () => {
		const { email } = await makeUser(served.database, {
			organizationId: theirs,
			role: "viewer",
		});
		const person = { nameId: "of-both", attributes: { email: [email] } };
		const refused = await signIn(person);
		expect(refused.problem).toBe("DOMAIN_NOT_VERIFIED");
		const domain = email.slice(email.indexOf("@") + 1);
		await verify(served.database, ours, domain);
		const { session } = await signIn(person);
		expect((await profileOf(session)).organizations).toMatchObject([
			{ id: theirs },
		]);
		await served.database.owner.query("delete from organization_domains");
		expect((await profileOf(session)).organizations).toEqual([]);
	});

	test("a provider may name the person by given name and surname", async () => {
		const { nameId, attributes } = somebody();
		const { session } = await signIn({
			nameId,
			attributes: {
				email: attributes?.email ?? [],
				givenName: ["Emmy"],
				surname: ["Noether"],
			},
		});
		expect((await profileOf(session)).name).toBe("Emmy Noether");
	});

	test("the highest role of the groups counts", async () => {
		const person = somebody();
		const { session } = await signIn({
			...person,
			attributes: { ...person.attributes, groups: ["Other", "Security"] },
		});
		expect((await profileOf(session)).organizations[0].role).toBe("admin");
	});

	test("nobody new gets in whose groups Entra ID left out because there are too many", async () => {
		const person = somebody();
		const elsewhere = "http://schemas.microsoft.com/claims/groups.link";
		const attributes = {
			...person.attributes,
			[elsewhere]: ["https://graph.windows.net/x/getMemberObjects"],
		};
		const many = { ...person, attributes };
		expect((await signIn(many)).problem).toBe("GROUPS_UNKNOWN");
		const { problem } = await signIn(person);
		expect(problem).toBeNull();
		// Somebody who is known gets in.
		expect((await signIn(many)).problem).toBeNull();
	});

	test("a request keeps the provider's own parameters, and names this service and its address", async () => {
		const { url, asked } = await begin(new Visitor());
		expect(url.searchParams.get("tenant")).toBe("1");
		expect(asked).toMatchObject({
			issuer: `${base}${START}/saml/${id}/metadata`,
			answerUrl: `${base}${START}/saml/${id}`,
			forcesAuthentication: false,
		});
		const metadata = await fetch(asked.issuer).then((answer) => answer.text());
		expect(metadata).toContain(`Location="${asked.answerUrl}"`);
	});

	test("a session is confirmed by signing in again", async () => {
		const person = somebody();
		const { visitor, session } = await signIn(person);
		const { asked } = await begin(visitor, id, "&confirm=1");
		expect(asked.forcesAuthentication).toBe(true);
		const xml = provider.respond(asked, person);
		expect((await bring(visitor, asked.answerUrl, xml)).page).toBe(
			"/confirmed",
		);
		const other = await begin(visitor, id, "&confirm=1");
		const foreign = provider.respond(other.asked, somebody());
		const came = await bring(visitor, other.asked.answerUrl, foreign);
		expect(came.page).toBe("/confirmed?problem=OTHER_ACCOUNT");
		expect(visitor.cookieFor(base)).toContain(session.split("=")[0]);
	});

	test("signing out goes on to the provider's page for that, if the settings name one", async () => {
		const signOut = async () =>
			(
				await new Visitor().open(
					`${base}${START}/sign-out?provider=${id}`,
					isPage,
				)
			).url.href;
		const nowhere = `${base}/sign-in?problem=STILL_SIGNED_IN_THERE`;
		expect(await signOut()).toBe(nowhere);
		const page = `${base}/elsewhere`;
		await call("updateIdentityProvider", { id, sign_out_url: page });
		expect(await signOut()).toBe(page);
		await call("updateIdentityProvider", { id, sign_out_url: null });
		expect(await signOut()).toBe(nowhere);
	});

	test("an answer that nobody asked for only begins an attempt", async () => {
		const visitor = new Visitor();
		const { asked } = await begin(new Visitor());
		const xml = provider.respond(asked, somebody(), { inResponseTo: null });
		const came = await bring(visitor, asked.answerUrl, xml);
		expect(came.url?.host).toBe("login.example.com");
		expect(visitor.cookieFor(base)).not.toContain("session");
	});
});

describe("what is refused", () => {
	test.each<[string, ResponseChanges, SamlRefusal]>([
		["unsigned", { signs: "nothing" }, "UNSIGNED"],
		["signed by another key", { key: makeKey() }, "OTHER_KEY"],
		[
			"for another audience",
			{ audience: "https://other.example.com" },
			"OTHER_AUDIENCE",
		],
		[
			"for another recipient",
			{ recipient: "https://other.example.com" },
			"OTHER_RECIPIENT",
		],
		["too old", { notOnOrAfter: new Date(Date.now() - 3_600_000) }, "EXPIRED"],
		[
			"an answer to another request",
			{ inResponseTo: "_other" },
			"OTHER_REQUEST",
		],
		[
			"an answer to no request, while one is open",
			{ inResponseTo: null },
			"OTHER_REQUEST",
		],
	])("a response that is %s", async (_, changes, code) => {
		const before = logged.length;
		const person = somebody();
		const { problem, why, visitor } = await signIn(person, { changes });
		expect([problem, why]).toEqual(["PROVIDER_FAILED", code]);
		expect(visitor.cookieFor(base)).not.toContain("session");
		const lines = logged.slice(before).join("");
		expect(lines).toContain(REFUSALS[code]);
		expect(lines).toContain('"event":"sign_in_failed"');
		expect(lines).not.toContain(person.nameId);
		expect(lines).not.toContain(person.attributes?.email?.[0] ?? "");
	});

	test("a response that was used before, also with copied cookies", async () => {
		const visitor = new Visitor();
		const { asked } = await begin(visitor);
		const copied = visitor.cookieFor(base);
		const xml = provider.respond(asked, somebody());
		expect((await bring(visitor, asked.answerUrl, xml)).page).toBe("/");
		expect((await bring(visitor, asked.answerUrl, xml)).problem).toBe(
			"NO_ATTEMPT",
		);
		const thief = new Visitor();
		thief.keep(base, copied);
		const again = await bring(thief, asked.answerUrl, xml);
		expect(again.why).toBe("USED_BEFORE");
		expect(thief.cookieFor(base)).not.toContain("session");
	});

	test("a response in another browser", async () => {
		const { asked } = await begin(new Visitor());
		const xml = provider.respond(asked, somebody());
		const victim = new Visitor();
		expect((await bring(victim, asked.answerUrl, xml)).problem).toBe(
			"NO_ATTEMPT",
		);
		await begin(victim);
		expect((await bring(victim, asked.answerUrl, xml)).why).toBe(
			"OTHER_REQUEST",
		);
	});

	test("a response for one provider at the address of another organization's, although both have the same key", async () => {
		const other = await add(theirs, theirCookie);
		const visitor = new Visitor();
		const { asked } = await begin(visitor);
		const xml = provider.respond(asked, somebody());
		const came = await bring(visitor, `${base}${START}/saml/${other}`, xml);
		expect(came.problem).toBe("NO_ATTEMPT");
		const forged = provider.respond(
			{ ...asked, answerUrl: `${base}${START}/saml/${other}` },
			somebody(),
		);
		await begin(visitor);
		expect(
			(await bring(visitor, `${base}${START}/saml/${other}`, forged)).problem,
		).toBe("NO_ATTEMPT");
	});

	test("somebody else's address", async () => {
		const user = await makeUser(served.database, {
			organizationId: ours,
			role: "admin",
		});
		const { problem } = await signIn({
			nameId: "mallory",
			attributes: { email: [user.email] },
		});
		expect(problem).toBe("DOMAIN_NOT_VERIFIED");
	});

	test("forms that carry no response, several, or too much", async () => {
		const address = `${base}${START}/saml/${id}`;
		for (const body of ["", "SAMLResponse=", "SAMLResponse=a&SAMLResponse=b"]) {
			const answer = await fetch(address, {
				method: "POST",
				headers: { "content-type": "application/x-www-form-urlencoded" },
				body,
			});
			expect(answer.status).toBe(400);
		}
		const big = await fetch(address, {
			method: "POST",
			headers: { "content-type": "application/x-www-form-urlencoded" },
			body: `SAMLResponse=${"A".repeat(300_000)}`,
		}).catch(() => undefined);
		expect([undefined, 400, 413]).toContain(big?.status);
	});
});

describe("settings", () => {
	test("metadata with several certificates is read, and rotation needs no test", async () => {
		const next = makeKey();
		const xml = provider.metadata([provider.key, next]);
		const { body } = await readMetadata(xml.replace("?>", "?><!-- IdP -->"));
		expect(body).toMatchObject({
			issuer: provider.entityId,
			sign_in_url: provider.signInUrl,
		});
		const { certificates } = body;
		expect(certificates).toHaveLength(2);
		await call("updateIdentityProvider", { id, certificates });
		const { page } = await signIn(somebody(), { changes: { key: next } });
		expect(page).toBe("/");
		await call("updateIdentityProvider", {
			id,
			certificates: [provider.key.certificate],
		});
		const late = await signIn(somebody(), { changes: { key: next } });
		expect(late.why).toBe("OTHER_KEY");
	});

	test.each([
		["no XML", "metadata"],
		["a document type", "<!DOCTYPE x><x/>"],
		["an open comment", "<x><!-- </x>"],
		["those of something else", "<EntityDescriptor/>"],
	])("metadata that are %s are refused", async (_, xml) => {
		const { status, body } = await readMetadata(xml);
		expect([status, body.fields[0].field]).toEqual([400, "xml"]);
	});

	test("only administrators read metadata", async () => {
		const { session } = await signIn(somebody());
		const { status } = await readMetadata(provider.metadata(), session);
		expect(status).toBe(403);
	});

	test("weak keys, and fields of the other kind, are refused", async () => {
		const settings = {
			kind: "SAML",
			name: "x",
			issuer: "x",
			sign_in_url: provider.signInUrl,
			certificates: [provider.key.certificate],
		};
		const fieldsOf = async (changes: object) =>
			(
				await call("addIdentityProvider", { ...settings, ...changes })
			).body.fields.map((one: { field: string }) => one.field);
		const weak = makeKey({ bits: 1024 }).certificate;
		expect(await fieldsOf({ certificates: [weak] })).toEqual([
			"certificates[0]",
		]);
		expect(await fieldsOf({ client_id: "x" })).toEqual(["client_id"]);
		expect(await fieldsOf({ trusts_addresses: true })).toEqual([
			"trusts_addresses",
		]);
		expect(await fieldsOf({ sign_in_url: "http://x.example.com" })).toEqual([
			"sign_in_url",
		]);
		expect(await fieldsOf({ certificates: undefined })).toEqual([
			"certificates",
		]);
	});
});

import { afterAll, beforeEach, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
import {
	type PersonAtProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import { ReadableLog, refusedSignIn } from "../support/readable-log.ts";
import { Visitor } from "../support/visitor.ts";
import { START } from "./provider-stand.ts";
import { startWithProvider } from "./service-of-provider.ts";

/** What happens when a browser comes back from the identity provider. */

const newcomers = makeOrganizationId();
const log = new ReadableLog();
const provider = await startIdentityProvider();
const { base, isPage, served, signIn } = await startWithProvider(
	provider,
	{ ASSAY_OIDC_ORGANIZATION: newcomers },
	log,
);
await withTenant(served.database.pool, newcomers, (client) =>
	insertOrganization(client, newcomers, { name: "Newcomers" }),
);
afterAll(async () => {
	await served.close();
	await provider.close();
});

let people = 0;
let somebody: PersonAtProvider;
beforeEach(() => {
	people++;
	somebody = {
		sub: `subject-${people}`,
		email: `person-${people}@example.com`,
		email_verified: true,
		name: `Person ${people}`,
	};
});

const query = (sql: string) => served.database.owner.query(sql);

/** Lets a visitor go to the provider, and returns the address at which it sends them back. */
async function answerFor(visitor: Visitor): Promise<string> {
	provider.signInAs(somebody);
	const { url } = await visitor.open(base + START, (one) =>
		one.pathname.endsWith("/callback"),
	);
	return url.href;
}
const problemAt = async (visitor: Visitor, address: string) => {
	const { url } = await visitor.open(address, isPage);
	return url.searchParams.get("problem");
};

test("another browser cannot use the answer, so nobody is signed in as somebody else by a link", async () => {
	const answer = await answerFor(new Visitor());
	const victim = new Visitor();
	log.take();
	expect(await problemAt(victim, answer)).toBe("NO_ATTEMPT");
	await victim.open(base + START, (url) => url.port !== new URL(base).port);
	expect(await problemAt(victim, answer)).toBe("PROVIDER_FAILED");
	expect(victim.cookieFor(base)).toBe("");
	expect(log.take("sign_in_failed")).toEqual([
		refusedSignIn("NO_ATTEMPT"),
		refusedSignIn("PROVIDER_FAILED"),
	]);
});

test("an answer works once", async () => {
	const visitor = new Visitor();
	const answer = await answerFor(visitor);
	const cookie = visitor.cookieFor(base);
	log.take();
	expect(await problemAt(visitor, answer)).toBeNull();
	expect(await problemAt(visitor, answer)).toBe("NO_ATTEMPT");
	const again = await fetch(answer, {
		redirect: "manual",
		headers: { cookie },
	});
	expect(again.headers.get("location")).toContain("problem=PROVIDER_FAILED");
	expect(log.take("sign_in_failed")).toEqual([
		refusedSignIn("NO_ATTEMPT"),
		refusedSignIn("PROVIDER_FAILED"),
	]);
});

test("strangers fill the log with no more than 1,000 lines in 15 minutes", async () => {
	const bring = () => problemAt(new Visitor(), `${base}${START}/callback`);
	log.take();
	expect(await bring()).toBe("NO_ATTEMPT");
	expect(log.take("sign_in_failed")).toEqual([refusedSignIn("NO_ATTEMPT")]);
	await query("update sign_in_failures set failures = 1000");
	for (let n = 0; n < 3; n++) expect(await bring()).toBe("NO_ATTEMPT");
	await query("delete from sign_in_failures");
	expect(log.take("sign_in_failed")).toEqual([
		refusedSignIn("TOO_MANY_ATTEMPTS"),
	]);
});

test.each([
	[
		"another state",
		(url: URL) => url.searchParams.set("state", "x".repeat(43)),
	],
	["no state", (url: URL) => url.searchParams.delete("state")],
	["two states", (url: URL) => url.searchParams.append("state", "x")],
	[
		"an invented code",
		(url: URL) => url.searchParams.set("code", "x".repeat(43)),
	],
	[
		"another issuer",
		(url: URL) => url.searchParams.set("iss", "https://other.example.com"),
	],
	[
		"no issuer, although the provider always names it",
		(url: URL) => url.searchParams.delete("iss"),
	],
	[
		"nothing",
		(url: URL) => {
			url.search = "";
		},
	],
])("an answer with %s is refused", async (_, change) => {
	const visitor = new Visitor();
	const url = new URL(await answerFor(visitor));
	change(url);
	log.take();
	expect(await problemAt(visitor, url.href)).toBe("PROVIDER_FAILED");
	expect(visitor.cookieFor(base)).toBe("");
	expect(log.take("provider_failed", "sign_in_failed")).toEqual([
		expect.objectContaining({
			event: "provider_failed",
			issuer: provider.issuer,
			reason: expect.any(String),
		}),
		refusedSignIn("PROVIDER_FAILED"),
	]);
});

test("an attempt that somebody has written or changed is no attempt", async () => {
	const visitor = new Visitor();
	const answer = await answerFor(visitor);
	const [name, value = ""] = visitor.cookieFor(base).split("=");
	const [, signature] = decodeURIComponent(value).split(".");
	const session = (await signIn(somebody)).cookie.split("=")[1];
	const attempt = Buffer.from(
		JSON.stringify({ state: "x", endsAt: Date.now() + 60_000 }),
	).toString("base64url");
	for (const forged of [`${attempt}.${signature}`, attempt, "x.y", session]) {
		const response = await fetch(answer, {
			redirect: "manual",
			headers: { cookie: `${name}=${forged}` },
		});
		expect(response.headers.get("location")).toContain("NO_ATTEMPT");
	}
});

test.each([
	"https://other.example.com/",
	"//other.example.com/",
	"/\\other.example.com/",
	"/.//other.example.com/",
	`javascript:alert(1)`,
	`/${"x".repeat(3_000)}`,
])("the sign-in never leads to %s", async (to) => {
	const { page, visitor } = await signIn(somebody, {
		path: `${START}?to=${encodeURIComponent(to)}`,
	});
	expect(["/", "/other.example.com/"]).toContain(page);
	expect(visitor.cookieFor("https://other.example.com/")).toBe("");
});

import { afterAll, describe, expect, test } from "vitest";
import { REFUSALS, type SamlRefusal } from "../../src/sign-in/saml/refusals.ts";
import { verify } from "../scim/stand.ts";
import { makeKey } from "../support/certificate.ts";
import { sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import type { ResponseChanges } from "../support/saml-provider.ts";
import { Visitor } from "../support/visitor.ts";
import { START, somebody, startSamlStand } from "./saml-stand.ts";
import { MALLORY, WRAPPINGS } from "./wrapped-responses.ts";

const {
	add,
	base,
	begin,
	bring,
	call,
	failure,
	id,
	log,
	ours,
	profileOf,
	provider,
	refusal,
	served,
	signIn,
	theirs,
	theirCookie,
} = await startSamlStand();
afterAll(() => served.close());

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
		const signOut = async (site = "same-origin") => {
			const answer = await fetch(`${base}${START}/sign-out?provider=${id}`, {
				redirect: "manual",
				headers: { "sec-fetch-site": site },
			});
			return answer.headers.get("location");
		};
		const set = (fields: object) =>
			call("updateIdentityProvider", { id, ...fields });
		const nowhere = "/sign-in?problem=STILL_SIGNED_IN_THERE";
		expect(await signOut()).toBe(nowhere);
		const page = `${base}/elsewhere`;
		await set({ sign_out_url: page });
		expect(await signOut()).toBe(page);
		// A link on another website does not lead there.
		expect(await signOut("cross-site")).toBe("/sign-in");
		await set({ is_enabled: false });
		expect(await signOut()).toBe(nowhere);
		await set({ is_enabled: true, sign_out_url: null });
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
		log.take();
		const person = somebody();
		const { problem, why, visitor } = await signIn(person, { changes });
		expect([problem, why]).toEqual(["PROVIDER_FAILED", code]);
		expect(visitor.cookieFor(base)).not.toContain("session");
		const lines = JSON.stringify(log.lines);
		expect(lines).not.toContain(person.nameId);
		expect(lines).not.toContain(person.attributes?.email?.[0] ?? "");
		expect(log.take("provider_failed", "sign_in_failed")).toEqual([
			failure(REFUSALS[code]),
			refusal("PROVIDER_FAILED", code),
		]);
	});

	test.each(Object.entries(WRAPPINGS))("a wrapped signature, %s", async (_, {
		wrap,
		code,
	}) => {
		log.take();
		const visitor = new Visitor();
		const { asked } = await begin(visitor);
		const xml = wrap((changes, person = somebody()) =>
			provider.respond(asked, person, changes),
		);
		const came = await bring(visitor, asked.answerUrl, xml);
		expect([came.problem, came.why]).toEqual(["PROVIDER_FAILED", code]);
		expect(visitor.cookieFor(base)).not.toContain("session");
		expect(JSON.stringify(log.lines)).not.toContain(MALLORY.nameId);
		expect(log.take("provider_failed", "sign_in_failed")).toEqual([
			failure(REFUSALS[code]),
			refusal("PROVIDER_FAILED", code),
		]);
	});

	test("a response that was used before, also with copied cookies", async () => {
		log.take();
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
		expect(log.take("sign_in_failed")).toEqual([refusal("NO_ATTEMPT")]);
		const again = await bring(thief, asked.answerUrl, xml);
		expect(again.why).toBe("USED_BEFORE");
		expect(log.take("provider_failed", "sign_in_failed")).toEqual([
			failure(REFUSALS.USED_BEFORE),
			refusal("PROVIDER_FAILED", "USED_BEFORE"),
		]);
		expect(thief.cookieFor(base)).not.toContain("session");
	});

	test("a response in another browser", async () => {
		const { asked } = await begin(new Visitor());
		const xml = provider.respond(asked, somebody());
		const victim = new Visitor();
		log.take();
		expect((await bring(victim, asked.answerUrl, xml)).problem).toBe(
			"NO_ATTEMPT",
		);
		await begin(victim);
		expect((await bring(victim, asked.answerUrl, xml)).why).toBe(
			"OTHER_REQUEST",
		);
		expect(log.take("sign_in_failed")).toEqual([
			refusal("NO_ATTEMPT"),
			refusal("PROVIDER_FAILED", "OTHER_REQUEST"),
		]);
	});

	test("a response for one provider at the address of another organization's, although both have the same key", async () => {
		const other = await add(theirs, theirCookie);
		const visitor = new Visitor();
		const { asked } = await begin(visitor);
		const xml = provider.respond(asked, somebody());
		log.take();
		const came = await bring(visitor, `${base}${START}/saml/${other}`, xml);
		expect(came.problem).toBe("NO_ATTEMPT");
		expect(log.take("provider_failed", "sign_in_failed")).toEqual([
			failure(REFUSALS.OTHER_RECIPIENT, other),
			refusal("NO_ATTEMPT", undefined, other),
		]);
		const forged = provider.respond(
			{ ...asked, answerUrl: `${base}${START}/saml/${other}` },
			somebody(),
		);
		await begin(visitor);
		expect(
			(await bring(visitor, `${base}${START}/saml/${other}`, forged)).problem,
		).toBe("NO_ATTEMPT");
		expect(log.take("provider_failed", "sign_in_failed")).toEqual([
			failure(REFUSALS.OTHER_AUDIENCE, other),
			refusal("NO_ATTEMPT", undefined, other),
		]);
	});

	test("somebody else's address", async () => {
		const user = await makeUser(served.database, {
			organizationId: ours,
			role: "admin",
		});
		log.take();
		const { problem, visitor } = await signIn({
			nameId: "mallory",
			attributes: { email: [user.email] },
		});
		expect(problem).toBe("DOMAIN_NOT_VERIFIED");
		expect(visitor.cookieFor(base)).not.toContain("session");
		expect(JSON.stringify(log.lines)).not.toContain(user.email);
		expect(log.take("sign_in_failed")).toEqual([
			refusal("DOMAIN_NOT_VERIFIED"),
		]);
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

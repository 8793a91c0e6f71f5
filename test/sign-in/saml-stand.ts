import { expect } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import { makeUser } from "../support/people.ts";
import { ReadableLog, refusedSignIn } from "../support/readable-log.ts";
import {
	type PersonAtSaml,
	type ResponseChanges,
	SamlProvider,
} from "../support/saml-provider.ts";
import { startService } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { Visitor } from "../support/visitor.ts";

export const START = "/api/sign-in-with-provider";

let people = 0;

/** Makes a person whom nobody knows yet. */
export const somebody = (): PersonAtSaml => ({
	nameId: `subject-${++people}`,
	attributes: {
		email: [`saml-${people}@example.com`],
		displayName: ["Grace Hopper"],
	},
});

export const isPage = (url: URL) => !url.pathname.startsWith("/api/");

export type SamlStand = Awaited<ReturnType<typeof startSamlStand>>;

/** Starts a service with two organizations. The first has a SAML provider, which is switched on. */
export async function startSamlStand() {
	const provider = new SamlProvider();
	const log = new ReadableLog();
	const port = await findFreePort();
	const base = `http://localhost:${port}`;
	const served = await startService(
		undefined,
		{ ASSAY_PORT: String(port) },
		undefined,
		log.logger,
	);
	const ours = served.organizationId;
	const theirs = makeOrganizationId();
	await withTenant(served.database.pool, theirs, (client) =>
		insertOrganization(client, theirs, { name: "Theirs" }),
	);

	async function signInAdmin(organizationId: string): Promise<string> {
		const { email } = await makeUser(
			served.database,
			{ organizationId, role: "admin" },
			{ passwordHash: await hashPassword(PASSWORD) },
		);
		const credentials = { email, password: PASSWORD };
		return (await sendTo(base, "/api/auth/sign-in/email", credentials)).cookie;
	}
	const cookie = await signInAdmin(ours);
	const theirCookie = await signInAdmin(theirs);

	const call = (operation: string, input: object, as = cookie) =>
		sendTo(
			base,
			`/api/console/${operation}`,
			{ organization_id: ours, ...input },
			{ cookie: as },
		);
	const profileOf = async (as: string): Promise<Json> =>
		(await sendTo(base, "/api/console/getProfile", {}, { cookie: as })).body
			.profile;
	const readMetadata = (xml: string, as = cookie) =>
		call("readSamlMetadata", { xml }, as);

	/** Adds a provider that is switched off. Returns its id. */
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
	const id = await add();

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

	const administrator = new Visitor();
	administrator.keep(base, cookie);
	const { page } = await signIn(somebody(), {
		visitor: administrator,
		query: "&test=1",
	});
	const { status } = await call("updateIdentityProvider", {
		id,
		is_enabled: true,
	});
	if (status !== 200) throw new Error(`${page} ${status}`);

	/** The fields of the line that a refused sign-in has in the log. */
	const refusal = (reason: string, why?: string, of = id) =>
		refusedSignIn(reason, { ...(why !== undefined && { why }), provider: of });

	/** The fields of the line that says why an answer was refused. */
	const failure = (reason: string, of = id) => ({
		level: 50,
		event: "provider_failed",
		issuer: provider.entityId,
		provider: of,
		code: expect.any(String),
		reason,
	});

	return {
		provider,
		served,
		log,
		base,
		ours,
		theirs,
		theirCookie,
		/** The provider of the first organization. */
		id,
		call,
		profileOf,
		readMetadata,
		add,
		begin,
		bring,
		signIn,
		refusal,
		failure,
	};
}

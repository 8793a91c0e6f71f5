import { withTenant } from "../../src/db/pool.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import {
	CLIENT_ID,
	CLIENT_SECRET,
	type PersonAtProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import { makeUser } from "../support/people.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { startService } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { Visitor } from "../support/visitor.ts";

export const START = "/api/sign-in-with-provider";

/**
 * Starts a service with two organizations. The first has an OpenID provider, which is switched on.
 */
export async function startOrganizationProvider() {
	const provider = await startIdentityProvider();
	const log = new ReadableLog();
	const port = await findFreePort();
	const base = `http://localhost:${port}`;
	const served = await startService(
		undefined,
		{ ASSAY_PORT: String(port), ASSAY_OUTGOING_NETWORKS: "127.0.0.1" },
		undefined,
		log.logger,
	);
	const ours = served.organizationId;
	const theirs = makeOrganizationId();
	await withTenant(served.database.pool, theirs, (client) =>
		insertOrganization(client, theirs, { name: "Theirs" }),
	);

	/** Makes a user with a password, and signs them in. */
	async function signedInUser(
		organizationId: string,
		role: "admin" | "member" | "viewer" = "admin",
		email?: string,
	) {
		const user = await makeUser(
			served.database,
			{ organizationId, role },
			{
				passwordHash: await hashPassword(PASSWORD),
				...(email !== undefined && { email }),
			},
		);
		return { ...user, cookie: await signInWithPassword(user.email) };
	}

	async function signInWithPassword(email: string): Promise<string> {
		const { cookie } = await sendTo(base, "/api/auth/sign-in/email", {
			email,
			password: PASSWORD,
		});
		return cookie;
	}

	const call = (operation: string, input: object, cookie: string) =>
		sendTo(base, `/api/console/${operation}`, input, { cookie });

	const settings = (organization_id: string, changes: object = {}) => ({
		organization_id,
		kind: "OIDC",
		name: "Example Inc.",
		issuer: provider.issuer,
		client_id: CLIENT_ID,
		client_secret: CLIENT_SECRET,
		role: "viewer",
		group_roles: [
			{ group: "Security", role: "admin" },
			{ group: "Staff", role: "member" },
		],
		...changes,
	});

	async function add(organizationId: string, cookie: string, changes = {}) {
		const { body } = await call(
			"addIdentityProvider",
			settings(organizationId, changes),
			cookie,
		);
		provider.allowRedirect(body.identity_provider.callback_url);
		return body.identity_provider.id as string;
	}

	async function addEnabled(
		organizationId: string,
		cookie: string,
		changes = {},
	) {
		const made = await add(organizationId, cookie, changes);
		provider.signInAs({
			sub: "tester",
			email: "t@example.com",
			email_verified: true,
		});
		await tryOut(made, cookie);
		await switchOn(organizationId, made, cookie);
		return made;
	}

	async function tryOut(providerId: string, cookie: string) {
		const visitor = new Visitor();
		visitor.keep(base, cookie);
		const path = `${base}${START}?provider=${providerId}&test=1`;
		return visitor.open(path, isPage);
	}

	const switchOn = (organization_id: string, made: string, cookie: string) =>
		call(
			"updateIdentityProvider",
			{ organization_id, id: made, is_enabled: true },
			cookie,
		);

	const isPage = (url: URL) =>
		!url.pathname.startsWith("/api/") && url.port === new URL(base).port;

	async function signIn(
		person: PersonAtProvider,
		{ of = "", visitor = new Visitor(), to = "" } = {},
	) {
		provider.signInAs(person);
		const { url } = await visitor.open(
			`${base}${START}?provider=${of || id}${to}`,
			isPage,
		);
		return {
			visitor,
			page: url.pathname + url.search,
			problem: url.searchParams.get("problem"),
			cookie: visitor.cookieFor(base),
		};
	}

	const profileOf = async (cookie: string): Promise<Json> =>
		(await call("getProfile", {}, cookie)).body.profile;
	const query = (sql: string, values: unknown[] = []) =>
		served.database.owner.query(sql, values).then(({ rows }) => rows);

	const admin = await signedInUser(ours);
	const id = await addEnabled(ours, admin.cookie);

	return {
		provider,
		served,
		log,
		base,
		ours,
		theirs,
		admin,
		/** The provider of the first organization. */
		id,
		signedInUser,
		signInWithPassword,
		call,
		settings,
		add,
		addEnabled,
		tryOut,
		switchOn,
		isPage,
		signIn,
		profileOf,
		query,
		close: async () => {
			await served.close();
			await provider.close();
		},
	};
}

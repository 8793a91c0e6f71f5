import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { withTenant } from "../../src/db/pool.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
import { sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import {
	type IdentityProvider,
	type PersonAtProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import { startService, type TestService } from "../support/service.ts";
import { Visitor } from "../support/visitor.ts";

export const START = "/api/sign-in-with-provider";

export interface Stand {
	provider: IdentityProvider;
	served: TestService;
	base: string;
	/** The organization that newcomers join. */
	organization: string;
	/** The lines of the service's log. */
	logged: Record<string, unknown>[];
	/** Signs in as this person. */
	signIn: (
		who: PersonAtProvider,
		how?: { visitor?: Visitor; query?: string },
	) => Promise<{
		visitor: Visitor;
		/** The page that opens. */
		page: string;
		problem: string | null;
		email: string | undefined;
		/** The role in the organization of newcomers. */
		role: string | undefined;
	}>;
	close: () => Promise<void>;
}

/** Makes a person whom nobody knows yet. */
export function newcomer(
	claims: Record<string, unknown> = {},
): PersonAtProvider {
	const sub = randomUUID();
	const email = `${sub}@example.com`;
	return { sub, email, email_verified: true, name: "Ada Lovelace", ...claims };
}

/** Starts a provider and a service that uses it. Groups give roles, and everybody else a member. */
export async function startStand(
	options: Parameters<typeof startIdentityProvider>[0] = {},
	settings: Record<string, string> = {},
): Promise<Stand> {
	const provider = await startIdentityProvider(options);
	const organization = makeOrganizationId();
	const port = await findFreePort();
	const base = `http://localhost:${port}`;
	const logged: Stand["logged"] = [];
	const served = await startService(
		undefined,
		{
			ASSAY_PORT: String(port),
			...provider.settings("example.com"),
			ASSAY_OIDC_ORGANIZATION: organization,
			ASSAY_OIDC_ROLES: "member, Security=admin, Guests=viewer",
			...settings,
		},
		undefined,
		pino({ base: null }, { write: (line) => logged.push(JSON.parse(line)) }),
	);
	provider.allow(base);
	await withTenant(served.database.pool, organization, (client) =>
		insertOrganization(client, organization, { name: "Newcomers" }),
	);

	const signIn: Stand["signIn"] = async (
		who,
		{ visitor = new Visitor(), query = "" } = {},
	) => {
		provider.signInAs(who);
		const { url } = await visitor.open(
			`${base}${START}${query}`,
			(one) => !one.pathname.startsWith("/api/") && one.href.startsWith(base),
		);
		const cookie = visitor.cookieFor(base);
		const path = "/api/console/getProfile";
		const { profile } = (await sendTo(base, path, {}, { cookie })).body;
		return {
			visitor,
			page: url.pathname + url.search,
			problem: url.searchParams.get("problem"),
			email: profile?.email,
			role: profile?.organizations.find(
				({ id }: { id: string }) => id === organization,
			)?.role,
		};
	};

	return {
		provider,
		served,
		base,
		organization,
		logged,
		signIn,
		close: async () => {
			await served.close();
			await provider.close();
		},
	};
}

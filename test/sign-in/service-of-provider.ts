import { sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import type {
	IdentityProvider,
	PersonAtProvider,
} from "../support/identity-provider.ts";
import type { ReadableLog } from "../support/readable-log.ts";
import { startService } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { Visitor } from "../support/visitor.ts";
import { START } from "./provider-stand.ts";

/** Starts a service whose settings name the provider, for addresses of two domains. */
export async function startWithProvider(
	provider: IdentityProvider,
	settings: Record<string, string>,
	log?: ReadableLog,
) {
	const port = await findFreePort();
	const base = `http://localhost:${port}`;
	const served = await startService(
		undefined,
		{
			ASSAY_PORT: String(port),
			...provider.settings("example.com, Example.ORG"),
			...settings,
		},
		undefined,
		log?.logger,
	);
	provider.allow(base);
	/** Returns true for a page of the console, which the test does not load. */
	const isPage = (url: URL) =>
		!url.pathname.startsWith("/api/") && url.href.startsWith(base);
	return {
		served,
		base,
		isPage,
		/** Signs in as this person at the provider. Returns the visitor and the page that opens. */
		signIn: async (
			person: PersonAtProvider | undefined,
			{ path = START, visitor = new Visitor() } = {},
		) => {
			provider.signInAs(person);
			const { url } = await visitor.open(base + path, isPage);
			return {
				visitor,
				page: url.pathname + url.search,
				problem: url.searchParams.get("problem"),
				cookie: visitor.cookieFor(base),
			};
		},
		profileOf: async (cookie: string): Promise<Json> =>
			(await sendTo(base, "/api/console/getProfile", {}, { cookie })).body
				.profile,
	};
}

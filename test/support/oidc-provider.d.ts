/** The parts of oidc-provider that the tests use. The package has no types of its own. */
declare module "oidc-provider" {
	import type { IncomingMessage, ServerResponse } from "node:http";

	export class Grant {
		constructor(about: { clientId: string; accountId: string });
		addOIDCScope(scope: string): void;
		save(): Promise<string>;
	}

	interface OidcContext {
		oidc: {
			provider: { Grant: typeof Grant };
			client: { clientId: string };
			session: { accountId: string };
		};
	}

	export default class Provider {
		constructor(
			issuer: string,
			configuration: {
				loadExistingGrant?: (context: OidcContext) => Promise<Grant>;
				[name: string]: unknown;
			},
		);
		callback(): (request: IncomingMessage, response: ServerResponse) => void;
		interactionDetails(
			request: IncomingMessage,
			response: ServerResponse,
		): Promise<{ prompt: { name: string } }>;
		interactionFinished(
			request: IncomingMessage,
			response: ServerResponse,
			result: object,
		): Promise<void>;
	}
}

declare module "oidc-provider/lib/adapters/memory_adapter.js" {
	export default class MemoryAdapter {}
}

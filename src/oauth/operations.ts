import { z } from "zod";
import { AppError } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { addToken, scopesInReach } from "../tokens/api-token-operations.ts";
import { scopesInput } from "../tokens/scopes.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import { DAY_MS } from "../units.ts";
import {
	authorizationInput,
	checkAuthorization,
} from "./authorization-request.ts";
import { requireClient } from "./clients.ts";
import { redirectTo } from "./redirect-uri.ts";

/** Lifetime, in days, of a connection if its user does not choose another. */
export const DEFAULT_APP_DAYS = 90;
const MAX_APP_DAYS = 365;
/** Seconds within which the app must exchange its code. */
const CODE_SECONDS = 60;

/**
 * Makes the operation allowApp. `toolsets` returns the toolsets that an app may be limited to.
 */
export const makeAllowApp = (toolsets: () => readonly string[]) =>
	defineOperation({
		name: "allowApp",
		title: "Connect an app",
		description:
			"Let a program act for you, within the limits that you choose. Returns the address that takes the browser back to the program, with a code that works once and for a minute.",
		toolset: "api_tokens",
		surface: "console",
		access: "self",
		tenant: null,
		input: authorizationInput.extend({
			...scopesInput,
			expires_in_days: z
				.int()
				.min(1)
				.max(MAX_APP_DAYS)
				.default(DEFAULT_APP_DAYS)
				.describe("Days after which the program must ask again"),
		}),
		output: z.object({ redirect_to: z.string() }),
		run: async (context, input) => {
			const { client, principal, services } = context;
			if (!services.hasOauth || principal.userId === null) {
				throw new AppError(
					"forbidden",
					"permission denied: programs cannot be connected here; the operator can switch it on with ASSAY_OAUTH=on",
				);
			}
			const app = await requireClient(client, input.client_id);
			const asked = checkAuthorization(app, input, services, principal);
			if ("errorUrl" in asked) return { redirect_to: asked.errorUrl };
			const { api_token } = await addToken(context, {
				userId: principal.userId,
				name: app.name,
				description: null,
				expiresAt: new Date(Date.now() + input.expires_in_days * DAY_MS),
				// The app gets its first secret in exchange for the code. Until then, nobody has one.
				secretEndsAt: new Date(),
				scopes: scopesInReach(context, input, toolsets()),
			});
			const code = makeSecret("oac");
			await client.query(
				`insert into connected_apps (
					token_id, client_id, redirect_uri, code_hash, code_challenge, code_ends_at
				) values ($1, $2, $3, decode($4, 'hex'), $5, now() + interval '${CODE_SECONDS} seconds')`,
				[
					api_token.id,
					app.id,
					asked.redirectUri,
					hashSecret(code),
					asked.codeChallenge,
				],
			);
			return {
				redirect_to: redirectTo(asked.redirectUri, {
					code,
					state: input.state,
					iss: services.baseUrl,
				}),
			};
		},
	});

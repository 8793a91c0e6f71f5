import type { FastifyInstance, FastifyRequest } from "fastify";
import {
	isSetupNeeded,
	setUp,
	setupInput,
} from "../organizations/first-setup.ts";
import type { From } from "../sign-in/exchange.ts";
import { knownBrowserCookie } from "../sign-in/known-browser.ts";
import { linkInput, readLink } from "../sign-in/one-time-link.ts";
import {
	forgetPassword,
	forgotInput,
	type ResetParts,
	resetInput,
	resetPassword,
} from "../sign-in/password-reset.ts";
import { parseInput } from "../validation.ts";
import { MAX_STRANGERS_BODY } from "./admission.ts";

/**
 * Adds the routes that the console calls for somebody who cannot sign in yet. Errors have the usual
 * form: {error, message, fields?}.
 *
 *     GET  /api/setup            → {setup_needed}
 *     POST /api/setup            {token, organization_name, name, email, password}
 *                                → {user_id, email, organization_id}; the page then signs in
 *     POST /api/link             {token} → the purpose of the link, see readLink; 400 says why the
 *                                link is invalid
 *     GET  /api/forgot-password  → {sends_mail}
 *     POST /api/forgot-password  {email} → {} for every address; 400 without SMTP
 *     POST /api/reset-password   {token, password, keep_api_tokens?}
 *                                → {email, live_api_tokens, revoked_api_tokens}
 */
export function addAccount(
	app: FastifyInstance,
	parts: ResetParts,
	fromOf: (request: FastifyRequest) => From,
): void {
	const options = {
		bodyLimit: MAX_STRANGERS_BODY,
		config: { admits: "page" },
	} as const;

	app.get("/api/setup", options, async () => {
		return { setup_needed: await isSetupNeeded(parts.appPool) };
	});

	app.post("/api/setup", options, async (request) => {
		const input = parseInput(setupInput, request.body ?? {});
		return setUp(parts.appPool, input, fromOf(request));
	});

	app.post("/api/link", options, async (request) => {
		const input = parseInput(linkInput, request.body ?? {});
		return readLink(parts, input);
	});

	app.get("/api/forgot-password", options, async () => {
		return { sends_mail: parts.mail !== undefined };
	});

	app.post("/api/forgot-password", options, async (request) => {
		const input = parseInput(forgotInput, request.body ?? {});
		forgetPassword(parts, input, fromOf(request));
		return {};
	});

	app.post("/api/reset-password", options, async (request, reply) => {
		const input = parseInput(resetInput, request.body ?? {});
		const done = await resetPassword(parts, input, fromOf(request));
		// While somebody attacks the address, only known browsers can sign in with it. This browser's
		// user has just proved to own the address, so the browser becomes a known one.
		reply.header("set-cookie", knownBrowserCookie(parts, done.email));
		return done;
	});
}

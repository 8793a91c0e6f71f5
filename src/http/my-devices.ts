import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { FairShares } from "../load/fair-shares.ts";
import { networkOf } from "../load/sign-in-queue.ts";
import {
	endMyDevicesSession,
	redeemMyDevicesLink,
	SESSION_MINUTES,
} from "../my-devices/links.ts";
import { type NewLinkParts, requestNewLink } from "../my-devices/new-link.ts";
import { readMyDevices } from "../my-devices/page.ts";
import {
	exceptionInput,
	requestMyException,
} from "../my-devices/request-exception.ts";
import { findCookie } from "../sign-in/cookies.ts";
import type { From } from "../sign-in/exchange.ts";
import { isWellFormedSecret } from "../tokens/secret.ts";
import { parseInput } from "../validation.ts";
import { MAX_STRANGERS_BODY } from "./admission.ts";

const PATH = "/api/my-devices";

const linkInput = z.strictObject({ token: z.string().max(200) });

/** Calls of one network, or of one open page, at the same time. */
const CALLS = { running: 4, waiting: 60, name: "calls from your address" };

/**
 * Adds the routes of the page "My devices". A link in a mail opens it, and its reader has no
 * account. Only the button of the page uses the link up, so programs that fetch addresses in mails
 * do not. Errors have the usual form.
 *
 *     POST /api/my-devices/open      {token} → {}, and the cookie of the page; 400 if the link
 *                                    cannot be used
 *     GET  /api/my-devices           → see readMyDevices; 401 without the cookie
 *     POST /api/my-devices/new-link  {token} → {} for every token; 400 without SMTP
 *     POST /api/my-devices/request-exception
 *                                    {device_id, check_key, reason, ends_at} → {}; 400 names the
 *                                    field; 401 without the cookie
 *     POST /api/my-devices/close     {} → {}; ends the session
 */
export function addMyDevices(
	app: FastifyInstance,
	parts: NewLinkParts & { baseUrl: string },
	fromOf: (request: FastifyRequest) => From,
): void {
	const { appPool, baseUrl } = parts;
	const cookie = makeCookie(baseUrl);
	const ofNetworks = new FairShares(CALLS);
	const ofPages = new FairShares(CALLS);
	const options = {
		bodyLimit: MAX_STRANGERS_BODY,
		config: { admits: "page" },
	} as const;
	const networkOfRequest = (request: FastifyRequest) =>
		networkOf(fromOf(request).address ?? "");
	const requireRoom = async (request: FastifyRequest) => {
		const why = ofNetworks.whyFull(networkOfRequest(request));
		if (why) throw new AppError("service_unavailable", why);
	};

	app.post(
		`${PATH}/open`,
		{ ...options, onRequest: requireRoom },
		async (request, reply) => {
			const { token } = parseInput(linkInput, request.body ?? {});
			const session = await ofNetworks.run(networkOfRequest(request), () =>
				redeemMyDevicesLink(
					appPool,
					token,
					cookie.read(request),
					fromOf(request),
				),
			);
			cookie.set(reply, session, SESSION_MINUTES * 60);
			return {};
		},
	);

	const requireSession = (request: FastifyRequest) => {
		const session = cookie.read(request);
		if (session) return session;
		throw new AppError(
			"unauthorized",
			"open the link to your devices that was sent to you",
		);
	};

	app.get(PATH, options, async (request) => {
		const session = requireSession(request);
		return ofPages.run(session, () => readMyDevices(appPool, session));
	});

	app.post(
		`${PATH}/new-link`,
		{ ...options, onRequest: requireRoom },
		async (request) => {
			const { token } = parseInput(linkInput, request.body ?? {});
			requestNewLink(parts, token);
			return {};
		},
	);

	app.post(`${PATH}/request-exception`, options, async (request) => {
		const session = requireSession(request);
		const wanted = parseInput(exceptionInput, request.body ?? {});
		await ofPages.run(session, () =>
			requestMyException(appPool, session, wanted, fromOf(request)),
		);
		return {};
	});

	app.post(`${PATH}/close`, options, async (request, reply) => {
		const session = cookie.read(request);
		if (session) {
			await ofPages.run(session, () => endMyDevicesSession(appPool, session));
		}
		cookie.set(reply, "", 0);
		return {};
	});
}

/**
 * Returns the functions for the page's cookie. Browsers send it only to the page's own routes, and
 * it opens nothing else.
 */
function makeCookie(baseUrl: string) {
	const isSecure = baseUrl.startsWith("https:");
	const name = `${isSecure ? "__Secure-" : ""}assay.my_devices`;
	return {
		read: (request: FastifyRequest): string | undefined => {
			const value = findCookie(request.headers.cookie ?? null, name);
			return value && isWellFormedSecret("mys", value) ? value : undefined;
		},
		set: (reply: FastifyReply, value: string, seconds: number) => {
			const parts = [
				`${name}=${value}`,
				`Path=${PATH}`,
				`Max-Age=${seconds}`,
				"HttpOnly",
				"SameSite=Strict",
				...(isSecure ? ["Secure"] : []),
			];
			reply.header("set-cookie", parts.join("; "));
		},
	};
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import type { Principal } from "../principal.ts";
import type { AllowedOrigins } from "./cross-origin.ts";
import {
	requireOwnHost,
	requireOwnPage,
	requireSameOrigin,
} from "./same-origin.ts";

/**
 * Says which requests a route admits. The decision depends on the headers alone, before any byte of
 * the body is read:
 *
 * - `anyone`: every request, whatever its Host and Origin (health checks).
 * - `visitor`: requests to one of the service's own names that no other website's page sent.
 * - `program`: as `visitor`, and also pages of the origins in ASSAY_ALLOWED_ORIGINS.
 * - `page`: requests from the service's own pages. Their credential, if any, is in the body.
 * - `form of another website`: requests to one of the service's own names, from a form of any page.
 *   What they bring proves itself, as a signed answer of an identity provider does. They are admitted
 *   without cookies, and up to 256 KiB.
 * - `session`: requests from the service's own pages with the cookie of a signed-in user.
 */
export type Admits =
	| "anyone"
	| "visitor"
	| "program"
	| "page"
	| "form of another website"
	| "session";

/**
 * Finds the user of a request again, with the roles that the user has now. Throws an AppError if the
 * session has ended. A request that takes long asks again, because the user may be removed meanwhile.
 */
export type FindCaller = () => Promise<Principal>;

declare module "fastify" {
	interface FastifyContextConfig {
		admits?: Admits;
	}
	interface FastifyRequest {
		caller?: Principal;
		findCallerAgain?: FindCaller;
	}
}

/** Largest body, in bytes, of a route that reads the body before it knows who sent it. */
export const MAX_STRANGERS_BODY = 16 * 1024;

/**
 * Largest body of a form of another website, in bytes. An answer of a SAML provider with 1,000 groups
 * has about 180,000.
 */
export const MAX_FORM_BODY = 256 * 1024;

/** A route of the web server. Tests and benchmarks go through the list of all routes. */
export interface RouteSummary {
	methods: readonly string[];
	path: string;
	admits: Admits;
	maxBodyBytes: number;
}

export interface AdmissionParts {
	baseUrl: string;
	allowedOrigins: AllowedOrigins;
	/**
	 * Returns the user of a request's session. Throws an AppError if nobody is signed in. The reply
	 * gets the cookies that prolong the session. Without a reply, the session is not used again.
	 */
	authenticate: (
		request: FastifyRequest,
		reply?: FastifyReply,
	) => Promise<Principal>;
}

/**
 * Checks the route's `config.admits` before a request's body is read. The service does not start if
 * a route declares no `admits`, or reads more than 16 KiB from a sender without a session. Returns
 * the list of routes, which is complete when all routes have been added.
 */
export function addAdmission(
	app: FastifyInstance,
	{ baseUrl, allowedOrigins, authenticate }: AdmissionParts,
): readonly RouteSummary[] {
	const routes: RouteSummary[] = [];

	app.addHook("onRoute", ({ method, url, config, bodyLimit }) => {
		const methods = [method].flat();
		const admits = config?.admits;
		if (!admits) {
			throw new Error(`the route ${methods} ${url} must say whom it admits`);
		}
		const readsBody = methods.some((name) => name !== "GET" && name !== "HEAD");
		const maxBodyBytes = readsBody
			? (bodyLimit ?? app.initialConfig.bodyLimit ?? 0)
			: 0;
		const allowed =
			admits === "form of another website" ? MAX_FORM_BODY : MAX_STRANGERS_BODY;
		if (admits !== "session" && maxBodyBytes > allowed) {
			throw new Error(
				`the route ${methods} ${url} must not read ${maxBodyBytes} bytes before it knows who sends them; the maximum is ${allowed}`,
			);
		}
		routes.push({ methods, path: url, admits, maxBodyBytes });
	});

	app.addHook("onRequest", async (request, reply) => {
		// A request to an unknown address is admitted as a visitor. It has no body to read.
		const { admits = "visitor" } = request.routeOptions.config;
		if (admits === "anyone") return;
		if (admits === "form of another website") {
			requireOwnHost(request.raw, baseUrl);
			return;
		}
		const isProgram = admits === "program";
		requireSameOrigin(request.raw, baseUrl, isProgram ? allowedOrigins : []);
		if (request.is404) throw nothingHere();
		if (isProgram || admits === "visitor") return;
		requireOwnPage(request.raw, baseUrl);
		if (admits !== "session") return;
		request.caller = await authenticate(request, reply);
		request.findCallerAgain = () => authenticate(request);
	});

	return routes;
}

/** Returns the user whose session sent the request. The route must admit sessions. */
export function callerOf(request: FastifyRequest): Principal {
	if (!request.caller) throw noCaller();
	return request.caller;
}

/** Returns the function that finds the same user again. The route must admit sessions. */
export function findCallerAgain(request: FastifyRequest): FindCaller {
	if (!request.findCallerAgain) throw noCaller();
	return request.findCallerAgain;
}

function noCaller(): Error {
	return new Error(
		"the request has no caller, because its route does not admit sessions",
	);
}

export function nothingHere(): AppError {
	return new AppError(
		"not_found",
		"there is nothing at this address; check its path",
	);
}

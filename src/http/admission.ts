import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import type { Principal } from "../principal.ts";
import { requireOwnPage, requireSameOrigin } from "./same-origin.ts";

/**
 * The requests that a route admits. It is checked on the headers, before a byte of the body is
 * read:
 *
 * - `anyone`: everybody, without a look at Host and Origin (health checks).
 * - `visitor`: requests to a name of this service that no foreign web page sent.
 * - `page`: requests of the service's own pages. If they have a credential it is in the body.
 * - `session`: the same, and the cookie of a user who is signed in.
 */
export type Admits = "anyone" | "visitor" | "page" | "session";

declare module "fastify" {
	interface FastifyContextConfig {
		admits?: Admits;
	}
	interface FastifyRequest {
		caller?: Principal;
	}
}

/** The largest body of a route that reads it before it knows who sent it. */
export const MAX_STRANGERS_BODY = 16 * 1024;

/** A route of the web server, for tests and benchmarks that walk all of them. */
export interface RouteSummary {
	methods: readonly string[];
	path: string;
	admits: Admits;
	maxBodyBytes: number;
}

export interface AdmissionParts {
	baseUrl: string;
	/** Returns the user of a request's session. Throws an AppError if nobody is signed in. */
	authenticate: (
		request: FastifyRequest,
		reply: FastifyReply,
	) => Promise<Principal>;
}

/**
 * Lets no request of `app` reach its body before the route's `config.admits` is satisfied. A route
 * that declares nothing, or that reads more than 16 KiB from a stranger, stops the start of the
 * service. Returns the routes, which are complete once all have been added.
 */
export function addAdmission(
	app: FastifyInstance,
	{ baseUrl, authenticate }: AdmissionParts,
): readonly RouteSummary[] {
	const routes: RouteSummary[] = [];

	app.addHook("onRoute", ({ method, url, config, bodyLimit }) => {
		const methods = [method].flat();
		const admits = config?.admits;
		if (!admits) {
			throw new Error(
				`the route ${methods} ${url} does not say whom it admits`,
			);
		}
		const readsBody = methods.some((name) => name !== "GET" && name !== "HEAD");
		const maxBodyBytes = readsBody
			? (bodyLimit ?? app.initialConfig.bodyLimit ?? 0)
			: 0;
		if (admits !== "session" && maxBodyBytes > MAX_STRANGERS_BODY) {
			throw new Error(
				`the route ${methods} ${url} reads ${maxBodyBytes} bytes before it knows who sends them`,
			);
		}
		routes.push({ methods, path: url, admits, maxBodyBytes });
	});

	app.addHook("onRequest", async (request, reply) => {
		// An unknown address admits visitors and has no body to read.
		const { admits = "visitor" } = request.routeOptions.config;
		if (admits === "anyone") return;
		requireSameOrigin(request.raw, baseUrl);
		if (request.is404) throw nothingHere();
		if (admits === "visitor") return;
		requireOwnPage(request.raw, baseUrl);
		if (admits !== "session") return;
		request.caller = await authenticate(request, reply);
	});

	return routes;
}

/** Returns the user whose session sent the request, on a route that admits sessions. */
export function callerOf(request: FastifyRequest): Principal {
	if (!request.caller) throw new Error("the route does not admit sessions");
	return request.caller;
}

export function nothingHere(): AppError {
	return new AppError("not_found", "there is nothing at this address");
}

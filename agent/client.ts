import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { Platform } from "../src/devices/terms.ts";
import { VERSION } from "../src/version.ts";
import { AgentError } from "./agent-error.ts";
import { errorCode, parseObject } from "./files.ts";
import { bounded, openFile } from "./open-file.ts";
import { namesProxies, sourceOfProxies } from "./proxies.ts";
import {
	CERTIFICATE_ERROR,
	describeError,
	proxyFor,
	Stopped,
} from "./request-errors.ts";
import { isLoopback } from "./server-url.ts";
import type { SystemProxy } from "./system-proxy.ts";

export type Route = "enroll" | "heartbeat" | "postures" | "unenroll";

/**
 * The outcome of a request. An answer counts as `ok`, `refused` or `unauthorized` only if it comes
 * from the service itself. A captive portal or a proxy also sends such statuses. These must not
 * make the agent empty its queue or give up its device key.
 */
export type Outcome =
	| { kind: "ok"; body: Record<string, unknown> }
	/** 400 in Assay's shape. The agent must not send the same request again unchanged. */
	| { kind: "refused"; message: string }
	/** 401 in Assay's shape. The credential is not valid. */
	| { kind: "unauthorized" }
	/** Any other outcome. The same request may succeed later. */
	| {
			kind: "trouble";
			reason: string;
			retryAfterSeconds?: number;
			/** True if there was no connection, so the service cannot have received the request. */
			isUnsent?: true;
			/** The status, if it is a 400 or 401 in another shape than Assay's. */
			foreignStatus?: 400 | 401;
	  };

export interface Client {
	/**
	 * Sends a request. The returned promise never rejects. If `signal` aborts, the outcome is
	 * `trouble`.
	 */
	send(
		route: Route,
		message: {
			key?: string;
			body?: object;
			signal?: AbortSignal | undefined;
			/** Milliseconds until the request times out; 30,000 by default. */
			timeoutMs?: number;
		},
	): Promise<Outcome>;
	/**
	 * Opens a file of the service. Rejects with an AgentError if the answer is not 200 or does not
	 * come. The stream fails if more than `maxBytes` arrive or nothing
	 * arrives for a minute.
	 */
	open(
		path: string,
		maxBytes: number,
		signal: AbortSignal,
	): Promise<AsyncIterable<Buffer>>;
	/** Closes unused connections, so that idle agents do not occupy connections of the service. */
	rest(): void;
}

export interface ClientOptions {
	serverUrl: string;
	platform: Platform;
	/** Certificate authorities that are trusted in addition to the known ones, in PEM format. */
	extraCa?: string | undefined;
	/** The environment, which may name proxies in HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
	environment?: NodeJS.ProcessEnv;
	connectTimeoutMs?: number;
	/**
	 * Asks the system for its proxy. It is called before the first request and again after a request
	 * that made no connection, unless the environment names a proxy.
	 */
	findProxy?: (service: URL) => Promise<SystemProxy>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Least milliseconds between two questions for the system's proxy. */
const PROXY_LASTS_MS = 5 * 60_000;
const ANSWER_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const SUCCESS: Record<Route, number> = {
	enroll: 200,
	heartbeat: 200,
	postures: 204,
	unenroll: 204,
};

export async function makeClient(options: ClientOptions): Promise<Client> {
	const base = new URL(options.serverUrl);
	const environment = options.environment ?? process.env;
	// A proxy would look for localhost on its own machine, so the agent never uses one for localhost.
	const isHere = isLoopback(base.hostname);
	let proxy: { proxyEnv?: NodeJS.ProcessEnv } = isHere
		? {}
		: { proxyEnv: environment };
	let usedProxy = isHere ? undefined : proxyFor(base, environment);
	let system: SystemProxy = {};
	const findProxy =
		isHere || namesProxies(environment) ? undefined : options.findProxy;
	let askedAtMs: number | undefined;
	const describe = (error: unknown) =>
		describeError(error, base, usedProxy, system, sourceOfProxies(environment));
	let trusts: Trust = "first";
	const connect = async () =>
		base.protocol === "https:"
			? await makeSecure(proxy, options.extraCa, trusts)
			: {
					request: httpRequest,
					agent: new HttpAgent({ keepAlive: true, maxSockets: 1, ...proxy }),
				};
	let { request, agent } = await connect();
	/** Asks for the system's proxy. Returns true if it is another one than before. */
	const askForProxy = async (): Promise<boolean> => {
		if (!findProxy) return false;
		const nowMs = performance.now();
		if (askedAtMs !== undefined && nowMs - askedAtMs < PROXY_LASTS_MS) {
			return false;
		}
		askedAtMs = nowMs;
		system = await findProxy(base);
		if (system.proxy?.href === usedProxy?.href) return false;
		usedProxy = system.proxy;
		proxy = usedProxy
			? {
					proxyEnv: { HTTPS_PROXY: usedProxy.href, HTTP_PROXY: usedProxy.href },
				}
			: {};
		agent.destroy();
		({ request, agent } = await connect());
		return true;
	};
	const userAgent = `assay-agent/${VERSION} (${options.platform})`;
	const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;

	type Message = Parameters<Client["send"]>[1];
	const attempt = (route: Route, message: Message): Promise<Attempt> =>
		new Promise((resolve) => {
			const body =
				message.body === undefined ? "" : JSON.stringify(message.body);
			const timeoutMs = message.timeoutMs ?? ANSWER_TIMEOUT_MS;
			const sent: ClientRequest = request(
				new URL(`/api/agent/v1/${route}`, base),
				{
					method: "POST",
					agent,
					signal: message.signal,
					headers: {
						accept: "application/json",
						"content-type": "application/json",
						"content-length": Buffer.byteLength(body),
						"user-agent": userAgent,
						...(message.key ? { authorization: `Bearer ${message.key}` } : {}),
					},
				},
			);
			let wasOpen = false;
			const stop = (reason: string) => sent.destroy(new Stopped(reason));
			const connecting = setTimeout(
				() => stop("no connection within 10 seconds"),
				Math.min(connectTimeoutMs, timeoutMs),
			);
			const answering = setTimeout(
				() => stop(`no answer within ${Math.round(timeoutMs / 1000)} seconds`),
				timeoutMs,
			);
			const settle = (result: Attempt) => {
				clearTimeout(connecting);
				clearTimeout(answering);
				resolve(result);
			};
			sent.on("socket", (socket) => {
				const isOpen = () => {
					wasOpen = true;
					clearTimeout(connecting);
				};
				if (sent.reusedSocket) isOpen();
				else {
					socket.once(
						base.protocol === "https:" ? "secureConnect" : "connect",
						isOpen,
					);
					// Behind a proxy, the socket is already open when it arrives here.
					if (!socket.connecting && base.protocol === "http:") isOpen();
				}
			});
			sent.on("response", (response) => {
				clearTimeout(connecting);
				void readBounded(response).then(
					(text) => settle({ outcome: judge(route, response, text) }),
					(error) => settle({ outcome: trouble(describe(error)) }),
				);
			});
			sent.on("error", (error) =>
				settle({
					outcome: {
						kind: "trouble",
						reason: describe(error),
						...(wasOpen ? {} : { isUnsent: true }),
					},
					// The service may close an idle connection at the moment in which the agent uses it
					// again.
					isUnsent: !wasOpen,
					mayRepeat: sent.reusedSocket && !(error instanceof Stopped),
					isUntrusted: CERTIFICATE_ERROR.test(errorCode(error) ?? ""),
				}),
			);
			sent.end(body);
		});

	return {
		async send(route, message) {
			if (askedAtMs === undefined) await askForProxy();
			const first = await attempt(route, message);
			if (message.signal?.aborted) return first.outcome;
			if (first.isUntrusted && trusts === "first") {
				trusts = "all";
				agent.destroy();
				({ request, agent } = await connect());
			} else if (
				!first.mayRepeat &&
				!(first.isUnsent && (await askForProxy()))
			) {
				return first.outcome;
			}
			return (await attempt(route, message)).outcome;
		},
		async open(path, maxBytes, signal) {
			if (askedAtMs === undefined) await askForProxy();
			const url = new URL(path, base);
			const headers = { "user-agent": userAgent };
			const get = () => openFile(request, url, { agent, signal, headers });
			try {
				return bounded(await get(), maxBytes);
			} catch (error) {
				const isUntrusted = CERTIFICATE_ERROR.test(errorCode(error) ?? "");
				if (!isUntrusted || trusts !== "first") {
					throw error instanceof AgentError
						? error
						: new AgentError(describe(error));
				}
				trusts = "all";
				agent.destroy();
				({ request, agent } = await connect());
				return bounded(await get(), maxBytes);
			}
		},
		rest: () => agent.destroy(),
	};
}

interface Attempt {
	outcome: Outcome;
	/** True if there was no connection, perhaps because the device is now in another network. */
	isUnsent?: boolean;
	mayRepeat?: boolean;
	isUntrusted?: boolean;
}

/**
 * Selects which certificate authorities are trusted: with `first` the given one, or else Node's,
 * and with `all` the system's too. The system's authorities are read only if the first ones do not
 * suffice, because they permanently occupy megabytes of memory.
 */
type Trust = "first" | "all";

/** Returns a request function and a connection pool for HTTPS. They always verify certificates. */
async function makeSecure(
	proxy: { proxyEnv?: NodeJS.ProcessEnv },
	extraCa: string | undefined,
	trusts: Trust,
) {
	const https = await import("node:https");
	const tls = await import("node:tls");
	const known = [
		...(extraCa ? [extraCa] : []),
		...(trusts === "all" ? tls.getCACertificates("default") : []),
		...(trusts === "all" ? tls.getCACertificates("system") : []),
	];
	const agent = new https.Agent({
		keepAlive: true,
		maxSockets: 1,
		// The context is made once. If each connection made its own, it would read all certificates
		// again.
		secureContext: tls.createSecureContext(
			known.length > 0 ? { ca: [...new Set(known)] } : {},
		),
		// This setting takes precedence over NODE_TLS_REJECT_UNAUTHORIZED in the environment.
		rejectUnauthorized: true,
		...proxy,
	});
	return { request: https.request, agent };
}

const trouble = (reason: string, retryAfterSeconds?: number) => ({
	kind: "trouble" as const,
	reason,
	...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

async function readBounded(response: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	let bytes = 0;
	for await (const chunk of response) {
		bytes += chunk.length;
		if (bytes > MAX_ANSWER_BYTES) {
			throw new Stopped(
				"the answer is longer than an Assay service sends; check the service's address",
			);
		}
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString("utf8");
}

function judge(route: Route, response: IncomingMessage, text: string): Outcome {
	const status = response.statusCode ?? 0;
	const body = parseObject(text);
	const message = typeof body?.message === "string" ? body.message : "";
	if (status === SUCCESS[route]) {
		if (status === 204) return { kind: "ok", body: {} };
		if (body) return { kind: "ok", body };
	}
	if (status === 400 && body?.error === "bad_request") {
		return { kind: "refused", message };
	}
	if (status === 401 && body?.error === "unauthorized") {
		return { kind: "unauthorized" };
	}
	const retryAfterSeconds = readRetryAfter(
		response.headers["retry-after"],
		Date.now(),
	);
	if (status >= 500) {
		return trouble(
			`the service answered ${status}${message ? `: ${message}` : ""}`,
			retryAfterSeconds,
		);
	}
	if (status >= 300 && status < 400) {
		return trouble(
			`the service answered with a redirect (${status}), which the agent does not follow; check the service's address, and whether the network has a sign-in page`,
			retryAfterSeconds,
		);
	}
	const foreign = trouble(
		`the answer (${status}) is not from an Assay service; check the service's address, and whether a proxy or a sign-in page of the network answers instead`,
		retryAfterSeconds,
	);
	return status === 400 || status === 401
		? { ...foreign, foreignStatus: status }
		: foreign;
}

/** Returns the seconds until the time in a Retry-After header, which holds seconds or a date. */
export function readRetryAfter(
	header: string | undefined,
	nowMs: number,
): number | undefined {
	if (header === undefined) return undefined;
	if (/^\d{1,10}$/.test(header.trim())) return Number(header);
	const dateMs = Date.parse(header);
	if (Number.isNaN(dateMs)) return undefined;
	return Math.max(0, Math.ceil((dateMs - nowMs) / 1000));
}

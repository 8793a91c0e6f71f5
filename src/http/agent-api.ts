import type { IncomingMessage, ServerResponse } from "node:http";
import type { Pool } from "pg";
import { agentNameOf, isOwnAgent } from "../devices/agent-name.ts";
import {
	DeviceStatuses,
	InvalidDeviceKey,
	type KeyHash,
	pendingDevice,
	readDeviceKey,
	unknownDeviceKey,
} from "../devices/authentication.ts";
import { enroll, makeEnrolling, unenroll } from "../devices/enrollment.ts";
import { Heartbeats } from "../devices/heartbeat.ts";
import { PolicyCache } from "../devices/policy-cache.ts";
import { Postures } from "../devices/postures.ts";
import { formatServerTime } from "../devices/rfc3339.ts";
import type { HeartbeatResponse, Platform } from "../devices/terms.ts";
import { UnknownKeys } from "../devices/unknown-keys.ts";
import {
	enrollRequest,
	heartbeatRequest,
	posturesRequest,
} from "../devices/wire.ts";
import {
	AppError,
	overloaded,
	RETRY_AFTER_SECONDS,
	toAppError,
} from "../errors.ts";
import {
	type BodyRoom,
	DEVICES_BODIES,
	STRANGERS_BODIES,
	WELL_FORMED_KEYS_BODIES,
} from "../load/body-budget.ts";
import type { Maintenance } from "../load/maintenance.ts";
import type { OutageLog } from "../load/outage-log.ts";
import { answerOverloaded, isEventLoopBehind } from "../load/overload.ts";
import type { Queue } from "../load/queue.ts";
import { networkOf } from "../load/sign-in-queue.ts";
import type { ClosedOrganizations } from "../organizations/closed-organizations.ts";
import { hashSecret } from "../tokens/secret.ts";
import { type BodyRules, claimsOf, parse, readJson } from "./agent-body.ts";
import { type RouteName, routeName } from "./agent-paths.ts";
import { endEarly, hasBody } from "./body.ts";
import type { AddressOf } from "./client-address.ts";
import { ReportReducer } from "./report-reducer.ts";
import { requestIdOf } from "./request-id.ts";
import { securityHeaders } from "./security-headers.ts";

const SMALL_BODY = 16 * 1024;
const POSTURES_BODY = 1024 * 1024;

/** The JSON object of a 200, or undefined for a 204. */
type Answer = object | undefined;

interface Route extends BodyRules {
	/**
	 * True if a device may call this route before its first heartbeat. Otherwise such a device gets
	 * 401.
	 */
	pendingMay: boolean;
	/**
	 * The queue of this route's requests. While the queue is full, requests get a 503 before their
	 * bodies are read.
	 */
	queue: Queue;
	/** Handles a request with a device key. Absent on the route whose credential is in the body. */
	withKey?: (
		key: KeyHash,
		body: unknown,
		request: IncomingMessage,
		bytes: number,
	) => Promise<Answer>;
	withoutKey?: (body: unknown, request: IncomingMessage) => Promise<Answer>;
}

export interface AgentApi {
	/**
	 * Answers the request if its path is one of the four agent paths. Returns false for every other
	 * path.
	 */
	handle(request: IncomingMessage, response: ServerResponse): boolean;
	/** Makes each later response close its connection. */
	drain(): void;
	/** Resolves when all data that the service has accepted is stored. */
	idle(): Promise<void>;
	/** The queues in front of the database, by name. */
	queues: Record<string, Queue>;
}

/**
 * Makes the Device Agent API: POST /api/agent/v1/{enroll,heartbeat,postures,unenroll}.
 *
 * These routes use `node:http` and not the framework that serves the rest. The contract prescribes
 * the order of the checks (method, credential, body) and forbids the statuses 413 and 415. Both are
 * the opposite of a framework's defaults. These routes also get the most requests. A wrong
 * credential gets 401 whatever the body is. An error of the service never gets 401, because an
 * agent destroys its key after a 401.
 */
export function makeAgentApi(
	pool: Pool,
	outageLog: OutageLog,
	baseUrl: string,
	addressOf: AddressOf,
	maintenance: Pick<Maintenance, "refusal">,
	closed: Pick<ClosedOrganizations, "isEmpty" | "messageOf">,
	newestAgentVersion: (platform: Platform) => string | undefined = () =>
		undefined,
): AgentApi {
	const common = {
		...securityHeaders(baseUrl),
		"cache-control": "no-store",
	};
	const statuses = new DeviceStatuses(pool);
	const unknownKeys = new UnknownKeys(pool);
	const heartbeats = new Heartbeats(pool, statuses);
	const policies = new PolicyCache(pool);
	const postures = new Postures(pool);
	const enrolling = makeEnrolling(pool, statuses);
	const deviceChanges = enrolling.queue;
	const reducer = new ReportReducer();
	let isDraining = false;

	const small = { maxBytes: SMALL_BODY, pendingMay: true };
	const routes = new Map<RouteName, Route>([
		[
			"enroll",
			{
				...small,
				emptyBodyIsFine: false,
				queue: deviceChanges.queue,
				withoutKey: async (body, request) => {
					const { token, owner_email } = parse(enrollRequest, body);
					if (!closed.isEmpty) await requireOpen(hashSecret(token));
					const from = { address: addressOf(request), ownerEmail: owner_email };
					return { api_key: await enroll(enrolling, token, from) };
				},
			},
		],
		[
			"heartbeat",
			{
				...small,
				emptyBodyIsFine: false,
				queue: heartbeats.queue,
				withKey: async (key, body, request): Promise<HeartbeatResponse> => {
					const facts = parse(heartbeatRequest, body);
					const agentName = agentNameOf(
						request.headers["user-agent"],
						facts.agent_version,
					);
					const found = await heartbeats.record({
						keyHash: key,
						facts,
						agentName,
						address: addressOf(request),
					});
					const { deviceId, groupPolicyId } = found;
					const known = policies.thresholdsOf(deviceId, groupPolicyId);
					// JSON leaves out what is undefined.
					return {
						device_id: deviceId,
						heartbeat_interval_seconds: found.heartbeatIntervalSeconds,
						posture_interval_seconds: found.postureIntervalSeconds,
						server_time: formatServerTime(Math.floor(Date.now() / 1000)),
						policy: known instanceof Promise ? await known : known,
						newest_agent_version: isOwnAgent(agentName)
							? newestAgentVersion(facts.platform)
							: undefined,
					};
				},
			},
		],
		[
			"postures",
			{
				maxBytes: POSTURES_BODY,
				pendingMay: false,
				emptyBodyIsFine: false,
				queue: postures.queue,
				withKey: async (key, body, _, bytes) => {
					const { results } = parse(posturesRequest, body);
					if (results.length > 0) await postures.record(key, results, bytes);
					else await requireActive(key);
					return undefined;
				},
			},
		],
		[
			"unenroll",
			{
				...small,
				emptyBodyIsFine: true,
				queue: deviceChanges.queue,
				withKey: async (key, _, request) => {
					await unenroll(enrolling, key, addressOf(request));
					return undefined;
				},
			},
		],
	]);

	async function answer(
		name: RouteName,
		route: Route,
		request: IncomingMessage,
		response: ServerResponse,
	): Promise<void> {
		const headers: Record<string, string> = {
			"x-request-id": requestIdOf(request),
			...common,
		};
		try {
			if (request.method !== "POST") {
				headers.allow = "POST";
				return end(request, response, 405, headers, "");
			}
			const result = await run(route, request);
			if (result === "aborted") return;
			if (result === undefined) return end(request, response, 204, headers, "");
			headers["content-type"] = "application/json; charset=utf-8";
			end(request, response, 200, headers, JSON.stringify(result));
		} catch (thrown) {
			const error = toAppError(thrown);
			outageLog.note(
				thrown,
				{ requestId: headers["x-request-id"], route: name },
				"a device's request failed",
			);
			if (error.code === "service_unavailable") {
				headers["retry-after"] = String(RETRY_AFTER_SECONDS);
			}
			headers["content-type"] = "application/json; charset=utf-8";
			const body = { error: error.code, message: error.message };
			end(request, response, error.status, headers, JSON.stringify(body));
		}
	}

	function end(
		request: IncomingMessage,
		response: ServerResponse,
		status: number,
		headers: Record<string, string>,
		body: string,
	): void {
		if (!request.readableEnded && hasBody(request)) {
			endEarly(request, response, status, headers, body);
			return;
		}
		// The flag is checked here and not at the beginning of the request, because shutting down may
		// have begun meanwhile.
		if (isDraining) headers.connection = "close";
		// The body of a 200 contains only ids, secrets and numbers. They are all ASCII, and Node sends
		// latin1 without converting it.
		const encoding = status === 200 ? "latin1" : "utf8";
		if (status !== 204) {
			headers["content-length"] = String(Buffer.byteLength(body, encoding));
		}
		response.writeHead(status, headers);
		response.end(body, encoding);
	}

	async function run(
		route: Route,
		request: IncomingMessage,
	): Promise<Answer | "aborted"> {
		if (!route.withKey) {
			const network = networkOf(addressOf(request) ?? "");
			const read = await readJson(route, request, {
				room: STRANGERS_BODIES.of(network),
			});
			return read === "aborted" ? read : route.withoutKey?.(read.body, request);
		}
		const key = readDeviceKey(request.headers.authorization);
		if (!key) throw unknownDeviceKey();
		if (!closed.isEmpty) await requireOpen(key);
		const { "content-length": length } = request.headers;
		const bytes = Math.min(Number(length ?? route.maxBytes), route.maxBytes);
		let room: BodyRoom = WELL_FORMED_KEYS_BODIES;
		let body: unknown;
		try {
			if (!room.take(bytes)) room = await takeRoomOfDevice(key, bytes);
			let read: Awaited<ReturnType<typeof readJson>>;
			try {
				read = await readJson(route, request, {
					// An unknown key gets its 401 before another thread works for it.
					reduce: async (text) => {
						await requireActive(key);
						return reducer.reduce(key, text);
					},
				});
			} finally {
				room.give(bytes);
			}
			if (read === "aborted") return read;
			body = read.body;
			return await route.withKey(key, read.body, request, read.bytes);
		} catch (thrown) {
			const error = await rejectKeyFirst(route, key, thrown);
			if (!(error instanceof InvalidDeviceKey)) throw error;
			throw await unknownKeys.judge(key, () => ({
				...claimsOf(body),
				address: addressOf(request),
			}));
		}
	}

	/**
	 * Takes memory for the body of a device whose key is valid. Strangers with invented keys, which
	 * are well-formed too, hold all the memory for bodies whose key nobody has looked up.
	 */
	async function takeRoomOfDevice(
		key: KeyHash,
		bytes: number,
	): Promise<BodyRoom> {
		if (!(await statuses.find(key))) throw unknownDeviceKey();
		const room = DEVICES_BODIES.of(key);
		if (!room.take(bytes)) throw overloaded();
		return room;
	}

	/**
	 * Returns the error to report. If both the body and the credential are wrong, returns the error
	 * about the credential.
	 */
	async function rejectKeyFirst(
		route: Route,
		key: KeyHash,
		error: unknown,
	): Promise<unknown> {
		if (!(error instanceof AppError) || error.code !== "bad_request") {
			return error;
		}
		try {
			if (!route.pendingMay) await requireActive(key);
			else if (!(await statuses.find(key))) return unknownDeviceKey();
			return error;
		} catch (aboutKey) {
			return aboutKey;
		}
	}

	/**
	 * Throws service_unavailable if the secret is of a closed organization. A device then keeps its
	 * key and retries. The look-up costs a query, which is sent only while an organization is closed.
	 */
	async function requireOpen(secret: KeyHash): Promise<void> {
		const holder = await statuses.find(secret);
		const message = holder && closed.messageOf(holder.organizationId);
		if (message) throw new AppError("service_unavailable", message);
	}

	async function requireActive(key: KeyHash): Promise<void> {
		const status = (await statuses.find(key))?.status;
		if (status === "PENDING") throw pendingDevice();
		if (status !== "ACTIVE") throw unknownDeviceKey();
	}

	return {
		queues: {
			...heartbeats.queues,
			postures: postures.queue,
			statuses: statuses.queue,
			unknown_keys: unknownKeys.queue,
			rare: deviceChanges.queue,
		},
		handle(request, response) {
			const name = routeName(request.url ?? "");
			const route = name && routes.get(name);
			if (!route) return false;
			const isBehind = isEventLoopBehind();
			const isFull = !isBehind && route.queue.isFull();
			const { refusal } = maintenance;
			if ((isBehind || isFull || refusal) && request.method === "POST") {
				const why = isFull ? route.queue.whyFull().message : refusal;
				answerOverloaded(request, response, common, isDraining, why);
			} else void answer(name, route, request, response);
			return true;
		},
		drain() {
			isDraining = true;
		},
		async idle() {
			await heartbeats.idle();
			await policies.idle();
			await postures.idle();
			await statuses.idle();
			await unknownKeys.idle();
			await deviceChanges.idle();
		},
	};
}

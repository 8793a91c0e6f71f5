import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { nextDelayMs } from "../../agent/backoff.ts";
import { makeId } from "../../src/id.ts";
import { type Fleet, factsOf, organizationOf } from "../fleet.ts";

/**
 * The factor by which the agents' back-off is shortened. At its real speed, even an hour would show
 * nothing.
 */
export const BACKOFF_SPEED = 300;
/** Milliseconds after which a request times out, as in the agent. */
const ANSWER_TIMEOUT_MS = 30_000;
/**
 * Milliseconds after which the probe gives up a request. They are fewer, so that it soon asks again
 * on another connection.
 */
const PROBE_TIMEOUT_MS = 2_000;
const PROBE_MS = 100;
const PROBES = 40;
const CHECKS = ["DISK_ENCRYPTION", "FIREWALL_ENABLED", "SCREEN_LOCK"];

/** The number of writers of each kind, and the milliseconds between two writes of one. */
const HEARTBEATS = { writers: 120, everyMs: 800 };
const POSTURES = { writers: 80, everyMs: 1_000 };
const TASKS = { writers: 16, everyMs: 500 };
/** The number of devices that the writers need. */
export const DEVICES = HEARTBEATS.writers + POSTURES.writers + PROBES;

export interface Tenant {
	organizationId: string;
	/** The API token of a member. */
	token: string;
}

/** The writes that the service has acknowledged, and those whose outcome is unknown. */
export interface Ledger {
	/**
	 * The number in the host name of the last heartbeat that was answered with 200, by the index of
	 * the device.
	 */
	heartbeats: Map<number, number>;
	/** The number of results in each report that was answered with 204, by the report's id. */
	reports: Map<string, number>;
	/** The names of the tasks whose addTask was answered with 200. */
	tasks: Set<string>;
	/** The names of the tasks for which no answer says whether they are stored. */
	unknownTasks: Set<string>;
	/** The number of answers with each status. "none" stands for a request without an answer. */
	statuses: Record<string, number>;
	/** The first answer that is neither a success nor a 503. */
	surprise: string | undefined;
	/** The time of each acknowledged write, from performance.now(). */
	acknowledgedAt: number[];
	/**
	 * The time of each success of the probe, which sends requests all the time, from
	 * performance.now().
	 */
	probedAt: number[];
}

function emptyLedger(): Ledger {
	return {
		heartbeats: new Map(),
		reports: new Map(),
		tasks: new Set(),
		unknownTasks: new Set(),
		statuses: {},
		surprise: undefined,
		acknowledgedAt: [],
		probedAt: [],
	};
}

interface Answer {
	status: number;
	retryAfterSeconds: number | undefined;
	/** True if the request cannot have reached a service. */
	isUnsent: boolean;
	text: string;
}

/**
 * Devices and clients that write at a fixed pace and behave as real ones do. An agent backs off and
 * sends a report again with the same id until the report is acknowledged. A client repeats addTask
 * only if the task cannot have been stored. The ledger records every acknowledged write.
 */
export class Writers {
	ledger = emptyLedger();
	/** Returns the milliseconds by which the devices' clocks are wrong. */
	clockErrorMs = () => 0;
	#port: number;
	readonly #fleet: Fleet;
	readonly #tenants: Tenant[];
	readonly #agent = new Agent({ keepAlive: true });
	#isStopping = false;
	#work: Promise<void>[] = [];
	#count = 0;

	constructor(port: number, fleet: Fleet, tenants: Tenant[]) {
		this.#port = port;
		this.#fleet = fleet;
		this.#tenants = tenants;
	}

	/** Starts to write, with an empty ledger. */
	start(port: number): void {
		this.#port = port;
		this.ledger = emptyLedger();
		this.#isStopping = false;
		const loop = async (everyMs: number, write: () => Promise<void>) => {
			await sleep(Math.random() * everyMs);
			while (!this.#isStopping) {
				const began = performance.now();
				await write();
				await this.#rest(everyMs - (performance.now() - began));
			}
		};
		for (let i = 0; i < HEARTBEATS.writers; i++) {
			this.#work.push(loop(HEARTBEATS.everyMs, () => this.#beat(i)));
		}
		for (let i = 0; i < POSTURES.writers; i++) {
			const device = HEARTBEATS.writers + i;
			this.#work.push(loop(POSTURES.everyMs, () => this.#report(device)));
		}
		for (let i = 0; i < TASKS.writers; i++) {
			const tenant = this.#tenants[i % this.#tenants.length] as Tenant;
			this.#work.push(loop(TASKS.everyMs, () => this.#addTask(tenant)));
		}
		this.#work.push(this.#probe());
	}

	/** Stops writing. Resolves when every request has an answer or has timed out. */
	async stop(): Promise<Ledger> {
		this.#isStopping = true;
		await Promise.all(this.#work.splice(0));
		this.#agent.destroy();
		return this.ledger;
	}

	async #rest(ms: number): Promise<void> {
		// The wait is divided into short ones, so that a stop does not have to wait for a long
		// back-off.
		const until = performance.now() + ms;
		while (!this.#isStopping && performance.now() < until) {
			await sleep(Math.min(200, Math.max(1, until - performance.now())));
		}
	}

	/** Repeats `attempt` with the agent's back-off until it succeeds or all writers are stopped. */
	async #insist(attempt: () => Promise<Answer>, success: number) {
		for (let failures = 1; !this.#isStopping; failures++) {
			const answer = await attempt();
			if (answer.status === success) return true;
			const { retryAfterSeconds } = answer;
			const random = Math.random();
			const ms = nextDelayMs({ attempt: failures, retryAfterSeconds, random });
			await this.#rest(ms / BACKOFF_SPEED);
		}
		return false;
	}

	async #beat(device: number): Promise<void> {
		const number = ++this.#count;
		const body = { ...factsOf(device), hostname: `host-${number}` };
		const isStored = await this.#insist(
			() => this.#post("/api/agent/v1/heartbeat", this.#key(device), body),
			200,
		);
		if (!isStored) return;
		this.ledger.heartbeats.set(device, number);
		this.ledger.acknowledgedAt.push(performance.now());
	}

	async #report(device: number): Promise<void> {
		const organization = organizationOf(this.#fleet, device);
		const correlation_id = makeId(organization, "device_posture_report");
		const at = new Date(Date.now() + this.clockErrorMs()).toISOString();
		const results = CHECKS.map((check_key) => ({
			check_key,
			status: Math.random() < 0.1 ? "FAIL" : "PASS",
			observed_at: at,
			evidence: { method: "bench", detail: "x".repeat(80) },
			correlation_id,
		}));
		const key = this.#key(device);
		const isStored = await this.#insist(
			() => this.#post("/api/agent/v1/postures", key, { results }),
			204,
		);
		if (!isStored) return;
		this.ledger.reports.set(correlation_id, results.length);
		this.ledger.acknowledgedAt.push(performance.now());
	}

	async #addTask({ organizationId, token }: Tenant): Promise<void> {
		const name = `task ${++this.#count} ${crypto.randomUUID()}`;
		for (let failures = 1; !this.#isStopping; failures++) {
			const input = { organization_id: organizationId, name };
			const answer = await this.#post("/api/mcp/tools/addTask", token, input);
			if (answer.status === 200) {
				this.ledger.tasks.add(name);
				this.ledger.acknowledgedAt.push(performance.now());
				return;
			}
			const random = Math.random();
			const { retryAfterSeconds } = answer;
			const ms = nextDelayMs({ attempt: failures, retryAfterSeconds, random });
			await this.#rest(ms / BACKOFF_SPEED);
			if (!answer.isUnsent) {
				// The task may be stored. A client would have to look before it sends the task again.
				this.ledger.unknownTasks.add(name);
				return;
			}
		}
	}

	/**
	 * Sends requests all the time without waiting for answers, to notice at once when the service
	 * returns.
	 */
	async #probe(): Promise<void> {
		const asking: Promise<void>[] = [];
		const first = HEARTBEATS.writers + POSTURES.writers;
		for (let i = 0; !this.#isStopping; i++) {
			const device = first + (i % PROBES);
			const ask = async () => {
				const path = "/api/agent/v1/heartbeat";
				const body = factsOf(device);
				const key = this.#key(device);
				const answer = await this.#post(path, key, body, PROBE_TIMEOUT_MS);
				if (answer.status === 200) this.ledger.probedAt.push(performance.now());
			};
			asking.push(ask());
			await sleep(PROBE_MS);
		}
		await Promise.all(asking);
	}

	#key(device: number): string {
		return this.#fleet.keys[device] as string;
	}

	async #post(
		path: string,
		bearer: string,
		body: object,
		timeoutMs = ANSWER_TIMEOUT_MS,
	): Promise<Answer> {
		const answer = await post(
			this.#port,
			this.#agent,
			path,
			bearer,
			body,
			timeoutMs,
		);
		const { statuses } = this.ledger;
		const name = answer.status === 0 ? "none" : String(answer.status);
		statuses[name] = (statuses[name] ?? 0) + 1;
		if (![0, 200, 204, 503].includes(answer.status)) {
			this.ledger.surprise ??= `${path}: ${answer.status} ${answer.text.slice(0, 300)}`;
		}
		return answer;
	}
}

function post(
	port: number,
	agent: Agent,
	path: string,
	bearer: string,
	body: object,
	timeoutMs: number,
): Promise<Answer> {
	return new Promise((resolve) => {
		const text = JSON.stringify(body);
		const outgoing = request({
			host: "127.0.0.1",
			port,
			path,
			method: "POST",
			agent,
			signal: AbortSignal.timeout(timeoutMs),
			headers: {
				authorization: `Bearer ${bearer}`,
				"content-type": "application/json",
				"content-length": Buffer.byteLength(text),
			},
		});
		outgoing.on("error", (error: NodeJS.ErrnoException) => {
			const isUnsent = error.code === "ECONNREFUSED";
			const none = { status: 0, retryAfterSeconds: undefined };
			resolve({ ...none, isUnsent, text: error.message });
		});
		outgoing.on("response", (response) => {
			let received = "";
			const { statusCode: status = 0, headers } = response;
			const seconds = Number(headers["retry-after"]);
			const retryAfterSeconds = seconds > 0 ? seconds : undefined;
			response.setEncoding("utf8");
			response.on("data", (part: string) => {
				received += part;
			});
			const done = () =>
				resolve({ status, retryAfterSeconds, isUnsent: false, text: received });
			response.on("end", done);
			// If the answer breaks off after its status, the status still says that the write is stored.
			response.on("error", done);
		});
		outgoing.end(text);
	});
}

import { Agent, request } from "node:http";
import fc from "fast-check";
import { Histogram } from "../histogram.ts";
import { untilNotBusy } from "./busy.ts";
import { casesOf } from "./cases.ts";
import { type ByName, count } from "./count.ts";
import type { Case, Target } from "./target.ts";

/**
 * The number of cases that are generated at a time. Each portion is one fast-check sample with its
 * own seed.
 */
const PORTION = 200;
/** The number of portions between two updates of the known records. */
const LEARN_EVERY = 10;
const MOST_IDS = 200;
const ANSWER_TIMEOUT_MS = 30_000;

/** A complete case with its answer, so that it can be sent again. */
export type Failure = Case & { answer: string };

export interface Fuzzed {
	cases: number;
	latencies: Histogram;
	/**
	 * The counts by door and by kind of fault. They show whether cases get past the first checks of
	 * each door.
	 */
	doors: ByName;
	kinds: ByName;
	/** The cases that were answered with 5xx or not at all. */
	failures: Failure[];
	/** The number of answers 503 with Retry-After. These cases were sent again. */
	busy: number;
}

export interface Plan {
	cases: number;
	seed: number;
	/** The number of requests in flight. */
	parallel: number;
	/** The time of performance.now() after which no more cases are sent. */
	until?: number;
	/** Counts that several targets share if they are fuzzed at the same time. */
	fuzzed?: Fuzzed;
	/** Called at once for each failure, so that a long run shows failures before it ends. */
	onFailure?: (failure: Failure) => void;
}

export function nothingYet(): Fuzzed {
	const latencies = new Histogram();
	return { cases: 0, latencies, doors: {}, kinds: {}, failures: [], busy: 0 };
}

/** Sends cases until there are enough or the time is over. */
export async function fuzz(
	target: Target,
	{ cases, seed, parallel, until, fuzzed = nothingYet(), onFailure }: Plan,
): Promise<Fuzzed> {
	const agent = new Agent({ keepAlive: true, maxSockets: parallel });
	let arbitrary = casesOf(target);
	const ids = [...target.ids];
	/** Remembers the ids of new records, so that later cases use them instead of older ones. */
	const learn = (text: string) => {
		for (const [, id] of text.matchAll(/"id":"([\w-]{32})"/g)) {
			const at = Math.floor(Math.random() * MOST_IDS);
			ids[Math.min(at, ids.length)] = id as string;
		}
	};
	let portions = 0;
	let waiting: Case[] = [];
	let taken = 0;
	const next = (): Case | undefined => {
		const isLate = until !== undefined && performance.now() > until;
		if (taken++ >= cases || isLate) return undefined;
		if (waiting.length === 0) {
			const numRuns = PORTION;
			if (portions % LEARN_EVERY === LEARN_EVERY - 1) {
				arbitrary = casesOf({ ...target, ids: [...ids] });
			}
			waiting = fc.sample(arbitrary, { seed: seed + portions++, numRuns });
		}
		return waiting.pop();
	};
	const work = async () => {
		for (let one = next(); one; one = next()) {
			const began = performance.now();
			const { status, text } = await untilNotBusy(fuzzed, () =>
				send(target.url, agent, one),
			);
			fuzzed.cases++;
			if (status === 200) learn(text);
			fuzzed.latencies.recordMs(performance.now() - began);
			const name = nameOf(status, text);
			count(fuzzed.doors, one.name.split(" ")[0] as string, [name]);
			count(fuzzed.kinds, one.kind, [name]);
			if (status >= 500 || status === 0) {
				const failure = { ...one, answer: `${name} ${text}` };
				fuzzed.failures.push(failure);
				onFailure?.(failure);
			}
		}
	};
	await Promise.all(Array.from({ length: parallel }, work));
	agent.destroy();
	return fuzzed;
}

/**
 * Names an outcome. Over MCP, the answer to a tool's error has the status 200 but counts as an
 * error.
 */
function nameOf(status: number, text: string): string {
	if (status === 0) return "none";
	return text.includes('"isError":true') ? "4xx in a result" : String(status);
}

function send(
	url: string,
	agent: Agent,
	{ method, path, headers, body }: Case,
): Promise<{ status: number; text: string; isBusy: boolean }> {
	return new Promise((resolve) => {
		const { hostname, port } = new URL(url);
		const bytes = Buffer.from(body);
		const outgoing = request({
			hostname,
			port,
			method,
			path,
			agent,
			headers: { ...headers, "content-length": bytes.length },
			signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
		});
		outgoing.on("error", (error) =>
			resolve({ status: 0, text: error.message, isBusy: false }),
		);
		outgoing.on("response", (response) => {
			let text = "";
			response.setEncoding("utf8");
			response.on("data", (part: string) => {
				if (text.length < 2_000) text += part;
			});
			const status = response.statusCode ?? 0;
			const isBusy = status === 503 && "retry-after" in response.headers;
			const end = () => resolve({ status, text, isBusy });
			response.on("end", end);
			response.on("error", end);
		});
		outgoing.end(bytes);
	});
}

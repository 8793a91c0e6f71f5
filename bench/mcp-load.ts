import { Connection, NO_ANSWER } from "./connection.ts";
import { Histogram } from "./histogram.ts";

/**
 * A closed loop, in which every connection sends the next request when its previous one has been
 * answered.
 */
export interface ToolLoad {
	port: number;
	connections: number;
	/** Complete HTTP requests in ASCII, which are sent in turn. */
	requests: string[];
	warmMs: number;
	measureMs: number;
}

export interface ToolResult {
	perSecond: number;
	p50Ms: number;
	p99Ms: number;
	maxMs: number;
	/** The number of answers that are not a 200, or that contain isError. */
	errors: number;
	firstError: string | undefined;
}

const PAUSE_MS = 100;

async function run(load: ToolLoad): Promise<ToolResult> {
	const latencies = new Histogram();
	let errors = 0;
	let firstError: string | undefined;
	let sent = 0;
	let isStopping = false;
	const loop = (connection: Connection) => {
		if (isStopping) return;
		const at = performance.now();
		const request = load.requests[sent++ % load.requests.length] as string;
		connection.send(request, (status, text) => {
			if (isStopping) return;
			latencies.recordMs(performance.now() - at);
			if (status !== 200 || text.includes('"isError":true')) {
				errors++;
				firstError ??= `${status} ${text.slice(-300)}`;
			}
			if (status !== NO_ANSWER) loop(connection);
			else setTimeout(() => loop(connection), PAUSE_MS);
		});
	};
	const all = Array.from(
		{ length: load.connections },
		() => new Connection(load.port),
	);
	await Promise.all(all.map((connection) => connection.open()));
	for (const connection of all) loop(connection);
	await new Promise((resolve) => setTimeout(resolve, load.warmMs));
	latencies.clear();
	errors = 0;
	firstError = undefined;
	const beganAt = performance.now();
	await new Promise((resolve) => setTimeout(resolve, load.measureMs));
	const seconds = (performance.now() - beganAt) / 1000;
	isStopping = true;
	for (const connection of all) connection.close();
	return {
		perSecond: (latencies.total - errors) / seconds,
		p50Ms: latencies.quantileMs(0.5),
		p99Ms: latencies.quantileMs(0.99),
		maxMs: latencies.maxMs,
		errors,
		firstError,
	};
}

/** Runs as a child process, which receives a load over IPC and answers with the result. */
if (import.meta.main) {
	process.on("message", (load: ToolLoad) => {
		run(load).then(
			(result) => process.send?.({ result }),
			(error) => process.send?.({ failed: String(error) }),
		);
	});
	process.on("disconnect", () => process.exit(0));
	process.on("SIGINT", () => {});
}

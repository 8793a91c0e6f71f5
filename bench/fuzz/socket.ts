import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { untilNotBusy } from "./busy.ts";
import { type Sending, sendings } from "./bytes.ts";
import { type ByName, count } from "./count.ts";

/**
 * The largest number of open sockets. It is high because most sockets wait for a service that
 * itself waits for more data.
 */
const PARALLEL = 96;
/** Milliseconds after which a socket is closed if the service waits for more data. */
const TIMEOUT_MS = 2_000;

export interface SocketResult {
	cases: number;
	kinds: ByName;
	failures: { sent: string[]; answer: string }[];
	/** The number of answers 503 with Retry-After. These bytes were sent again. */
	busy: number;
}

/**
 * Sends bytes on separate sockets and counts the answers. Each open socket uses a different one of
 * `keys`, because a device may have only five requests in flight and further ones are answered with
 * 503.
 */
export async function fuzzSocket(
	port: number,
	keys: string[],
	{ cases, seed }: { cases: number; seed: number },
	until = Number.POSITIVE_INFINITY,
): Promise<SocketResult> {
	const result: SocketResult = {
		cases: 0,
		kinds: {},
		failures: [],
		busy: 0,
	};
	const work = async (sent: Sending[]) => {
		for (const sending of sent) {
			if (performance.now() > until) return;
			const { answer, statuses } = await untilNotBusy(result, () =>
				exchange(port, sending),
			);
			count(result.kinds, sending.kind, statuses.length ? statuses : ["none"]);
			result.cases++;
			if (statuses.some((status) => status.startsWith("5"))) {
				const { parts } = sending;
				result.failures.push({ sent: parts, answer: answer.slice(0, 500) });
			}
		}
	};
	const lanes = keys.slice(0, PARALLEL);
	await Promise.all(
		lanes.map((key, lane) => {
			// Each lane gets the same number of cases, or one less.
			const numRuns = Math.ceil((cases - lane) / lanes.length);
			const options = { seed: seed + lane, numRuns };
			return work(fc.sample(sendings(key), options));
		}),
	);
	return result;
}

/**
 * Returns the bytes that arrive before the service closes the connection or is silent for a while.
 */
async function exchange(port: number, sending: Sending) {
	const answer = await receive(port, sending);
	// A second answer begins on the line on which the body of the first one ends.
	const found = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)];
	const statuses = found.map(([, status]) => status as string);
	const isBusy = statuses.includes("503") && /\r\nretry-after:/i.test(answer);
	return { answer, statuses, isBusy };
}

function receive(port: number, { parts, pauseMs }: Sending): Promise<string> {
	return new Promise((resolve) => {
		let received = "";
		const socket = connect(port, "127.0.0.1");
		const end = () => {
			socket.destroy();
			resolve(received);
		};
		socket.setTimeout(TIMEOUT_MS, end);
		socket.on("data", (chunk: Buffer) => {
			received += chunk.toString("latin1");
		});
		socket.on("error", end);
		socket.on("close", end);
		const write = async () => {
			for (const part of parts) {
				if (socket.destroyed) return;
				socket.write(part, "latin1");
				await sleep(pauseMs);
			}
		};
		void write();
	});
}

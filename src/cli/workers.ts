import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import type { Logger } from "pino";
import { AppError, EXIT_REFUSED, StartRefused } from "../errors.ts";
import type { Service } from "../serve.ts";

/** Says to the parent process why a worker could not start. */
export interface WorkerFailed {
	failure: string;
}

/** The message with which a worker tells its parent process that it serves requests. */
export type WorkerReady = Omit<Service, "prepareClose" | "close">;

const RESTART_MS = 1_000;

/**
 * Starts `count` processes that serve the same address. Each of them runs this program again. If
 * one ends although nobody stopped it, it is started again. The workers share the database as any
 * Assay processes do. Rejects with the reason of a worker that cannot start. The worker has then
 * printed it too.
 */
export async function startWorkers(
	count: number,
	log: Logger,
): Promise<Service> {
	let isStopping = false;
	const close = async () => {
		isStopping = true;
		await Promise.all(
			Object.values(cluster.workers ?? {}).map(async (worker) => {
				if (!worker) return;
				const exit = once(worker, "exit");
				worker.process.kill("SIGTERM");
				await exit;
			}),
		);
	};
	try {
		const ready = await Promise.all(
			Array.from({ length: count }, () => whenReady(cluster.fork())),
		);
		cluster.on("exit", (worker, code, signal) => {
			if (isStopping) return;
			log.error({ pid: worker.process.pid, code, signal }, "a worker ended");
			setTimeout(() => {
				if (!isStopping) cluster.fork();
			}, RESTART_MS);
		});
		// All workers report the same values. Only `isEmpty` may differ, if a user was created after
		// the first worker looked.
		return {
			...(ready[0] as WorkerReady),
			// Each worker does this itself.
			prepareClose: async () => {},
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}

function whenReady(worker: Worker): Promise<WorkerReady> {
	return new Promise((resolve, reject) => {
		let why = "a worker ended before it was ready; the log says why";
		worker.once("message", (message: WorkerReady | WorkerFailed) => {
			if ("failure" in message) why = message.failure;
			else resolve(message);
		});
		worker.once("exit", (code) => {
			const Kind = code === EXIT_REFUSED ? StartRefused : AppError;
			reject(new Kind("service_unavailable", why));
		});
	});
}

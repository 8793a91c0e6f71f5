import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import type { Logger } from "pino";
import { AppError } from "../errors.ts";
import type { Service } from "../serve.ts";

/** The message of a worker that serves. */
export type WorkerReady = Omit<Service, "close">;

const RESTART_MS = 1_000;

/**
 * Starts `count` processes that serve the same address; each runs this program again. One that ends
 * unasked is started again. They share the database as any Assay processes do. Rejects when one
 * cannot start (it has said why on standard error).
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
		// A user may have been created after the first worker looked. Otherwise all say the same.
		return { ...(ready[0] as WorkerReady), close };
	} catch (error) {
		await close();
		throw error;
	}
}

function whenReady(worker: Worker): Promise<WorkerReady> {
	return new Promise((resolve, reject) => {
		worker.once("message", resolve);
		worker.once("exit", () =>
			reject(new AppError("service_unavailable", "a worker did not start")),
		);
	});
}

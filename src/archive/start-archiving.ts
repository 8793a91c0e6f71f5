import { join } from "node:path";
import type { ClientConfig } from "pg";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { isDatabaseUnavailable } from "../errors.ts";
import { startThread } from "../load/thread.ts";
import { HOUR_MS } from "../units.ts";
import type { Archiving } from "./archive-months.ts";
import type { ArchiveWork } from "./archive-thread.ts";

const SOON_MS = 10 * 60_000;
const SHOWN_FAILURES = 10;

/**
 * Brings the archive up to date immediately and then every hour, so that what a deleted device has
 * reported leaves the archive soon. If it was interrupted, it goes on ten minutes later. Returns a
 * function that stops this. Without an archive it does nothing.
 */
export function startArchiving(
	connection: ClientConfig,
	{ archivePlace: place, databaseUrl }: Config,
	log: Logger,
): () => Promise<void> {
	if (!place) return async () => {};
	const work: ArchiveWork = { place, database: databaseUrl ?? connection };
	let timer: NodeJS.Timeout | undefined;
	let isStopped = false;
	let stopThread = async () => {};
	const run = async () => {
		let next = SOON_MS;
		try {
			const thread = startThread<Archiving>(
				join(import.meta.dirname, "archive-thread.ts"),
				work,
			);
			stopThread = thread.stop;
			const { archived, rewritten, removed, failures, isDone } =
				await thread.result;
			if (archived.length > 0)
				log.info({ months: archived }, "archived posture reports");
			if (rewritten > 0 || removed > 0) {
				log.info(
					{ rewritten, removed },
					"changed the archive of posture reports",
				);
			}
			if (failures.length > 0) {
				log.error(
					{ failures: failures.slice(0, SHOWN_FAILURES), all: failures.length },
					"posture reports could not be archived",
				);
			}
			if (isDone) next = HOUR_MS;
		} catch (err) {
			if (isStopped) return;
			if (isDatabaseUnavailable(err)) {
				log.warn({ err }, "posture reports could not be archived yet");
			} else {
				log.error({ err }, "posture reports could not be archived");
			}
		}
		if (isStopped) return;
		timer = setTimeout(() => {
			running = run();
		}, next);
		timer.unref();
	};
	let running = run();
	return async () => {
		isStopped = true;
		clearTimeout(timer);
		await stopThread();
		await running;
	};
}

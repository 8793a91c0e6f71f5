import { availableParallelism, totalmem } from "node:os";
import { InvalidArgumentError } from "commander";
import { PROCESSES_BY_DEFAULT } from "../db/connections.ts";

const MAX_WORKERS = 64;
/** Cores for a process: one for its thread, and one for PostgreSQL and everything else. */
const CORES_EACH = 2;
/** Memory for a process, in MiB. Decision 0069 says how much it takes under full load. */
const MIB_EACH = 540;

/** Cores and memory that the service may use, within the limits of its container or unit. */
export interface Machine {
	cores: number;
	memoryMib: number;
}

/**
 * Returns how many processes fit on a machine. They get at most half of its memory, because a
 * database may run beside them, and because their parent process needs some.
 */
export function chooseWorkers({ cores, memoryMib }: Machine): number {
	const fitting = Math.min(
		Math.floor(cores / CORES_EACH),
		Math.floor(memoryMib / 2 / MIB_EACH),
		PROCESSES_BY_DEFAULT,
	);
	return Math.max(fitting, 1);
}

/** Returns what this process may use. Both limits are those of its control group, if there are any. */
export function readMachine(): Machine {
	const bytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);
	return {
		cores: availableParallelism(),
		memoryMib: bytes / 1024 / 1024,
	};
}

/** Parses the option `--workers`: a number, or "auto" for as many as fit. */
export function parseWorkers(text: string): number {
	if (text === "auto") return chooseWorkers(readMachine());
	const count = Number(text);
	if (!Number.isInteger(count) || count < 1 || count > MAX_WORKERS) {
		throw new InvalidArgumentError(
			`Give a whole number from 1 to ${MAX_WORKERS}, or auto.`,
		);
	}
	return count;
}

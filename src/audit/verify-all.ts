import type { ClientBase, Pool } from "pg";
import { listLogs } from "./read.ts";
import { verifyLog } from "./verify.ts";

export interface LogProblem {
	/** Id of the organization. */
	id: string;
	/** Message for people about the problem. */
	problem: string;
}

/** Verifies the logs of all organizations that `database` may read. Returns their problems. */
export async function findLogProblems(
	database: Pool | ClientBase,
	signal?: AbortSignal,
): Promise<LogProblem[]> {
	const problems: LogProblem[] = [];
	for (const id of await listLogs(database)) {
		signal?.throwIfAborted();
		const { findings } = await verifyLog(database, id);
		problems.push(...findings.map(({ problem }) => ({ id, problem })));
	}
	return problems;
}

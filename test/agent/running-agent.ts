import { onTestFinished } from "vitest";
import { enqueue } from "../../agent/queue.ts";
import { makeReport } from "../../agent/report.ts";
import { type RunOptions, run } from "../../agent/run.ts";
import { readStateOf } from "../../agent/state.ts";
import { makeParts } from "./folders.ts";
import type { SeenRequest } from "./scripted-service.ts";

/** Starts the agent, which runs until the test stops it. */
export function start(folder: string, options: Partial<RunOptions> = {}) {
	const parts = makeParts();
	const ended = run({ folder, startDelayMs: 0, ...parts, ...options });
	const stop = async () => {
		parts.stop();
		await ended;
	};
	onTestFinished(stop);
	return { ...parts, ended, stop };
}

export const count = (seen: SeenRequest[], route: string) =>
	seen.filter((request) => request.route === route).length;

/** Waits for a state that no request shows. */
export async function eventually(condition: () => Promise<boolean> | boolean) {
	while (!(await condition())) {
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

export async function queueReports(
	folder: string,
	deviceId: string,
	enrollment: string,
	many: number,
) {
	const state = await readStateOf(folder, enrollment);
	const result = {
		check_key: "OS_VERSION",
		status: "PASS",
		evidence: {},
		observed_at: "2026-11-21T12:00:00.000Z",
	} as const;
	const ids: string[] = [];
	for (let i = 0; i < many; i++) {
		const report = makeReport([result], deviceId, state);
		ids.push(report.report_id);
		await enqueue(folder, report, false);
	}
	return ids;
}

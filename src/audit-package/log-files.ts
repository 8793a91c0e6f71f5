import { exportLine } from "../audit/entry.ts";
import { readLog } from "../audit/read.ts";
import { type ChainReport, verifySteps } from "../audit/verify.ts";
import { csvFile, type PackageFile, type Source } from "./package-file.ts";

/** Makes the file of the entries with their seals. */
export function readSealedEntries({
	context,
	scope,
	subject,
}: Source): PackageFile {
	let rows = 0;
	async function* lines() {
		const log = readLog(context.client, scope.organizationId, {
			from: subject.begin,
			until: subject.end,
		});
		for await (const { entries } of log) {
			rows += entries.length;
			yield entries.map((entry) => `${exportLine(entry)}\n`).join("");
		}
	}
	return {
		path: "audit-log/entries.jsonl",
		content: lines(),
		rows: () => rows,
	};
}

/**
 * Yields the hashes of the whole log, and what was found while they were verified. That takes long
 * for a long log. The hashes are sent meanwhile, so that no proxy takes the download for a dead one.
 */
export async function* verify({
	context,
	scope,
}: Source): AsyncGenerator<PackageFile> {
	let report: ChainReport | undefined;
	async function* hashes() {
		const steps = verifySteps(context.client, scope.organizationId);
		for (;;) {
			const step = await steps.next();
			report = step.done ? step.value : undefined;
			if (step.done) return;
			yield step.value.map(({ sequence, hash }) => ({ sequence, hash }));
		}
	}
	yield csvFile("audit-log/hashes.csv", ["sequence", "hash"], hashes());
	async function* found() {
		yield `${JSON.stringify(report, null, "\t")}\n`;
	}
	yield { path: "audit-log/verification.json", content: found() };
}

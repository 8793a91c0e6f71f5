import { exportLine } from "../audit/entry.ts";
import { readLog } from "../audit/read.ts";
import { verifyLog } from "../audit/verify.ts";
import type { PackageFile, Source } from "./package-file.ts";

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

/** Makes the file with the result of verifying the whole log. */
export function verify({ context, scope }: Source): PackageFile {
	async function* report() {
		const found = await verifyLog(context.client, scope.organizationId);
		yield `${JSON.stringify(found, null, "\t")}\n`;
	}
	return { path: "audit-log/verification.json", content: report() };
}

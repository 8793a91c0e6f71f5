import type { PoolClient } from "pg";
import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import type { StoredEntry } from "./entry.ts";
import { type Head, readLog, type Unsealed } from "./read.ts";
import { checkBatch, checkEnd, checkUnsealed, type Finding } from "./verify.ts";

/**
 * Largest number of entries that one call checks. A log may have millions of entries, and a call
 * must not keep its database connection for that long.
 */
const MAX_ENTRIES = 2000;
/**
 * Time after which a call stops even if it has checked fewer entries. The time matters if entries
 * are large or the machine is slow.
 */
const MAX_MS = 500;

const head = z.strictObject({
	sequence: z.int().min(1),
	hash: z
		.string()
		.regex(/^[0-9a-f]{64}$/, "must be a hash of 64 hexadecimal digits"),
});

/**
 * Verifies a part of one organization's log, up to the first problem, in the same way as `assay
 * audit verify`. The caller passes `after` from call to call. A caller who passes an invented value
 * gets a wrong result, but harms nobody else.
 */
export const verifyAuditLog = defineOperation({
	name: "verifyAuditLog",
	title: "Verify the audit log",
	description:
		"Check entries of the audit log, oldest first. Each must match its hash and continue the previous one. Returns the first problem, or the last entry checked. Pass that entry as after to the next call until is_complete.",
	toolset: "audit_log",
	access: "admin",
	surface: "console",
	isReadOnly: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		after: head
			.optional()
			.describe(
				"last of the previous call; omit it to start at the first entry",
			),
	}),
	output: z.object({
		entries: z.int().describe("Number of entries that this call checked"),
		redacted: z
			.int()
			.describe(
				"Number of checked entries from which an erasure removed a person",
			),
		first_at: z.string().nullable().describe("Time of the first entry checked"),
		last_at: z.string().nullable(),
		last: head.nullable().describe("The last entry checked so far"),
		newest_sequence: z
			.int()
			.nullable()
			.describe("Number of the newest entry according to the log's head"),
		unsealed: z
			.int()
			.describe(
				"Number of entries that are not sealed yet; 0 until is_complete",
			),
		finding: z
			.object({
				sequence: z.int().nullable(),
				problem: z.string(),
				is_there: z.boolean().describe("true: an entry has this number"),
			})
			.nullable()
			.describe("The first problem; nothing after it was checked"),
		is_complete: z.boolean(),
	}),
	run: async ({ client }, { organization_id, after }) => {
		const findings: Finding[] = [];
		const seen = {
			entries: 0,
			redacted: 0,
			head: after ?? (null as Head | null),
		};
		const find = (sequence: number | null, problem: string) =>
			findings.push({ sequence, problem });
		const checked: (StoredEntry | undefined)[] = [];
		let finding: (Finding & { is_there: boolean }) | null = null;
		let newest: number | null = null;
		let isComplete = false;
		let unsealed = 0;
		const startedAt = Date.now();
		// Counted first: an entry that is sealed meanwhile is then in one of the two.
		const left = await readUnsealed(client, organization_id);
		const from = { after: after?.sequence };
		for await (const batch of readLog(client, organization_id, from)) {
			await checkBatch(client, organization_id, batch, seen, find);
			if (batch.isLast) {
				const isNew = left.entries > 0 && !seen.head && !batch.head;
				if (!isNew) checkEnd(seen.head, batch.head, find);
				checkUnsealed(left, find);
				unsealed = left.entries;
			}
			checked.push(batch.entries[0], batch.entries.at(-1));
			newest = batch.head?.sequence ?? null;
			const [first] = findings;
			if (first) {
				const isThere = batch.entries.some(
					({ sequence }) => Number(sequence) === first.sequence,
				);
				finding = { ...first, is_there: isThere };
			}
			isComplete = batch.isLast || finding !== null;
			const isEnough =
				seen.entries >= MAX_ENTRIES || Date.now() - startedAt > MAX_MS;
			if (isComplete || isEnough) break;
		}
		const found = checked.filter((entry) => entry !== undefined);
		return {
			entries: seen.entries,
			redacted: seen.redacted,
			first_at: timeOf(found[0]),
			last_at: timeOf(found.at(-1)),
			last: seen.head,
			newest_sequence: newest,
			unsealed,
			finding,
			is_complete: isComplete,
		};
	},
});

async function readUnsealed(
	client: PoolClient,
	organizationId: string,
): Promise<Unsealed> {
	const { rows } = await client.query<Unsealed>(
		`select entries::float8, oldest_seconds as "oldestSeconds" from count_unsealed_entries($1)`,
		[organizationId],
	);
	return rows[0] ?? { entries: 0, oldestSeconds: 0 };
}

function timeOf(entry: StoredEntry | undefined): string | null {
	return entry?.at ? `${entry.at}Z` : null;
}

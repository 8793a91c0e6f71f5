import { Client } from "pg";
import { afterAll } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { verifyLog } from "../../src/audit/verify.ts";
import { makePool } from "../../src/db/pool.ts";
import { allRowsOf } from "../support/backups.ts";
import type { Calls } from "../support/calls.ts";
import { runCommand } from "../support/command.ts";

/** Returns functions that erase personal data and look for what is left of it. */
export function privacyCommands(calls: () => Calls) {
	let reader: Client | undefined;
	afterAll(() => reader?.end());
	const allRows = async () => {
		if (!reader) {
			reader = new Client({ connectionString: calls().database.url });
			await reader.connect();
		}
		return allRowsOf(reader);
	};
	return {
		/** Returns every row of the database as text, by its table. */
		allRows,
		/** Runs a command of `assay` that prints JSON. */
		run: async (...args: string[]) => {
			const { code, stdout, stderr } = await runCommand([...args, "--json"], {
				DATABASE_URL: calls().database.url,
			});
			const result = stdout === "" ? null : JSON.parse(stdout);
			return { code, stderr, result };
		},
		/** Returns every row of the database that contains the text in any of its columns. */
		rowsWith: async (text: string): Promise<string[]> => {
			const tables = await allRows();
			return Object.entries(tables).flatMap(([table, rows]) =>
				rows
					.filter((row) => row.toLowerCase().includes(text))
					.map((row) => `${table}: ${row}`),
			);
		},
		/** Seals and verifies the audit log of an organization. */
		verify: async (organization = calls().organizationId) => {
			const pool = makePool(
				{ connectionString: calls().database.url },
				{ max: 1, role: "audit" },
			);
			await sealAll(pool);
			const report = await verifyLog(pool, organization);
			await pool.end();
			return report;
		},
	};
}

import { type ClientConfig, Client as PgClient } from "pg";
import { makePool } from "../src/db/pool.ts";
import { OutageLog } from "../src/load/outage-log.ts";
import { makeLogger } from "../src/log.ts";
import { Catalogue } from "../src/mcp/catalogue.ts";
import { callTool } from "../src/mcp/methods.ts";
import { operations } from "../src/operations.ts";
import { ApiTokens } from "../src/tokens/authentication.ts";

export interface Call {
	label: string;
	tool: string;
	input: object;
	token: string;
}

/**
 * Counts the statements that each call sends to the database, including those that look up its
 * token.
 */
export async function countStatements(
	connection: ClientConfig,
	baseUrl: string,
	calls: Call[],
): Promise<Record<string, number>> {
	const pool = makePool(connection, { max: 2 });
	const log = makeLogger("silent");
	const catalogue = new Catalogue(operations);
	const tokens = new ApiTokens(pool);
	const narrowing = { toolsets: undefined, isReadOnly: false };
	const services = { pool, log, baseUrl };
	let statements = 0;
	const { query } = PgClient.prototype;
	PgClient.prototype.query = function (this: PgClient, ...given: unknown[]) {
		statements++;
		return Reflect.apply(query, this, given);
	} as typeof query;
	try {
		// This query makes the pool send the first statements of a new connection, which must not be
		// counted.
		await pool.query("select 1");
		const counts: Record<string, number> = {};
		for (const { label, tool: name, input, token } of calls) {
			const tool = catalogue.find(name, narrowing);
			if (!tool) throw new Error(`there is no tool ${name}`);
			statements = 0;
			const principal = await tokens.authenticate(`Bearer ${token}`, {});
			const caller = { principal, narrowing, requestId: "bench" };
			const outageLog = new OutageLog(log, pool);
			const usage = { record: () => {} };
			const parts = { services, catalogue, outageLog, usage };
			await callTool(parts, caller, tool, input);
			counts[label] = statements;
		}
		return counts;
	} finally {
		PgClient.prototype.query = query;
		await pool.end();
	}
}

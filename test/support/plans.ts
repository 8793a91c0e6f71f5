import type { Pool, PoolClient, QueryConfig } from "pg";

/** A node of a plan, as `explain (format json)` writes it. */
export interface PlanNode {
	"Node Type": string;
	"Plan Rows": number;
	"Relation Name"?: string;
	Plans?: PlanNode[];
}

export interface Planned {
	text: string;
	plan: PlanNode;
}

/**
 * Makes the planner believe that a table has so many rows. It multiplies the rows of a page, which it
 * has from the statistics, by the pages that the table really has. So the table must have a row.
 */
export async function pretendRows(
	owner: Pool,
	table: string,
	rows: number,
): Promise<void> {
	await owner.query(`analyze ${table}`);
	await owner.query(
		`update pg_class c set reltuples = $2::real
		where c.oid = $1::regclass
			or c.oid in (select i.indexrelid from pg_index i where i.indrelid = $1::regclass)`,
		[table, rows],
	);
}

/** Returns a client that also asks PostgreSQL for the plan of each statement. */
export function planning(client: PoolClient): {
	client: PoolClient;
	planned: Planned[];
} {
	const planned: Planned[] = [];
	const query = async (statement: string | QueryConfig, given?: unknown[]) => {
		const { text, values = given } =
			typeof statement === "string" ? { text: statement } : statement;
		const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
			`explain (format json) ${text}`,
			values,
		);
		const [row] = rows;
		if (!row) throw new Error(`no plan of ${text}`);
		planned.push({ text, plan: row["QUERY PLAN"][0].Plan });
		return client.query(text, values);
	};
	return {
		planned,
		client: new Proxy(client, {
			get: (target, name) =>
				name === "query" ? query : Reflect.get(target, name),
		}),
	};
}

/** Returns all nodes of a plan. */
export function nodesOf(plan: PlanNode): PlanNode[] {
	return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

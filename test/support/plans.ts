import type { Pool } from "pg";
import { makePool } from "../../src/db/pool.ts";
import { AppError } from "../../src/errors.ts";
import { invoke } from "../../src/invoke.ts";
import { findOperation } from "../../src/operations.ts";
import { COUNTED } from "../../src/records/list-count.ts";
import type { Calls } from "./calls.ts";

/** The number of rows that the planner believes each large table to have. */
const ROWS = 1_000_000;

/**
 * Tables of which an organization has at most some thousand rows, because people make each of them.
 * They keep their statistics, and may be read without an index. All other tables are large.
 */
const SMALL = [
	...[
		"organizations",
		"organization_domains",
		"sign_in_rules",
		"identity_providers",
	],
	...["memberships", "invitations", "emergency_members", "emergency_sign_ins"],
	...["api_tokens", "connected_apps", "passkeys", "saved_views", "snapshots"],
	...["applicability_statements"],
	...[
		"device_policies",
		"device_check_rules",
		"device_groups",
		"enrollment_keys",
	],
	...[
		"device_group_policies",
		"device_group_policy_rules",
		"device_group_policy_spans",
		"silence_limits",
	],
	...["webhooks", "notification_channels", "scim_credentials", "scim_groups"],
	// One row a day, a device with a conflict, or an approver.
	...["check_count_days", "device_conflicts", "document_approvers"],
];

/** A node of a plan, as `explain (format json)` writes it. */
export interface PlanNode {
	"Node Type": string;
	"Plan Rows": number;
	"Relation Name"?: string;
	/** Only if the rows were counted. Numbers of rows are those of one loop, in the mean. */
	"Actual Rows"?: number;
	"Actual Loops"?: number;
	"Rows Removed by Filter"?: number;
	Plans?: PlanNode[];
}

export interface Planned {
	text: string;
	plan: PlanNode;
}

/**
 * Makes the planner believe that each large table with a row has a million. It multiplies the rows of
 * a page, which it has from the statistics, by the pages that the table really has. It also believes
 * that a vacuum has seen each page, so that an index alone can answer.
 */
async function pretendRows(owner: Pool): Promise<void> {
	// Autovacuum would count the rows.
	await owner.query(
		`do $$ declare name text; begin
			for name in select relname from pg_class
				where relkind = 'r' and relnamespace = 'public'::regnamespace
			loop
				execute format('alter table %I set (autovacuum_enabled = false)', name);
			end loop;
		end $$`,
	);
	await owner.query("analyze");
	await owner.query(
		`with large as (
			select c.oid from pg_class c
			where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.reltuples > 0
				and c.relname <> all($2)
		)
		update pg_class c set reltuples = $1::real, relallvisible = c.relpages
		where c.oid in (select oid from large)
			or c.oid in (select i.indexrelid from pg_index i join large on large.oid = i.indrelid)`,
		[ROWS, SMALL],
	);
}

/** Lets the server tell a connection the plan of each statement, also of those inside functions. */
const EXPLAINING = {
	session_preload_libraries: "auto_explain",
	"auto_explain.log_min_duration": "0",
	"auto_explain.log_nested_statements": "on",
	"auto_explain.log_format": "json",
	"auto_explain.log_level": "notice",
};

/** Lets the server also tell the rows that each part of a plan really read. */
const COUNTING = {
	"auto_explain.log_analyze": "on",
	"auto_explain.log_timing": "off",
};

export interface PlannedCalls {
	/**
	 * Calls an operation as an administrator. Returns its answer with the plans of its statements. The
	 * answer is empty if the service refused a value, after it had looked for it.
	 */
	read: (
		name: string,
		input: object,
	) => Promise<{ answer: Record<string, unknown>; planned: Planned[] }>;
	close: () => Promise<void>;
}

/** Makes calls whose statements are planned as if each table that has rows had a million. */
export async function planCalls(calls: Calls): Promise<PlannedCalls> {
	await pretendRows(calls.database.owner);
	return explainCalls(calls, EXPLAINING);
}

/** Makes calls with the plans of their statements, and the rows that each part of a plan read. */
export const countedCalls = (calls: Calls): PlannedCalls =>
	explainCalls(calls, { ...EXPLAINING, ...COUNTING });

function explainCalls(
	calls: Calls,
	settings: Record<string, string>,
): PlannedCalls {
	const options = Object.entries(settings)
		.map(([name, value]) => `-c ${name}=${value}`)
		.join(" ");
	const pool = makePool(
		{ connectionString: calls.database.url, options },
		{ max: 1 },
	);
	let planned: Planned[] = [];
	pool.on("connect", (client) =>
		client.on("notice", ({ message = "" }) => {
			const [, json] = /^duration: .* plan:\n(.*)$/s.exec(message) ?? [];
			if (json === undefined) return;
			const { "Query Text": text, Plan: plan } = JSON.parse(json);
			planned.push({ text, plan });
		}),
	);
	const services = { ...calls.services, pool };
	const admin = calls.principal("admin");
	return {
		read: async (name, input) => {
			const operation = findOperation(name);
			if (!operation) throw new Error(`there is no operation ${name}`);
			planned = [];
			const answer = await invoke(services, admin, operation, input).catch(
				(error) => {
					if (error instanceof AppError && error.code === "bad_request")
						return {};
					throw error;
				},
			);
			// The server reports the last plan when the transaction ends. Nobody waits for the end of one
			// that only reads.
			await pool.query("show transaction_read_only");
			return { answer, planned };
		},
		close: () => pool.end(),
	};
}

/** Returns the nodes of a plan. Each says whether a limit ends it as soon as there are enough rows. */
function nodesOf(plan: PlanNode, isLimited = false): [PlanNode, boolean][] {
	const isBelow = isLimited || plan["Node Type"] === "Limit";
	const inner = (plan.Plans ?? []).flatMap((one) => nodesOf(one, isBelow));
	return [[plan, isLimited], ...inner];
}

/** Returns the number of rows of a table that the statements looked up, and not only in an index. */
export function rowsLookedUp(planned: Planned[], table: string): number {
	const nodes = planned.flatMap(({ plan }) => nodesOf(plan));
	return nodes
		.filter(
			([node]) =>
				node["Relation Name"] === table &&
				node["Node Type"] !== "Index Only Scan",
		)
		.reduce((sum, [node]) => {
			const { "Actual Rows": rows = 0, "Actual Loops": loops = 1 } = node;
			return sum + (rows + (node["Rows Removed by Filter"] ?? 0)) * loops;
		}, 0);
}

export const isCount = ({ text }: Planned) => /\bcounted\s*$/.test(text);

/** A misspelled name is refused with the existing ones, which a statement counts as countRecords does. */
const isRefusal = ({ text }: Planned) => /\bas is_(it|reported)\b/.test(text);

/** A list whose filter contradicts its order sorts all that match, after it has tried the order. */
const isSorting = (text: string) => /\boffset 0\b/.test(text);

/** Characters of a statement that a failure shows. */
const SHOWN = 300;

/**
 * Returns what the statements read without an index: whole tables, and rows that are sorted although
 * there are more than a list counts. A statement with a limit may read a table if so many of its rows
 * match that there are soon enough.
 */
export function withoutIndex(planned: Planned[]): string[] {
	return planned
		.filter((statement) => !isRefusal(statement))
		.flatMap(({ text, plan }) => {
			const start = text.replace(/\s+/g, " ").slice(0, SHOWN);
			return nodesOf(plan).flatMap(([node, isLimited]) => {
				const { "Node Type": type, "Plan Rows": rows } = node;
				const table = node["Relation Name"];
				if (type === "Seq Scan" && table && !SMALL.includes(table)) {
					return isLimited && rows > COUNTED
						? []
						: [`reads ${table}: ${start}`];
				}
				const sorted = node.Plans?.[0]?.["Plan Rows"] ?? 0;
				return type === "Sort" && sorted > COUNTED && !isSorting(text)
					? [`sorts ${sorted} rows: ${start}`]
					: [];
			});
		});
}

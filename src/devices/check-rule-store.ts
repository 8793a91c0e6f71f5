import type { PoolClient } from "pg";
import { badFields } from "../errors.ts";
import type { Change } from "../operation.ts";
import { findCheckKey } from "./check-keys.ts";
import { type CheckRule, defaultRule, RULE_FIELDS } from "./check-rules.ts";
import { CHECK_KEYS } from "./terms.ts";

/** Largest number of other checks with a rule of their own. */
const MAX_OTHER_RULES = 100;

const COLUMNS = `check_key, ${RULE_FIELDS.join(", ")}`;

/** The rules in force, by check: those of the canonical checks, then those that were added. */
export type CheckRules = Map<string, CheckRule>;

/** A change of a rule. A field that is absent stays, and null means the default. */
export type RuleChange = { check_key: string } & {
	[Field in keyof CheckRule]?: CheckRule[Field] | null | undefined;
};

export async function readRules(
	client: PoolClient,
	organizationId: string,
): Promise<CheckRules> {
	const { rows } = await client.query<CheckRule & { check_key: string }>({
		name: "check_rules",
		text: `select ${COLUMNS} from device_check_rules
		where organization_id = $1 and valid_until is null
		order by check_key`,
		values: [organizationId],
	});
	const rules: CheckRules = new Map(
		CHECK_KEYS.map((key) => [key, defaultRule(key)]),
	);
	for (const { check_key, ...rule } of rows) rules.set(check_key, rule);
	return rules;
}

/**
 * Ends the rules that differ from what is wanted, and adds the new ones. The caller holds the lock
 * of the policy. Returns the changed fields for the audit log.
 */
export async function changeRules(
	client: PoolClient,
	organizationId: string,
	changes: RuleChange[],
): Promise<Change["fields"]> {
	const rules = await readRules(client, organizationId);
	const wanted = await resolve(client, organizationId, changes);
	const fields: Change["fields"] = {};
	const changed = new Map<string, CheckRule>();
	for (const [key, change] of wanted) {
		const before = rules.get(key) ?? defaultRule(key);
		const after = { ...before, ...change };
		for (const field of RULE_FIELDS) {
			if (isEqual(before[field], after[field])) continue;
			fields[`${key}.${field}`] = {
				before: before[field],
				after: after[field],
			};
			changed.set(key, after);
		}
	}
	if (changed.size > 0) await store(client, organizationId, changed);
	const others = (await readRules(client, organizationId)).size;
	if (others > CHECK_KEYS.length + MAX_OTHER_RULES) {
		throw badFields([
			{
				field: "checks",
				message: `may name at most ${MAX_OTHER_RULES} checks besides ${CHECK_KEYS.join(", ")}`,
			},
		]);
	}
	return fields;
}

/** Returns the given fields by the key of their check. A field that is null gets its default. */
async function resolve(
	client: PoolClient,
	organizationId: string,
	changes: RuleChange[],
): Promise<Map<string, Partial<CheckRule>>> {
	const wanted = new Map<string, Partial<CheckRule>>();
	for (const [index, { check_key, ...given }] of changes.entries()) {
		const key = await findCheckKey(client, organizationId, check_key);
		if (wanted.has(key)) {
			throw badFields([
				{
					field: `checks[${index}].check_key`,
					message: `names ${key} a second time`,
				},
			]);
		}
		if (given.owner_id) {
			await requireOwner(client, organizationId, given.owner_id, index);
		}
		const usual = defaultRule(key);
		wanted.set(
			key,
			Object.fromEntries(
				RULE_FIELDS.filter((field) => given[field] !== undefined).map(
					(field) => [field, given[field] ?? usual[field]],
				),
			),
		);
	}
	return wanted;
}

async function requireOwner(
	client: PoolClient,
	organizationId: string,
	id: string,
	index: number,
): Promise<void> {
	const { rowCount } = await client.query(
		"select from people where organization_id = $1 and id = $2 for key share",
		[organizationId, id],
	);
	if (rowCount) return;
	throw badFields([
		{
			field: `checks[${index}].owner_id`,
			message: `there is no person ${id}`,
		},
	]);
}

async function store(
	client: PoolClient,
	organizationId: string,
	rules: CheckRules,
): Promise<void> {
	// The time of the statement, because another transaction may have changed the rule while this
	// one waited for the lock.
	const { rows } = await client.query<{ at: string }>(
		`with ended as (
			update device_check_rules set valid_until = clock_timestamp()
			where organization_id = $1 and check_key = any($2) and valid_until is null
			returning valid_until
		)
		select coalesce((select max(valid_until) from ended), clock_timestamp())::text as at`,
		[organizationId, [...rules.keys()]],
	);
	const at = rows[0]?.at;
	for (const [key, rule] of rules) {
		// A check with the defaults needs no row.
		const usual = defaultRule(key);
		if (RULE_FIELDS.every((field) => isEqual(rule[field], usual[field]))) {
			continue;
		}
		await client.query(
			`insert into device_check_rules (organization_id, check_key, valid_from, ${RULE_FIELDS.join(", ")})
			values ($1, $2, $3, ${RULE_FIELDS.map((_, index) => `$${index + 4}`).join(", ")})`,
			[organizationId, key, at, ...RULE_FIELDS.map((field) => rule[field])],
		);
	}
}

const isEqual = (one: unknown, other: unknown) =>
	JSON.stringify(one) === JSON.stringify(other);

import { takeTransactionLocks } from "../db/transaction-locks.ts";
import { AppError } from "../errors.ts";
import type { Context } from "../operation.ts";
import { type AnyRecordKind, toolsetOf } from "../records/kind.ts";
import { storeLinks } from "../records/link-new-records.ts";
import { type Linked, linkRecords } from "../records/links.ts";
import { insertRecord, noteStored } from "../records/store.ts";
import { prepareNew, type Values } from "../records/values.ts";
import { control } from "../registers/control.ts";
import { framework } from "../registers/framework.ts";
import { measure } from "../registers/measure.ts";
import { risk } from "../registers/risk.ts";
import { outOfScope } from "../tokens/scopes.ts";
import { controlName, STARTER_FRAMEWORKS } from "./all.ts";
import { findStarters, type Starters } from "./find-starters.ts";
import { STARTER_MEASURES } from "./measures.ts";
import { STARTER_RISKS } from "./risks.ts";
import type { StarterFramework } from "./shape.ts";
import { UNDECIDED_NOTE } from "./undecided.ts";

export interface Choice {
	framework: StarterFramework | undefined;
	/** Numbers of the controls of the framework. */
	controls: readonly string[];
	/** Keys of measures and risks. */
	measures: readonly string[];
	risks: readonly string[];
}

/**
 * Adds the chosen records that the organization does not have yet, and links each new record to the
 * starter records that belong to it. Returns how many were added.
 */
export async function addChosen(context: Context, choice: Choice) {
	const { client, membership } = context;
	requireScope(context);
	// Two calls at the same time would both find that a record is missing.
	await takeTransactionLocks(client, `starters ${membership.organizationId}`);
	const there = await findStarters(client, membership.organizationId, true);
	const added: Linked[] = [];
	const measures = await addMissing(context, measure, there.measures, added, {
		keys: choice.measures,
		valuesOf: (key) => {
			const { key: _, ...values } = byKey(STARTER_MEASURES, key);
			return values;
		},
	});
	const risks = await addMissing(context, risk, there.risks, added, {
		keys: choice.risks,
		valuesOf: (key) => {
			const { name, category, description, inherent } = byKey(
				STARTER_RISKS,
				key,
			);
			const [inherent_likelihood, inherent_impact] = inherent;
			const treatment = "MITIGATED";
			return {
				name,
				category,
				description,
				treatment,
				inherent_likelihood,
				inherent_impact,
				note: UNDECIDED_NOTE,
			};
		},
	});
	const key = choice.framework?.key;
	const isNewFramework = key !== undefined && !there.frameworks.has(key);
	const controls = await addControls(context, choice, there, added);
	const links = await linkAdded(context, there, added);
	const frameworks = isNewFramework ? 1 : 0;
	await noteCounts(context, { frameworks, controls, measures, risks, links });
	return {
		framework_id:
			key === undefined ? null : (there.frameworks.get(key) ?? null),
		added: { controls, measures, risks, links },
	};
}

/**
 * Notes how many records were added, because a call may have a thousand entries in the audit log.
 * The entry is the last of the call.
 */
async function noteCounts(
	{ client, membership, changed }: Context,
	counts: Record<string, number>,
): Promise<void> {
	const added = Object.entries(counts).filter(([, count]) => count > 0);
	if (added.length === 0) return;
	const id = membership.organizationId;
	const { rows } = await client.query<{ name: string }>(
		"select name from organizations where id = $1",
		[id],
	);
	changed({
		kind: "organization",
		id,
		name: rows[0]?.name ?? null,
		fields: { starter_records: { after: Object.fromEntries(added) } },
	});
}

/** Throws forbidden if the scope of the caller's token excludes one of the registers. */
function requireScope({ principal }: Context): void {
	const writes = [framework, control, measure, risk].map((kind) => ({
		name: `add${kind.tool.one}`,
		toolset: toolsetOf(kind),
		isReadOnly: false,
	}));
	for (const operation of [...writes, linkRecords]) {
		const excluded = outOfScope(principal, operation);
		if (excluded) throw new AppError("forbidden", excluded);
	}
}

interface Wanted {
	keys: readonly string[];
	valuesOf: (key: string) => Values;
}

/**
 * Adds the wanted records of a register that are not in `there`, and notes them in `there` and in
 * `added`. Returns their number.
 */
async function addMissing(
	context: Context,
	kind: AnyRecordKind,
	there: Map<string, Linked>,
	added: Linked[],
	{ keys, valuesOf }: Wanted,
): Promise<number> {
	const missing = keys.filter((key) => !there.has(key));
	const stored: { id: string }[] = [];
	for (const key of missing) {
		const values = prepareNew(kind, valuesOf(key));
		const id = await insertRecord(context, kind, values);
		const record = { id, kind: kind.kind, name: String(values.name) } as Linked;
		stored.push(record);
		there.set(key, record);
		added.push(record);
	}
	if (stored.length > 0) await noteStored(context, kind, stored);
	return stored.length;
}

async function addControls(
	context: Context,
	{ framework: chosen, controls }: Choice,
	there: Starters,
	added: Linked[],
): Promise<number> {
	if (!chosen) return 0;
	let frameworkId = there.frameworks.get(chosen.key);
	if (frameworkId === undefined) {
		const { name, version, description } = chosen;
		const values = prepareNew(framework, { name, version, description });
		frameworkId = await insertRecord(context, framework, values);
		await noteStored(context, framework, [{ id: frameworkId }]);
		there.frameworks.set(chosen.key, frameworkId);
	}
	const numbered = new Map(chosen.controls.map((one) => [one.number, one]));
	const controlsThere = there.controls.get(chosen.key) ?? new Map();
	there.controls.set(chosen.key, controlsThere);
	return addMissing(context, control, controlsThere, added, {
		keys: controls,
		valuesOf: (number) => {
			const one = numbered.get(number);
			if (!one) throw new Error(`${chosen.name} has no control ${number}`);
			return {
				framework_id: frameworkId,
				section_title: one.section,
				name: controlName(one),
			};
		},
	});
}

/**
 * Links the added records to the starter records that belong to them. Two records that were both
 * there before are not linked, because somebody may have removed their link. Returns the number of
 * links.
 */
async function linkAdded(
	context: Context,
	there: Starters,
	added: readonly Linked[],
): Promise<number> {
	const isNew = new Set(added.map(({ id }) => id));
	const others = new Map<Linked, Linked[]>();
	const pair = (one: Linked | undefined, measureKey: string) => {
		const other = there.measures.get(measureKey);
		if (!one || !other) return;
		const [first, second] = isNew.has(one.id) ? [one, other] : [other, one];
		if (!isNew.has(first.id)) return;
		others.set(first, [...(others.get(first) ?? []), second]);
	};
	for (const { key, measures } of STARTER_RISKS) {
		for (const one of measures) pair(there.risks.get(key), one);
	}
	for (const { key, controls } of STARTER_FRAMEWORKS) {
		const known = there.controls.get(key);
		for (const { number, measures } of controls) {
			for (const one of measures) pair(known?.get(number), one);
		}
	}
	let links = 0;
	for (const [record, linked] of others) {
		await storeLinks(context, record, linked);
		links += linked.length;
	}
	return links;
}

function byKey<One extends { key: string }>(
	all: readonly One[],
	key: string,
): One {
	const found = all.find((one) => one.key === key);
	if (!found) throw new Error(`there is no starter ${key}`);
	return found;
}

import type { PoolClient } from "pg";
import type { Linked } from "../records/links.ts";
import { controlName, STARTER_FRAMEWORKS } from "./all.ts";
import { STARTER_MEASURES } from "./measures.ts";
import { STARTER_RISKS } from "./risks.ts";

/** The starter records that an organization has, by their keys. */
export interface Starters {
	measures: Map<string, Linked>;
	risks: Map<string, Linked>;
	/** Ids of the frameworks. */
	frameworks: Map<string, string>;
	/** The controls of each framework, by their numbers. */
	controls: Map<string, Map<string, Linked>>;
}

/**
 * Finds the starter records of an organization. A record is known by its name, a framework by its
 * name and version. With `isLocked`, nobody can delete them before the end of the transaction.
 *
 * `offset 0` makes PostgreSQL compute the keys first. Behind row-level security, it does not look up
 * a function of another row in an index.
 */
export async function findStarters(
	client: PoolClient,
	organizationId: string,
	isLocked = false,
): Promise<Starters> {
	const lock = isLocked ? "for key share of t" : "";
	const named = async (
		kind: "measure" | "risk",
		table: string,
		all: readonly { key: string; name: string }[],
	) => {
		const { rows } = await client.query<{ id: string; key: string }>(
			`select t.id, n.key
			from (
				select n.key, n.name, sort_key(n.name) as name_key
				from unnest($2::text[], $3::text[]) n (key, name) offset 0
			) n
			join ${table} t on t.organization_id = $1 and t.name_key = n.name_key and t.name = n.name
			order by t.id ${lock}`,
			[organizationId, all.map(({ key }) => key), all.map(({ name }) => name)],
		);
		const names = new Map(all.map(({ key, name }) => [key, name]));
		return new Map(
			rows.map(({ id, key }): [string, Linked] => [
				key,
				{ id, kind, name: names.get(key) ?? null },
			]),
		);
	};
	return {
		measures: await named("measure", "measures", STARTER_MEASURES),
		risks: await named("risk", "risks", STARTER_RISKS),
		...(await findFrameworks(client, organizationId, lock)),
	};
}

async function findFrameworks(
	client: PoolClient,
	organizationId: string,
	lock: string,
): Promise<Pick<Starters, "frameworks" | "controls">> {
	const { rows } = await client.query<{ id: string; key: string }>(
		`select t.id, n.key
		from (
			select n.key, n.name, n.version, sort_key(n.name) as name_key
			from unnest($2::text[], $3::text[], $4::text[]) n (key, name, version) offset 0
		) n
		join frameworks t on t.organization_id = $1 and t.name_key = n.name_key
			and t.name = n.name and t.version is not distinct from n.version
		order by t.id ${lock}`,
		[
			organizationId,
			STARTER_FRAMEWORKS.map(({ key }) => key),
			STARTER_FRAMEWORKS.map(({ name }) => name),
			STARTER_FRAMEWORKS.map(({ version }) => version),
		],
	);
	const frameworks = new Map(rows.map(({ id, key }) => [key, id]));
	const wanted = STARTER_FRAMEWORKS.flatMap(({ key, controls }) => {
		const id = frameworks.get(key);
		return id ? controls.map((one) => ({ key, id, one })) : [];
	});
	const { rows: found } = await client.query<{ id: string; at: number }>(
		`select t.id, n.at::int as at
		from unnest($2::text[], $3::text[]) with ordinality n (framework_id, name, at)
		join controls t on t.organization_id = $1 and t.framework_id = n.framework_id and t.name = n.name
		order by t.id ${lock}`,
		[
			organizationId,
			wanted.map(({ id }) => id),
			wanted.map(({ one }) => controlName(one)),
		],
	);
	const controls = new Map<string, Map<string, Linked>>();
	for (const { id, at } of found) {
		const known = wanted[at - 1];
		if (!known) continue;
		const ofFramework = controls.get(known.key) ?? new Map<string, Linked>();
		controls.set(known.key, ofFramework);
		ofFramework.set(known.one.number, {
			id,
			kind: "control",
			name: controlName(known.one),
		});
	}
	return { frameworks, controls };
}

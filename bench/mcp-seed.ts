import type { Client } from "pg";
import { byteaArray } from "../src/db/array.ts";
import { makeId, makeIdWithoutTenant, makeOrganizationId } from "../src/id.ts";
import { ROLES, type Role } from "../src/principal.ts";
import { hashSecret, makeSecret } from "../src/tokens/secret.ts";

const ROWS = 5_000;
const THINGS = ["laptop", "server", "backup", "supplier", "building", "key"];
const HARMS = ["theft", "loss", "outage", "fire", "mistake", "takeover"];

export interface Register {
	organizations: string[];
	/** An API token of an administrator of each organization, in the order of the organizations. */
	tokens: string[];
	/** An API token for each role. They belong to users of the first organization. */
	byRole: Record<Role, string>;
	/**
	 * The ids of the risks, in the order of their organizations. Each organization has
	 * `perOrganization` of them.
	 */
	risks: string[];
	perOrganization: number;
}

/**
 * Stores risks, spread evenly over organizations. Each organization has an administrator with an
 * API token.
 */
export async function seedRegister(
	client: Client,
	size: { organizations: number; risks: number },
): Promise<Register> {
	const organizations = Array.from({ length: size.organizations }, () =>
		makeOrganizationId(),
	);
	await client.query(
		"insert into organizations (id, name) select id, 'Organization ' || n from unnest($1::text[]) with ordinality o (id, n)",
		[organizations],
	);
	const tokens: string[] = [];
	for (const organization of organizations) {
		tokens.push(await insertToken(client, organization, "admin"));
	}
	const [first = ""] = organizations;
	const byRole = {} as Record<Role, string>;
	for (const role of ROLES) {
		byRole[role] = await insertToken(client, first, role);
	}
	const perOrganization = Math.floor(size.risks / size.organizations);
	const all = organizations.flatMap((organization) =>
		Array.from({ length: perOrganization }, () => ({
			organization,
			id: makeId(organization, "risk"),
		})),
	);
	for (let at = 0; at < all.length; at += ROWS) {
		const part = all.slice(at, at + ROWS);
		await client.query(
			`insert into risks (
				organization_id, id, name, description, category, treatment, inherent_likelihood, inherent_impact,
				residual_likelihood, residual_impact, created_at, updated_at
			)
			select
				organization_id, id, ($3::text[])[1 + n % 6] || ' ' || ($4::text[])[1 + n / 6 % 6] || ' ' || n,
				'What happens when it does, and what is done about it; number ' || n, 'Category ' || n % 7,
				(array['MITIGATED', 'ACCEPTED', 'AVOIDED', 'TRANSFERRED'])[1 + n % 4], 1 + n % 5, 1 + n / 5 % 5,
				1, 1 + n % 5, now() - n * interval '1 minute', now()
			from (
				select organization_id, id, (n + $5)::integer as n
				from unnest($1::text[], $2::text[]) with ordinality r (organization_id, id, n)
			) r`,
			[
				part.map(({ organization }) => organization),
				part.map(({ id }) => id),
				THINGS,
				HARMS,
				at,
			],
		);
	}
	await client.query("vacuum (analyze)");
	await client.query("checkpoint");
	return {
		organizations,
		tokens,
		byRole,
		risks: all.map(({ id }) => id),
		perOrganization,
	};
}

export async function insertToken(
	client: Client,
	organization: string,
	role: Role,
): Promise<string> {
	const id = makeIdWithoutTenant("user");
	const token = makeSecret("pat");
	await client.query(
		"insert into users (id, name, email) values ($1, $2, $3)",
		[id, `Ada of ${organization}`, `${id.toLowerCase()}@example.com`],
	);
	await client.query(
		"insert into memberships (organization_id, user_id, role) values ($1, $2, $3)",
		[organization, id, role],
	);
	await client.query(
		"insert into api_tokens (id, user_id, name, token_hash) select $1, $2, 'benchmark', ($3::bytea[])[1]",
		[makeIdWithoutTenant("api_token"), id, byteaArray([hashSecret(token)])],
	);
	return token;
}

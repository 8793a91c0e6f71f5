import { type Command, InvalidArgumentError } from "commander";
import { appendChanges } from "../audit/log.ts";
import { readConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { transaction } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { operations } from "../operations.ts";
import { systemPrincipal } from "../principal.ts";
import { requireUser } from "../sign-in/users.ts";
import { MAX_TOKEN_DAYS, readExpiry } from "../tokens/api-token-operations.ts";
import {
	createdFields,
	findApiToken,
	insertApiToken,
	listTokens,
	markRevoked,
	tokenChanges,
} from "../tokens/api-token-store.ts";
import {
	reachedBy,
	readScopes,
	type Scopes,
	toolsetsOf,
} from "../tokens/scopes.ts";
import { COMMAND } from "../version.ts";
import { parseEmail } from "./email.ts";
import { parseName } from "./org.ts";
import { print, table } from "./output.ts";

import { withDatabase } from "./with-database.ts";

export function addApiToken(program: Command): void {
	const apiToken = program
		.command("api-token")
		.description("Manage API tokens, which let programs act for a user.");
	addCreate(apiToken);
	addList(apiToken);
	addRevoke(apiToken);
}

interface CreateOptions {
	user: string;
	name: string;
	description?: string;
	expires?: string | null;
	expiresInDays?: number;
	readOnly?: boolean;
	org?: string[];
	toolsets?: string[];
	json?: boolean;
}

function addCreate(apiToken: Command): void {
	apiToken
		.command("create")
		.description(
			"Create an API token and print its secret, which is shown only once.",
		)
		.requiredOption(
			"--user <address>",
			"e-mail address of the user that the token acts for",
			parseEmail,
		)
		.requiredOption(
			"--name <name>",
			"name that says what the token is for",
			parseName,
		)
		.option(
			"--description <text>",
			"longer description of the token",
			parseName,
		)
		.option(
			"--expires <date>",
			"last day on which the token works, such as 2027-01-31, or never (default: in a year)",
			parseExpiry,
		)
		.option(
			"--expires-in-days <days>",
			"days until the token expires, instead of --expires",
			parseDays,
		)
		.option("--read-only", "limit the token to tools that read")
		.option(
			"--org <id>",
			"limit the token to this organization; repeat the option for more (default: all of the user's)",
			(id: string, ids: string[] = []) => [...ids, id],
		)
		.option(
			"--toolsets <names>",
			"limit the token to these toolsets, such as risks,vendors (default: all)",
			(names: string) => names.split(",").map((name) => name.trim()),
		)
		.option("--json", "print the result as JSON")
		.action(async (options: CreateOptions) => {
			const { baseUrl } = readConfig(process.env);
			const { made, organizations, locked } = await withDatabase((database) =>
				create(database, options),
			);
			const { api_token, token } = made;
			print(
				options,
				{
					api_token,
					token,
					server_url: baseUrl,
					unreached_organizations: locked,
				},
				`API token ${api_token.id} of ${api_token.user.email}${organizations === 0 ? ", who is not a member of any organization yet" : ""}
${locked.map((one) => `It does not reach ${namesOf([one])}, which accepts only its identity provider. The user can create a token for it in the console, after signing in with that provider.\n`).join("")}Secret (shown only once${api_token.expires_at ? `, expires ${api_token.expires_at}` : ""}):
  export ASSAY_TOKEN=${token}

A first call:
  curl -H "Authorization: Bearer $ASSAY_TOKEN" ${baseUrl}/api/mcp/tools/listOrganizations
Claude Code (docs/mcp.md has other clients):
  claude mcp add --transport http assay ${baseUrl}/api/mcp/v1 --header "Authorization: Bearer $ASSAY_TOKEN"`,
			);
		});
}

async function create(
	{ pool, identityPool }: Database,
	options: CreateOptions,
) {
	const user = await requireUser(identityPool, options.user);
	const organizationIds = user.memberships.map((one) => one.organization_id);
	const expiresAt = readExpiry({
		expires_at: options.expires,
		expires_in_days: options.expiresInDays,
	});
	const scopes = readScopes(
		{
			read_only: options.readOnly,
			organization_ids: options.org,
			toolsets: options.toolsets,
		},
		organizationIds,
		toolsetsOf(operations),
	);
	const locked = await findLocked(identityPool, user.id, scopes);
	const reached = reachedBy(scopes, organizationIds).filter(
		(id) => !locked.some((one) => one.id === id),
	);
	if (locked.length > 0 && reached.length === 0) {
		throw new AppError(
			"forbidden",
			`the API token would reach no organization, because ${namesOf(locked)} ${locked.length === 1 ? "accepts only its identity provider" : "accept only their identity providers"}; let the user create a token in the console after signing in with the provider, or end the rule with \`assay org allow-passwords ID\``,
		);
	}
	const made = await transaction(pool, { userId: user.id }, async (client) => {
		const inserted = await insertApiToken(client, {
			userId: user.id,
			name: options.name,
			description: options.description ?? null,
			expiresAt,
			scopes,
		});
		await appendChanges(
			client,
			systemPrincipal(),
			"createApiToken",
			"",
			tokenChanges(
				inserted.api_token,
				createdFields(inserted.api_token),
				reached,
			),
		);
		return inserted;
	});
	return { made, organizations: organizationIds.length, locked };
}

interface Locked {
	id: string;
	name: string;
}

/**
 * Returns the user's organizations that a token from the command line does not reach, because they
 * accept only their identity provider.
 */
async function findLocked(
	identityPool: Database["identityPool"],
	userId: string,
	{ organization_ids }: Scopes,
): Promise<Locked[]> {
	const { rows } = await identityPool.query<Locked>(
		`select o.id, o.name from memberships m join organizations o on o.id = m.organization_id
		where m.user_id = $1 and ($2::text[] is null or o.id = any ($2))
			and not is_token_accepted(o.id, null, now())
		order by o.name, o.id`,
		[userId, organization_ids],
	);
	return rows;
}

function namesOf(organizations: readonly Locked[]): string {
	return organizations.map(({ id, name }) => `${name} (${id})`).join(" and ");
}

function addList(apiToken: Command): void {
	apiToken
		.command("list")
		.description("List a user's API tokens, newest first.")
		.requiredOption(
			"--user <address>",
			"e-mail address of the user",
			parseEmail,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: { user: string; json?: boolean }) => {
			const tokens = await withDatabase(async ({ pool, identityPool }) => {
				const { id } = await requireUser(identityPool, options.user);
				return transaction(pool, { userId: id, isReadOnly: true }, (client) =>
					listTokens(client, { userId: id }),
				);
			});
			print(
				options,
				{ api_tokens: tokens },
				tokens.length === 0
					? `No API tokens. Create one: ${COMMAND} api-token create --user ${options.user} --name <name>`
					: table(
							[
								"ID",
								"STATUS",
								"CREATED",
								"LAST USED",
								"EXPIRES",
								"SCOPES",
								"NAME",
							],
							tokens.map((token) => [
								token.id,
								token.is_old ? `${token.status}, OLD` : token.status,
								token.created_at,
								token.last_used_at ?? "never",
								token.expires_at ?? "never",
								describeScopes(token.scopes),
								token.name,
							]),
						),
			);
		});
}

function describeScopes({
	read_only,
	organization_ids,
	toolsets,
}: Scopes): string {
	const parts = [
		...(read_only ? ["read-only"] : []),
		...(organization_ids ? [`${organization_ids.length} organization(s)`] : []),
		...(toolsets ? [toolsets.join(",")] : []),
	];
	return parts.join("; ") || "all";
}

function addRevoke(apiToken: Command): void {
	apiToken
		.command("revoke <id>")
		.description("Revoke an API token; the next request with it is rejected.")
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: { json?: boolean }) => {
			const token = await withDatabase((database) => revoke(database, id));
			print(
				options,
				{ api_token: token },
				`The API token ${token.id} (${token.name}) is revoked.`,
			);
		});
}

/**
 * Revokes an API token. The audit log of each organization that the token reaches gets an entry.
 */
export async function revoke({ pool, identityPool }: Database, id: string) {
	const { rows } = await identityPool.query<{ email: string }>(
		"select u.email from api_tokens t join users u on u.id = t.user_id where t.id = $1",
		[id],
	);
	if (!rows[0]) {
		throw new AppError(
			"not_found",
			`there is no API token ${id}; \`assay api-token list --user <e-mail>\` lists a user's tokens`,
		);
	}
	const user = await requireUser(identityPool, rows[0].email);
	return transaction(pool, { userId: user.id }, async (client) => {
		const before = await findApiToken(client, id);
		const isNew = await markRevoked(client, id);
		const after = await findApiToken(client, id);
		if (!before || !after)
			throw new Error(
				`the API token ${id} was deleted while it was being revoked`,
			);
		if (isNew) {
			await appendChanges(
				client,
				systemPrincipal(),
				"revokeApiToken",
				"",
				tokenChanges(
					after,
					{ status: { before: before.status, after: after.status } },
					reachedBy(
						after.scopes,
						user.memberships.map((one) => one.organization_id),
					),
				),
			);
		}
		return after;
	});
}

/** Returns the end of the day in UTC. Returns null for "never". */
function parseExpiry(text: string): string | null {
	if (text === "never") return null;
	const at = new Date(`${text}T23:59:59Z`);
	if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(at.getTime())) {
		throw new InvalidArgumentError("Give a date such as 2027-01-31, or never.");
	}
	return at.toISOString();
}

function parseDays(text: string): number {
	const days = Number(text);
	if (!/^\d+$/.test(text) || days < 1 || days > MAX_TOKEN_DAYS) {
		throw new InvalidArgumentError(
			`Give a whole number from 1 to ${MAX_TOKEN_DAYS}.`,
		);
	}
	return days;
}

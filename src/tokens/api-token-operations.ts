import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { NOT_RFC3339 } from "../devices/rfc3339.ts";
import { AppError, badFields } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { idSchema, nameSchema, textSchema } from "../records/text-schemas.ts";
import { confinedTo } from "../sign-in/confined-session.ts";
import { requireFreshProof } from "../sign-in/fresh-proof.ts";
import { DAY_MS } from "../units.ts";
import {
	type ApiToken,
	apiToken,
	createdFields,
	findApiToken,
	insertApiToken,
	listTokens,
	markRevoked,
	type NewApiToken,
	tokenChanges,
} from "./api-token-store.ts";
import { reachedBy, readScopes, type Scopes, scopesInput } from "./scopes.ts";

export const MAX_TOKEN_DAYS = 3650;
/** Lifetime, in days, of a token if its user does not choose another. */
export const DEFAULT_TOKEN_DAYS = 365;
export const MAX_LIVE_TOKENS = 100;

const self = {
	toolset: "api_tokens",
	surface: "console",
	access: "self",
	tenant: null,
} as const;

const id = idSchema("api_token").describe("Id of the API token");
const one = z.object({ api_token: apiToken });
const created = z.object({
	api_token: apiToken,
	token: z.string().describe("The secret; shown only now"),
});

/**
 * Makes the operation createApiToken. `toolsets` returns the toolsets that a token may be limited
 * to.
 */
export const makeCreateApiToken = (toolsets: () => readonly string[]) =>
	defineOperation({
		...self,
		name: "createApiToken",
		title: "Create an API token",
		description:
			"Create an API token that acts for you in every organization you belong to, or in those you name. It expires after a year unless you say otherwise. Returns the secret, once.",
		input: z.strictObject({
			name: nameSchema().describe("Name that says what the token is for"),
			description: textSchema().nullable().optional(),
			expires_at: z.iso
				.datetime({
					offset: true,
					error: NOT_RFC3339,
				})
				.nullable()
				.optional()
				.describe("null: never"),
			expires_in_days: z.int().min(1).max(MAX_TOKEN_DAYS).optional(),
			...scopesInput,
		}),
		output: created,
		run: (context, input) =>
			addToken(context, {
				userId: userOf(context),
				name: input.name,
				description: input.description ?? null,
				expiresAt: readExpiry(input),
				scopes: scopesInReach(context, input, toolsets()),
			}),
	});

export const listApiTokens = defineOperation({
	...self,
	name: "listApiTokens",
	title: "List your API tokens",
	description:
		"List your API tokens with their last use and their calls of the last 30 days by day and by tool.",
	isReadOnly: true,
	input: z.strictObject({}),
	output: z.object({ api_tokens: z.array(apiToken) }),
	run: async (context) => {
		const tokens = await listTokens(context.client, {
			userId: userOf(context),
		});
		return {
			api_tokens: tokens.filter(({ scopes }) => isWithinReach(context, scopes)),
		};
	},
});

export const revokeApiToken = defineOperation({
	...self,
	name: "revokeApiToken",
	title: "Revoke an API token",
	description:
		"Revoke one of your API tokens. Its next request is rejected. This cannot be undone.",
	isDestructive: true,
	isIdempotent: true,
	input: z.strictObject({ id }),
	output: one,
	run: async (context, input) => {
		const token = await ownToken(context, input.id);
		await revoke(
			context,
			token,
			reachedBy(token.scopes, organizationsOf(context)),
		);
		return { api_token: await ownToken(context, input.id) };
	},
});

export const revokeApiTokens = defineOperation({
	...self,
	name: "revokeApiTokens",
	title: "Revoke several API tokens",
	description:
		"Revoke some of your API tokens at once, for example after somebody else may have used your account. Their next requests are rejected. This cannot be undone.",
	isDestructive: true,
	isIdempotent: true,
	input: z.strictObject({
		ids: z
			.array(id)
			.min(1)
			.max(MAX_LIVE_TOKENS)
			.describe("Ids of the API tokens"),
	}),
	output: z.object({ revoked_api_token_ids: z.array(z.string()) }),
	run: async (context, input) => {
		const ids = [...new Set(input.ids)].toSorted();
		for (const id of ids) {
			const token = await ownToken(context, id);
			const reached = reachedBy(token.scopes, organizationsOf(context));
			await revoke(context, token, reached);
		}
		return { revoked_api_token_ids: ids };
	},
});

export const rotateApiToken = defineOperation({
	...self,
	name: "rotateApiToken",
	title: "Rotate an API token",
	description:
		"Create a second API token with the description, scopes and lifetime of one of yours, under the same name or another. Revoke the first when nothing uses it.",
	input: z.strictObject({
		id,
		name: nameSchema()
			.optional()
			.describe("Name of the second token; by default that of the first"),
	}),
	output: created,
	run: async (context, input) => {
		const token = await ownToken(context, input.id);
		if (token.status === "REVOKED") {
			throw new AppError(
				"bad_request",
				"the API token is revoked; create a new one instead",
			);
		}
		if (token.app) {
			throw new AppError(
				"bad_request",
				"the program renews the secret itself; to change its limits, revoke it and connect the program again",
			);
		}
		const lifeMs =
			token.expires_at &&
			Date.parse(token.expires_at) - Date.parse(token.created_at);
		return addToken(context, {
			userId: userOf(context),
			name: input.name ?? token.name,
			description: token.description,
			expiresAt: lifeMs ? new Date(Date.now() + lifeMs) : null,
			scopes: token.scopes,
		});
	},
});

/**
 * Adds a token of the user. Throws forbidden without a fresh proof, and bad_request if the user has
 * too many.
 */
export async function addToken(context: Context, given: NewApiToken) {
	const { client } = context;
	await requireFreshProof(context);
	await enforceLimit(client, {
		lock: `api_tokens ${given.userId}`,
		from: "api_tokens where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())",
		values: [given.userId],
		max: MAX_LIVE_TOKENS,
		error: tooManyTokens,
	});
	const scopes = withinReach(context, given.scopes);
	requireReachable(context, scopes);
	const added = await insertApiToken(client, {
		...given,
		scopes,
		signInOrganizationId: context.principal.signInOrganizationId,
	});
	note(
		context,
		added.api_token,
		createdFields(added.api_token),
		reachedBy(scopes, organizationsOf(context)),
	);
	return added;
}

function tooManyTokens(): AppError {
	return new AppError(
		"bad_request",
		`you have ${MAX_LIVE_TOKENS} API tokens, which is the maximum; revoke one that you do not use`,
	);
}

/**
 * Revokes the token unless it has been revoked already. Notes the change for the audit log of each
 * organization in `organizationIds`.
 */
export async function revoke(
	context: Context,
	token: ApiToken,
	organizationIds: string[],
): Promise<void> {
	if (await markRevoked(context.client, token.id)) {
		const fields = { status: { before: token.status, after: "REVOKED" } };
		note(context, token, fields, organizationIds);
	}
}

function note(
	context: Context,
	...change: Parameters<typeof tokenChanges>
): void {
	for (const one of tokenChanges(...change)) context.changed(one);
}

async function ownToken(context: Context, id: string): Promise<ApiToken> {
	const token = await findApiToken(context.client, id);
	const isOwn = token?.user.id === userOf(context);
	if (!isOwn || !isWithinReach(context, token.scopes)) throw notFound(id);
	return token;
}

/** Returns true unless a token with these scopes reaches more than the caller's session. */
function isWithinReach(
	{ principal }: Context,
	{ organization_ids }: Scopes,
): boolean {
	const only = confinedTo(principal);
	if (only === undefined) return true;
	return organization_ids?.every((id) => id === only) ?? false;
}

/** Returns scopes that reach no more than the caller's session. */
function withinReach(context: Context, scopes: Scopes): Scopes {
	const only = confinedTo(context.principal);
	if (only === undefined) return scopes;
	const confined = { ...scopes, organization_ids: [only] };
	const isAsked = scopes.organization_ids?.includes(only) ?? true;
	if (isAsked && organizationsOf(context).includes(only)) return confined;
	throw new AppError(
		"forbidden",
		"permission denied: this session reaches only one organization, and the API token would not reach it; sign in another way for it",
	);
}

/**
 * Throws forbidden if a new token would reach nothing, because its organizations accept only their
 * identity provider.
 */
function requireReachable(context: Context, scopes: Scopes): void {
	const { closed = [], memberships } = context.principal;
	const isLocked =
		closed.some(({ why }) => why === "PROVIDER") ||
		memberships.some(({ isEmergency }) => isEmergency);
	const reached = reachedBy(scopes, organizationsOf(context));
	if (!isLocked || reached.length > 0) return;
	throw new AppError(
		"forbidden",
		"permission denied: the organization accepts only its identity provider, also for API tokens; sign in with it to make one",
	);
}

/**
 * Returns the scopes that the input asks for. Throws bad_request, and says why if the session does
 * not reach an organization of its user.
 */
export function scopesInReach(
	context: Context,
	input: Parameters<typeof readScopes>[0],
	toolsets: readonly string[],
): Scopes {
	const { closed = [], memberships } = context.principal;
	return readScopes(input, organizationsOf(context), toolsets, (id) => {
		const found = closed.find(({ organizationId }) => organizationId === id);
		if (found) return `is closed for this session: ${found.message}`;
		return memberships.some(
			({ organizationId, isEmergency }) => isEmergency && organizationId === id,
		)
			? "accepts only its identity provider, also for API tokens; sign in with it"
			: undefined;
	});
}

/** Returns the organizations that tokens can reach that are made in the caller's session. */
export function organizationsOf({ principal }: Context): string[] {
	return principal.memberships
		.filter(({ isEmergency }) => !isEmergency)
		.map(({ organizationId }) => organizationId);
}

function userOf({ principal }: Context): string {
	if (principal.userId === null) {
		throw new AppError(
			"forbidden",
			"permission denied: only a signed-in user has API tokens; sign in",
		);
	}
	return principal.userId;
}

/**
 * Returns the time at which a new token expires, or null if it never expires. The default is one
 * year. Throws bad_request if the input gives two times, or a time that is not within the next ten
 * years.
 */
export function readExpiry(input: {
	expires_at?: string | null | undefined;
	expires_in_days?: number | undefined;
}): Date | null {
	if (input.expires_in_days !== undefined) {
		if (input.expires_at) {
			throw badFields([
				{
					field: "expires_in_days",
					message:
						"must not be given together with expires_at; give one of the two",
				},
			]);
		}
		return new Date(Date.now() + input.expires_in_days * DAY_MS);
	}
	if (input.expires_at === null) return null;
	if (input.expires_at === undefined) {
		return new Date(Date.now() + DEFAULT_TOKEN_DAYS * DAY_MS);
	}
	const at = new Date(input.expires_at);
	const latest = Date.now() + MAX_TOKEN_DAYS * DAY_MS;
	if (!(at.getTime() > Date.now() && at.getTime() <= latest)) {
		throw badFields([
			{
				field: "expires_at",
				message: "must be in the future and at most ten years from now",
			},
		]);
	}
	return at;
}

import { z } from "zod";
import { badFields, type FieldIssue } from "../errors.ts";
import type { AnyOperation } from "../operation.ts";
import type { Principal } from "../principal.ts";

const MAX_ORGANIZATIONS = 100;
const MAX_TOOLSETS = 50;
/** Longest id, and longest name of a toolset, that is compared. */
const MAX_LENGTH = 100;

/**
 * Limits of an API token, besides those of its user's roles. Null means that the token is not
 * limited in this respect.
 */
export const scopesSchema = z.object({
	read_only: z.boolean(),
	organization_ids: z.array(z.string()).nullable(),
	toolsets: z.array(z.string()).nullable(),
});
export type Scopes = z.output<typeof scopesSchema>;

export const UNLIMITED: Scopes = Object.freeze({
	read_only: false,
	organization_ids: null,
	toolsets: null,
});

/** Input fields that limit a new token. A field that is left out does not limit it. */
export const scopesInput = {
	read_only: z
		.boolean()
		.optional()
		.describe("The token may call only tools that read"),
	organization_ids: z
		.array(z.string().max(MAX_LENGTH))
		.min(1)
		.max(MAX_ORGANIZATIONS)
		.nullable()
		.optional()
		.describe("The organizations that the token reaches; null: all of yours"),
	toolsets: z
		.array(z.string().max(MAX_LENGTH))
		.min(1)
		.max(MAX_TOOLSETS)
		.nullable()
		.optional()
		.describe("The toolsets that the token may call; null: all"),
};

/**
 * Returns the scopes that the input asks for, without duplicates. Throws bad_request for an
 * organization that is not one of `own`, or a toolset that does not exist. `whyNot` says why an
 * organization of the user is not among them.
 */
export function readScopes(
	input: {
		read_only?: boolean | undefined;
		organization_ids?: string[] | null | undefined;
		toolsets?: string[] | null | undefined;
	},
	own: readonly string[],
	toolsets: readonly string[],
	whyNot: (organizationId: string) => string | undefined = () => undefined,
): Scopes {
	const issues: FieldIssue[] = [];
	const check = (
		field: "organization_ids" | "toolsets",
		allowed: readonly string[],
		message: (value: string) => string,
	) => {
		input[field]?.forEach((value, index) => {
			if (!allowed.includes(value)) {
				issues.push({ field: `${field}[${index}]`, message: message(value) });
			}
		});
		return input[field] ? [...new Set(input[field])].sort() : null;
	};
	const scopes = {
		read_only: input.read_only ?? false,
		organization_ids: check(
			"organization_ids",
			own,
			(id) =>
				whyNot(id) ??
				"must be the id of an organization that the user belongs to",
		),
		toolsets: check(
			"toolsets",
			toolsets,
			() => `must be one of ${toolsets.join(", ")}`,
		),
	};
	if (issues.length > 0) throw badFields(issues);
	return scopes;
}

/** Returns the toolsets of all operations that are tools. Their order is that of the operations. */
export function toolsetsOf(operations: readonly AnyOperation[]): string[] {
	const tools = operations.filter(({ surface }) => surface === "tool");
	return [...new Set(tools.map(({ toolset }) => toolset))];
}

/**
 * Toolsets that the list of tools leaves out, because few clients need them and every tool in the
 * list costs a model tokens. A client can ask for them by name or with `all`. Their tools can be
 * called in any case.
 */
export const LISTED_ON_REQUEST: ReadonlySet<string> = new Set([
	"applicability",
	"archive",
	"comments",
	"compat",
	"device_policy",
	"documents",
	"enrollment_keys",
	"evidence",
	"exceptions",
	"fleet",
	"notifications",
	"snapshots",
	"starters",
	"vendor_reviews",
	"webhooks",
]);

/** Returns the organizations in `reached` that the scopes permit. */
export function reachedBy(
	{ organization_ids }: Scopes,
	reached: readonly string[],
): string[] {
	return reached.filter((id) => organization_ids?.includes(id) ?? true);
}

/**
 * Name of the operation that returns the organizations. Nearly every other tool needs their ids, so
 * no scope and no selection of tools removes this operation.
 */
export const ALWAYS_OFFERED = "listOrganizations";

/**
 * Returns why the scope of the caller's API token does not permit the operation. Returns undefined
 * if the scope permits it. Organizations outside the scope are missing from the caller's
 * memberships, so they need no check here.
 */
export function outOfScope(
	{ token }: Principal,
	{
		name,
		toolset,
		isReadOnly,
	}: Pick<AnyOperation, "name" | "toolset" | "isReadOnly">,
): string | undefined {
	if (!token) return undefined;
	if (token.isReadOnly && !isReadOnly) {
		return `permission denied: this API token is read-only and ${name} is a write tool; use a token that may write`;
	}
	const { toolsets } = token;
	if (toolsets && !toolsets.includes(toolset) && name !== ALWAYS_OFFERED) {
		return `permission denied: this API token may call only the toolsets ${toolsets.join(", ")}, and ${name} belongs to ${toolset}; use another token`;
	}
	return undefined;
}

import { z } from "zod";
import { normalAddress } from "../records/mail-address.ts";
import {
	emailSchema,
	lineSchema,
	nameSchema,
} from "../records/text-schemas.ts";
import { invalidValue, ScimError } from "./scim-error.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";

const MAX_TEXT = 320;
const MAX_EMAILS = 10;

/** Entra ID writes booleans as "True" and "False". */
const truth = z.preprocess(
	(value) =>
		typeof value === "string" && /^(?:true|false)$/i.test(value)
			? value.toLowerCase() === "true"
			: value,
	z.boolean(),
);

/** Returns a schema for an optional text. Null and an empty text mean that there is none. */
const text = () =>
	z.preprocess((value) => value || undefined, lineSchema(MAX_TEXT).optional());

const email = z.object({
	value: emailSchema(),
	type: text(),
	display: text(),
	primary: truth.nullish().transform((value) => value ?? undefined),
});

const user = z.object({
	username: nameSchema(MAX_TEXT),
	externalid: text(),
	active: truth.nullish(),
	displayname: text(),
	title: text(),
	name: z
		.object({ formatted: text(), familyname: text(), givenname: text() })
		.nullish(),
	emails: z.array(email).max(MAX_EMAILS).nullish(),
});

export interface Email {
	value: string;
	type?: string | undefined;
	display?: string | undefined;
	primary?: boolean | undefined;
}

/** The attributes of a user that a client may write, with the names of RFC 7643. */
export interface UserAttributes {
	userName: string;
	externalId?: string | undefined;
	/** Undefined if the client does not say it. */
	active?: boolean | undefined;
	displayName?: string | undefined;
	title?: string | undefined;
	name?:
		| {
				formatted?: string | undefined;
				familyName?: string | undefined;
				givenName?: string | undefined;
		  }
		| undefined;
	emails?: Email[] | undefined;
}

/**
 * Reads a user from the body of a request. Names of attributes may be written in any case. What
 * Assay does not keep is left out. Throws invalidValue, and names the attribute.
 */
export function readUser(body: object): UserAttributes {
	const { username, externalid, active, displayname, title, name, emails } =
		parse(user, lowerNames(body));
	const seen = new Set<string>();
	for (const { primary } of emails ?? []) {
		if (primary && seen.has("primary")) {
			throw invalidValue("emails: at most one of them may be primary");
		}
		if (primary) seen.add("primary");
	}
	return {
		userName: username,
		externalId: externalid,
		active: active ?? undefined,
		displayName: displayname,
		title,
		...(name && {
			name: {
				formatted: name.formatted,
				familyName: name.familyname,
				givenName: name.givenname,
			},
		}),
		...(emails?.length && { emails }),
	};
}

const WRITTEN: Record<string, string> = {
	username: "userName",
	externalid: "externalId",
	displayname: "displayName",
	familyname: "familyName",
	givenname: "givenName",
};

/** Parses a value, or throws invalidValue with the path of the first attribute that is wrong. */
export function parse<Schema extends z.ZodType>(
	schema: Schema,
	value: unknown,
): z.output<Schema> {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const path = (issue?.path ?? []).map((part) => WRITTEN[String(part)] ?? part);
	throw invalidValue(
		`${path.join(".") || "the body"}: ${issue?.message ?? "is wrong"}`,
	);
}

/** Returns the same value with all names in lower case, also those of nested objects. */
export function lowerNames(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(lowerNames);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, one]) => [
			name.toLowerCase(),
			lowerNames(one),
		]),
	);
}

/**
 * Returns the address of the user's account: the primary one, the one for work, the first one, or
 * the user name if that is an address.
 */
export function addressOf({ emails = [], userName }: UserAttributes): string {
	const found =
		emails.find(({ primary }) => primary) ??
		emails.find(({ type }) => type?.toLowerCase() === "work") ??
		emails[0];
	if (found) return normalAddress(found.value);
	if (emailSchema().safeParse(userName).success) return normalAddress(userName);
	throw invalidValue(
		"emails: an address is required, unless userName is an address",
	);
}

/** Returns the name of a new account. */
export function fullNameOf(attributes: UserAttributes): string {
	const { displayName, name } = attributes;
	const parts = [name?.givenName, name?.familyName].filter(Boolean).join(" ");
	const [local = ""] = addressOf(attributes).split("@");
	return displayName || name?.formatted || parts || local;
}

export interface Meta {
	created: string;
	lastModified: string;
	/** The address of the resource. */
	location: string;
}

/** Writes a user as RFC 7643 describes it. Attributes without a value are left out. */
export function writeUser(
	id: string,
	{ active, ...attributes }: UserAttributes & { active: boolean },
	groups: { value: string; display: string; $ref: string }[],
	meta: Meta,
): Record<string, unknown> {
	return {
		schemas: [USER_SCHEMA],
		id,
		...attributes,
		active,
		...(groups.length > 0 && {
			groups: groups.map((group) => ({ ...group, type: "direct" })),
		}),
		meta: { resourceType: "User", ...meta },
	};
}

/** Throws if the body is not a JSON object. */
export function requireObject(body: unknown): object {
	if (typeof body === "object" && body !== null && !Array.isArray(body)) {
		return body;
	}
	throw new ScimError(400, "the body must be a JSON object", "invalidSyntax");
}

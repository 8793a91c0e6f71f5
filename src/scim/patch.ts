import { z } from "zod";
import { lineSchema } from "../records/text-schemas.ts";
import { type Filter, type Path, parsePath } from "./filter.ts";
import { matches } from "./filter-match.ts";
import { ScimError } from "./scim-error.ts";
import { lowerNames, parse } from "./user-resource.ts";

/** Most operations in a PATCH request. */
const MAX_OPERATIONS = 100;
const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/** One operation of a PATCH request. Without a path, `value` is an object of attributes. */
export interface PatchOperation {
	op: "add" | "replace" | "remove";
	path?: Path;
	value: unknown;
}

const request = z.object({
	schemas: z.array(lineSchema(200)).max(10),
	operations: z
		.array(
			z.object({
				// Entra ID writes "Add", "Replace" and "Remove".
				op: z
					.string()
					.max(20)
					.transform((op) => op.toLowerCase())
					.pipe(z.enum(["add", "replace", "remove"])),
				path: z.string().nullish(),
				value: z.unknown().optional(),
			}),
		)
		.min(1)
		.max(MAX_OPERATIONS),
});

/** Reads the body of a PATCH request (RFC 7644 section 3.5.2). */
export function readPatch(body: object): PatchOperation[] {
	const { schemas, operations } = parse(request, lowerTop(body));
	if (!schemas.includes(PATCH_SCHEMA)) {
		throw new ScimError(
			400,
			`schemas must contain ${PATCH_SCHEMA}`,
			"invalidSyntax",
		);
	}
	return operations.map(({ op, path, value }) => {
		if (path) return { op, path: parsePath(path), value };
		if (op === "remove") {
			throw new ScimError(
				400,
				"path is required to remove something",
				"noTarget",
			);
		}
		if (typeof value !== "object" || value === null || Array.isArray(value)) {
			throw new ScimError(
				400,
				"value must be an object of attributes if there is no path",
				"invalidValue",
			);
		}
		return { op, value };
	});
}

/** Returns the body with the names of the message, and of its operations, in lower case. */
function lowerTop(body: object): unknown {
	return Object.fromEntries(
		Object.entries(body).map(([name, value]) => [
			name.toLowerCase(),
			Array.isArray(value)
				? value.map((one) =>
						typeof one === "object" && one !== null
							? Object.fromEntries(
									Object.entries(one).map(([key, inner]) => [
										key.toLowerCase(),
										inner,
									]),
								)
							: one,
					)
				: value,
		]),
	);
}

/**
 * Turns an operation without a path into operations with one. Names with dots, as Entra ID sends
 * them, are paths too. The id, the schemas and the like may be there, as Okta sends them, and
 * change nothing.
 */
export function withPaths(operation: PatchOperation): WithPath[] {
	const { op, path, value } = operation;
	if (path) return [{ op, path, value }];
	return Object.entries(value as object)
		.filter(([name]) => !/^(?:id|schemas|meta)$/i.test(name))
		.map(([name, one]) => ({ op, path: parsePath(name), value: one }));
}

export interface WithPath {
	op: PatchOperation["op"];
	path: Path;
	value: unknown;
}

const READ_ONLY = new Set(["id", "meta", "groups", "schemas"]);

/** Attributes of RFC 7643 that Assay does not keep. A change of them changes nothing. */
const NOT_KEPT = new Set([
	"addresses",
	"entitlements",
	"ims",
	"locale",
	"nickname",
	"password",
	"phonenumbers",
	"photos",
	"preferredlanguage",
	"profileurl",
	"roles",
	"timezone",
	"usertype",
	"x509certificates",
]);

const TEXTS = new Set(["username", "externalid", "displayname", "title"]);
const NAMES = new Set(["formatted", "familyname", "givenname"]);
const NAMES_NOT_KEPT = new Set([
	"middlename",
	"honorificprefix",
	"honorificsuffix",
]);
const EMAIL_PARTS = new Set(["value", "type", "primary", "display"]);

type Draft = Record<string, unknown>;

/**
 * Applies operations to a user and returns the result, which `readUser` has to check. Names are in
 * lower case.
 */
export function patchUser(user: object, operations: PatchOperation[]): object {
	const draft = lowerNames(user) as Draft;
	for (const operation of operations.flatMap(withPaths)) {
		patchAttribute(draft, operation);
	}
	return draft;
}

function patchAttribute(draft: Draft, operation: WithPath): void {
	const { op, path, value } = operation;
	const { attribute, filter, sub } = path;
	if (path.isExtension || NOT_KEPT.has(attribute)) return;
	if (READ_ONLY.has(attribute)) {
		throw new ScimError(400, `${attribute} cannot be changed`, "mutability");
	}
	if (attribute === "emails") {
		patchEmails(draft, operation);
		return;
	}
	if (filter) throw noSuchPath(attribute);
	if (attribute === "name") {
		patchName(draft, op, sub, value);
		return;
	}
	if (sub !== undefined || !(TEXTS.has(attribute) || attribute === "active")) {
		throw noSuchPath(attribute);
	}
	if (op === "remove") {
		if (attribute === "username" || attribute === "active") {
			throw new ScimError(400, `${attribute} is required`, "mutability");
		}
		delete draft[attribute];
	} else draft[attribute] = value;
}

function patchName(
	draft: Draft,
	op: WithPath["op"],
	sub: string | undefined,
	value: unknown,
): void {
	const name = { ...(draft.name as Draft | undefined) };
	if (sub !== undefined) {
		if (NAMES_NOT_KEPT.has(sub)) return;
		if (!NAMES.has(sub)) throw noSuchPath(`name.${sub}`);
		if (op === "remove") delete name[sub];
		else name[sub] = value;
		draft.name = name;
	} else if (op === "remove") delete draft.name;
	else draft.name = { ...name, ...(lowerNames(requirePart(value)) as Draft) };
}

function patchEmails(
	draft: Draft,
	{ op, path: { filter, sub }, value }: WithPath,
): void {
	const before = (draft.emails as Draft[] | undefined) ?? [];
	if (sub !== undefined && !EMAIL_PARTS.has(sub)) {
		throw noSuchPath(`emails.${sub}`);
	}
	if (!filter && sub === undefined) {
		draft.emails = patchList(before, op, value, "value");
		return;
	}
	const chosen = filter ? before.filter((one) => matches(one, filter)) : before;
	if (op === "remove") {
		draft.emails =
			sub === undefined
				? before.filter((one) => !chosen.includes(one))
				: before.map((one) => (chosen.includes(one) ? without(one, sub) : one));
		return;
	}
	const given =
		sub === undefined
			? (lowerNames(requirePart(value)) as Draft)
			: { [sub]: value };
	if (chosen.length === 0) {
		const named = filter && namedBy(filter);
		// RFC 7644 wants an error for "replace". Entra ID also sends "replace" for an address that is
		// not there yet, so a path that says what the new one is like adds it.
		const isNewAddress = sub === "value" && Object.keys(named ?? {}).length > 0;
		if (op === "replace" && filter && !isNewAddress) {
			throw new ScimError(400, "no address matches the path", "noTarget");
		}
		draft.emails = [...before, { ...named, ...given }];
		return;
	}
	const isNewPrimary = String(given.primary).toLowerCase() === "true";
	draft.emails = before.map((one) => {
		if (chosen.includes(one)) return { ...one, ...given };
		return isNewPrimary ? without(one, "primary") : one;
	});
}

/**
 * Applies an operation to a whole list. An element is known by its member `key`. Removing a value
 * removes these elements, as Entra ID does, and all of them without a value.
 */
function patchList(
	before: Draft[],
	op: WithPath["op"],
	value: unknown,
	key: string,
): Draft[] {
	const given = (value === undefined || value === null ? [] : [value].flat())
		.map(requirePart)
		.map((one) => lowerNames(one) as Draft);
	if (op === "replace") return given;
	const keyOf = (one: Draft) => String(one[key]).toLowerCase();
	const keys = new Set(given.map(keyOf));
	const others = before.filter((one) => !keys.has(keyOf(one)));
	if (op === "remove") return given.length === 0 ? [] : others;
	const hasPrimary = given.some(
		({ primary }) => String(primary).toLowerCase() === "true",
	);
	return [
		...others.map((one) => (hasPrimary ? without(one, "primary") : one)),
		...given,
	];
}

/** Returns the members that a filter such as `type eq "work"` says a new element has. */
function namedBy(filter: Filter): Draft {
	if (filter.kind === "and") {
		return { ...namedBy(filter.left), ...namedBy(filter.right) };
	}
	return filter.kind === "compare" && filter.operator === "eq"
		? { [filter.path]: filter.value }
		: {};
}

function without(one: Draft, name: string): Draft {
	const { [name]: _, ...rest } = one;
	return rest;
}

function requirePart(value: unknown): object {
	if (typeof value === "object" && value !== null && !Array.isArray(value)) {
		return value;
	}
	throw new ScimError(400, "value must be an object", "invalidValue");
}

export function noSuchPath(name: string): ScimError {
	return new ScimError(
		400,
		`path names ${name.slice(0, 100)}, which does not exist`,
		"invalidPath",
	);
}

import fc from "fast-check";
import { toJsonSchema } from "../../src/mcp/json-schema.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { bodiesOf } from "./inputs.ts";
import type { Body, Case, Target } from "./target.ts";
import { strangeText } from "./values.ts";

/**
 * Operations that end the caller's session or membership, or create another organization. Only
 * spare users call them.
 */
const FOR_SPARES = new Set([
	"createOrganization",
	"removeMember",
	"updateMember",
	"leaveOrganization",
	"revokeSession",
	"revokeOtherSessions",
	"resetTwoFactor",
	"revokeApiToken",
	"revokeApiTokens",
	"revokeOrganizationApiToken",
]);

const json = { "content-type": "application/json" };

/** Returns cases for an operation, through each of its doors. */
export function operationCases(
	target: Target,
	operation: AnyOperation,
): fc.Arbitrary<Case> {
	const { name, surface, isReadOnly } = operation;
	const actors = actorsFor(target, name);
	const bodies = bodiesOf(actors, operation);
	const bearer = fc
		.constantFrom(...actors.tokens)
		.map((token) => ({ ...json, authorization: `Bearer ${token}` }));
	const door = withBody(bodies, {
		name: fc.constant(`http ${name}`),
		method: fc.constantFrom("POST", "POST", "POST", "PUT"),
		path: fc.constant(`/api/mcp/tools/${name}`),
		headers: bearer,
	});
	const call = bodies.map(({ kind, text }) => ({
		kind,
		text: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${text || "null"}}}`,
	}));
	const mcp = withBody(call, {
		name: fc.constant(`mcp ${name}`),
		method: fc.constant("POST"),
		path: fc.constant("/api/mcp/v1"),
		headers: bearer,
	});
	const query = fc.record({
		name: fc.constant(`query ${name}`),
		kind: fc.constant("query string"),
		method: fc.constant("GET"),
		path: queryOf(target, operation).map(
			(text) => `/api/mcp/tools/${name}?${text}`,
		),
		headers: bearer,
		body: fc.constant(""),
	});
	const doors: fc.Arbitrary<Case>[] = [];
	if (actors.cookies.length > 0) {
		const console = withBody(bodies, {
			name: fc.constant(`console ${name}`),
			method: fc.constant("POST"),
			path: fc.constant(`/api/console/${name}`),
			headers: fc
				.constantFrom(...actors.cookies)
				.map((cookie) => ({ ...json, cookie, origin: target.url })),
		});
		doors.push(console);
	}
	if (surface === "tool") doors.push(door, mcp);
	if (surface === "tool" && isReadOnly) doors.push(query);
	// If no door can be used without harm, the cases use the door that denies the call.
	return fc.oneof(...(doors.length > 0 ? doors : [door]));
}

/** Returns calls without a mistake, through each door for operations. */
export function rightCalls(target: Target): fc.Arbitrary<Case> {
	const [token = ""] = target.tokens;
	const bearer = { ...json, authorization: `Bearer ${token}` };
	const name = "listOrganizations";
	const right = { kind: "right", method: "POST", headers: bearer, body: "{}" };
	return fc.constantFrom(
		{ ...right, name: `http ${name}`, path: `/api/mcp/tools/${name}` },
		{
			...right,
			name: `mcp ${name}`,
			path: "/api/mcp/v1",
			body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{}}}`,
		},
		{
			...right,
			name: `query ${name}`,
			method: "GET",
			path: `/api/mcp/tools/${name}`,
			body: "",
		},
		{
			...right,
			name: `console ${name}`,
			path: `/api/console/${name}`,
			headers: { ...json, cookie: target.cookie, origin: target.url },
		},
	);
}

/** Chooses the callers, their organization, and the records whose ids appear in the inputs. */
export function actorsFor(target: Target, operation: string) {
	if (!FOR_SPARES.has(operation)) {
		return { ...target, cookies: [target.cookie] };
	}
	if (target.spare) return target.spare;
	// The last token belongs to a viewer, whose calls are denied.
	return { ...target, tokens: target.tokens.slice(-1), cookies: [] };
}

/** Makes a case from each body, with the body's kind. */
export function withBody(
	bodies: fc.Arbitrary<Body>,
	rest: {
		[Name in "name" | "method" | "path"]: fc.Arbitrary<string>;
	} & { headers: fc.Arbitrary<Record<string, string>> },
): fc.Arbitrary<Case> {
	return fc
		.tuple(fc.record(rest), bodies)
		.map(([one, { kind, text }]) => ({ ...one, kind, body: text }));
}

function queryOf(
	target: Target,
	{ input }: AnyOperation,
): fc.Arbitrary<string> {
	const schema = toJsonSchema(input, "input");
	const names = Object.keys((schema.properties ?? {}) as object);
	const name = fc.oneof(
		fc.constantFrom(
			"organization_id",
			"filter.query",
			"order_by.field",
			...names,
		),
		strangeText,
	);
	const value = fc.oneof(
		fc.constantFrom(...target.ids, "1", "true"),
		strangeText,
	);
	return fc
		.array(fc.tuple(name, value), { maxLength: 5 })
		.map((pairs) =>
			new URLSearchParams([
				["organization_id", target.organizationId],
				...pairs,
			]).toString(),
		);
}

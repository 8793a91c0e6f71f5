import fc from "fast-check";
import { CANONICAL_CHECKS } from "../src/devices/terms.ts";
import { parseId } from "../src/id.ts";
import { type JsonSchema, toJsonSchema } from "../src/mcp/json-schema.ts";
import type { AnyOperation } from "../src/operation.ts";
import { operations } from "../src/operations.ts";

/** A service to be asked nonsense, and what opens its doors. */
export interface Target {
	url: string;
	organizationId: string;
	/** Ids of records, devices and people that there are; any of them may be named anywhere. */
	ids: string[];
	/** Keys of devices; one that was unenrolled is as good as any. */
	keys: string[];
	/** API tokens, of an administrator first. */
	tokens: string[];
	/** Of somebody who is signed in at the console. */
	cookie: string;
}

export interface Case {
	/** Which door, and what behind it: "mcp addRisk". */
	name: string;
	method: string;
	path: string;
	headers: Record<string, string>;
	body: string | Uint8Array;
}

/** JSON.stringify would lose these, or nobody would write them. */
const rawJson = fc.constantFrom(
	"",
	"null",
	"1e400",
	"-1e999",
	"12345678901234567890123",
	'{"__proto__":{"a":1}}',
	'{"constructor":{"prototype":{}}}',
	'{"a":1,"a":2}',
	'"\\ud800"',
	'"\\u0000"',
	"[".repeat(20_000),
	"[".repeat(5_000) + "]".repeat(5_000),
	`${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`,
	`"${"x".repeat(20_000)}"`,
	"{",
	"\ufeff{}",
	"{} trailing",
);

const strangeText = fc.oneof(
	fc.string({ unit: "binary", maxLength: 20 }),
	fc
		.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
		.map((units) => String.fromCharCode(...units)),
	fc.constantFrom(
		"",
		"\0",
		"\ud800",
		"\udc00a",
		"__proto__",
		"constructor",
		"A".repeat(32),
		"x".repeat(6_000),
		"%",
		"_",
		"\\",
		"'; drop table risks; --",
		"\u202e",
		"😀".repeat(400),
		"1900-02-30",
		"9999-12-31",
		"+275760-09-13",
		"http://",
		"javascript:alert(1)",
		"\n",
		"NaN",
		"{}",
	),
);

const strangeValue: fc.Arbitrary<unknown> = fc.oneof(
	{ weight: 3, arbitrary: strangeText },
	{
		weight: 2,
		arbitrary: fc.constantFrom<unknown>(
			null,
			true,
			0,
			-1,
			0.5,
			1e308,
			-1e308,
			2 ** 31,
			2 ** 53,
			-(2 ** 63),
			[],
			{},
			[[[]]],
			Array.from({ length: 300 }, () => "x"),
		),
	},
	{ weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Mostly an id of the kind that the name asks for, if there is one. */
function idFor(target: Target, name: string): fc.Arbitrary<string> {
	const named = name.replace(/_ids?$/, "");
	const kind = /^(owner|assigned_to|person)$/.test(named) ? "people" : named;
	const fitting = target.ids.filter((id) => parseId(id)?.kind === kind);
	const any = fc.constantFrom(...target.ids);
	if (fitting.length === 0) return any;
	return fc.oneof(
		{ weight: 6, arbitrary: fc.constantFrom(...fitting) },
		{ weight: 1, arbitrary: any },
	);
}

/** The kind of record that an operation's "id" means: getRisk, a risk. */
function kindOf(operation: AnyOperation): string {
	const noun = operation.name.replace(/^[a-z]+/, "");
	return noun.replace(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
}

/** Values that the schema asks for, as far as it says; `name` tells what it cannot. */
function goodFor(
	target: Target,
	name: string,
	schema: JsonSchema,
): fc.Arbitrary<unknown> {
	if (name === "organization_id") return fc.constant(target.organizationId);
	if (name === "id" || name.endsWith("_id") || name.endsWith("_ids")) {
		const id = idFor(target, name);
		return schema.type === "array" ? fc.array(id, { maxLength: 3 }) : id;
	}
	const types = [schema.type].flat();
	if (Array.isArray(schema.enum)) {
		return fc.constantFrom(...(schema.enum as unknown[]));
	}
	if (Array.isArray(schema.anyOf)) {
		const each = schema.anyOf.map((inner) =>
			goodFor(target, name, inner as JsonSchema),
		);
		return fc.oneof(...each);
	}
	if (schema.type === "object") {
		return inputOf(target, schema, (inner, property) =>
			goodFor(target, property, inner),
		);
	}
	if (types.includes("array")) {
		const items = (schema.items ?? {}) as JsonSchema;
		return fc.array(goodFor(target, name, items), { maxLength: 3 });
	}
	if (types.includes("integer") || types.includes("number")) {
		const min = Number(schema.minimum ?? 0);
		return fc.integer({ min, max: Number(schema.maximum ?? min + 10) });
	}
	if (types.includes("boolean")) return fc.boolean();
	if (name.includes("email")) {
		return fc.nat(9_999).map((number) => `person-${number}@example.com`);
	}
	if (name.endsWith("_url")) return fc.constant("https://example.com/a?b=c");
	if (/date|deadline|valid_|_at$|since|until|as_of/.test(name)) {
		return fc.constantFrom(
			"2026-01-31",
			"2024-02-29",
			"2026-12-01",
			"2026-03-31T08:00:00Z",
		);
	}
	if (name === "countries") return fc.constantFrom("DE", "CH");
	return fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
}

/** An object of the schema's properties: the required ones, and some of the others. */
function inputOf(
	target: Target,
	schema: JsonSchema,
	arbitraryOf: (inner: JsonSchema, name: string) => fc.Arbitrary<unknown> = (
		inner,
		name,
	) =>
		fc.oneof(
			{ weight: 8, arbitrary: goodFor(target, name, inner) },
			{ weight: 1, arbitrary: strangeValue },
		),
): fc.Arbitrary<Record<string, unknown>> {
	const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
	return fc.record(
		Object.fromEntries(
			Object.entries(properties).map(([name, inner]) => [
				name,
				arbitraryOf(inner, name),
			]),
		),
		{ requiredKeys: (schema.required ?? []) as never[] },
	);
}

/** Inputs of an operation: good ones, nearly good ones, and nonsense, as JSON text. */
function bodiesOf(
	everything: Target,
	operation: AnyOperation,
): fc.Arbitrary<string> {
	const schema = toJsonSchema(operation.input, "input");
	const own = everything.ids.filter(
		(id) => parseId(id)?.kind === kindOf(operation),
	);
	// Where there are records of the kind, most ids without a kind of their own are of it.
	const ids = [...own, ...own, ...own, ...everything.ids];
	const target = { ...everything, ids };
	const good = goodFor(target, "", { ...schema, type: "object" });
	const near = inputOf(target, schema);
	const surplus = fc
		.tuple(near, strangeText, strangeValue)
		.map(
			([input, name, value]) =>
				`{${JSON.stringify(name)}:${JSON.stringify(value) ?? "0"},${JSON.stringify(input).slice(1)}`,
		);
	const json = (value: unknown) => JSON.stringify(value) ?? "null";
	return fc.oneof(
		{ weight: 4, arbitrary: good.map(json) },
		{ weight: 6, arbitrary: near.map(json) },
		{ weight: 1, arbitrary: surplus },
		{ weight: 1, arbitrary: strangeValue.map(json) },
		{ weight: 1, arbitrary: rawJson },
	);
}

/** What ends the session or membership that the fuzzer works with, or makes it thousands of organizations. */
const ENDS_ITSELF = new Set([
	"createOrganization",
	"removeMember",
	"updateMember",
	"leaveOrganization",
	"revokeSession",
	"revokeOtherSessions",
	"resetTwoFactor",
	"revokeApiToken",
	"revokeOrganizationApiToken",
]);

function operationCases(
	target: Target,
	operation: AnyOperation,
): fc.Arbitrary<Case> {
	const { name, surface, isReadOnly } = operation;
	const bodies = bodiesOf(target, operation);
	// A viewer's token where success would take away what the other cases need.
	const tokens = ENDS_ITSELF.has(name)
		? target.tokens.slice(-1)
		: target.tokens;
	const json = { "content-type": "application/json" };
	const bearer = fc
		.constantFrom(...tokens)
		.map((token) => ({ ...json, authorization: `Bearer ${token}` }));
	const door = fc.record({
		name: fc.constant(`http ${name}`),
		method: fc.constantFrom("POST", "POST", "POST", "PUT"),
		path: fc.constant(`/api/mcp/tools/${name}`),
		headers: bearer,
		body: bodies,
	});
	const mcp = fc.record({
		name: fc.constant(`mcp ${name}`),
		method: fc.constant("POST"),
		path: fc.constant("/api/mcp/v1"),
		headers: bearer,
		body: bodies.map(
			(body) =>
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${body || "null"}}}`,
		),
	});
	const console = fc.record({
		name: fc.constant(`console ${name}`),
		method: fc.constant("POST"),
		path: fc.constant(`/api/console/${name}`),
		headers: fc.constant({
			...json,
			cookie: target.cookie,
			origin: target.url,
		}),
		body: bodies,
	});
	const query = fc.record({
		name: fc.constant(`query ${name}`),
		method: fc.constant("GET"),
		path: queryOf(target, operation).map(
			(text) => `/api/mcp/tools/${name}?${text}`,
		),
		headers: bearer,
		body: fc.constant(""),
	});
	const doors: fc.Arbitrary<Case>[] = [];
	if (!ENDS_ITSELF.has(name)) doors.push(console);
	if (surface === "tool") doors.push(door, mcp);
	if (surface === "tool" && isReadOnly) doors.push(query);
	// Without any door to fuzz safely, the one that refuses.
	return fc.oneof(...(doors.length > 0 ? doors : [door]));
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

const text = fc.oneof(
	{ weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 30 }) },
	{ weight: 1, arbitrary: strangeText },
);
const orStrange = (good: fc.Arbitrary<unknown>) =>
	fc.oneof(
		{ weight: 12, arbitrary: good },
		{ weight: 1, arbitrary: strangeValue },
	);

/** The Device Agent API; `unenroll` is rare, as it costs a key. */
function agentCases(target: Target): fc.Arbitrary<Case> {
	const time = fc.oneof(
		fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
		fc.constantFrom(
			"2026-03-31T08:00:00.123456789+14:00",
			"9999-12-31T23:59:60-23:59",
			"0000-01-01T00:00:00Z",
			"2026-02-30T00:00:00Z",
		),
	);
	const result = fc.record(
		{
			check_key: orStrange(
				fc.oneof(fc.constantFrom(...Object.keys(CANONICAL_CHECKS)), text),
			),
			status: orStrange(
				fc.constantFrom("PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE"),
			),
			observed_at: orStrange(time),
			evidence: orStrange(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }))),
			correlation_id: orStrange(
				fc.constantFrom<unknown>(null, "", ...target.ids.slice(0, 20)),
			),
		},
		{ requiredKeys: ["check_key", "status", "observed_at"] },
	);
	const bodies = {
		enroll: fc.record({ token: orStrange(text) }),
		heartbeat: fc.record(
			{
				hardware_uuid: orStrange(fc.uuid()),
				hostname: orStrange(text),
				platform: orStrange(
					fc.constantFrom("DARWIN", "LINUX", "FREEBSD", "WINDOWS"),
				),
				os_version: orStrange(text),
				agent_version: orStrange(text),
				serial_number: orStrange(text),
			},
			{
				requiredKeys: [
					"hardware_uuid",
					"hostname",
					"platform",
					"os_version",
					"agent_version",
				],
			},
		),
		postures: fc.record({
			results: orStrange(fc.array(orStrange(result), { maxLength: 5 })),
		}),
		unenroll: strangeValue,
	};
	const of = (route: keyof typeof bodies) =>
		fc.record({
			name: fc.constant(`agent ${route}`),
			method: fc.constantFrom("POST", "POST", "POST", "POST", "GET", "DELETE"),
			path: fc.constant(`/api/agent/v1/${route}`),
			headers: fc
				.constantFrom(...target.keys)
				.map((key) => ({ authorization: `Bearer ${key}` })),
			body: fc.oneof(
				{
					weight: 12,
					arbitrary: (bodies[route] as fc.Arbitrary<unknown>).map(
						(body) => JSON.stringify(body) ?? "",
					),
				},
				{ weight: 1, arbitrary: rawJson },
				{ weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
			),
		});
	return fc.oneof(
		{ weight: 2, arbitrary: of("enroll") },
		{ weight: 8, arbitrary: of("heartbeat") },
		{ weight: 12, arbitrary: of("postures") },
		{ weight: 1, arbitrary: of("unenroll") },
	);
}

/** JSON-RPC around the tools, and addresses and headers that nobody asked for. */
function otherCases(target: Target): fc.Arbitrary<Case> {
	const headers = {
		authorization: `Bearer ${target.tokens[0]}`,
		"content-type": "application/json",
		cookie: target.cookie,
		origin: target.url,
	};
	const message = fc.record(
		{
			jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "1.0", 2),
			id: fc.constantFrom<unknown>(1, "x", 1.5, null, {}),
			method: fc.oneof(
				fc.constantFrom(
					"tools/call",
					"tools/list",
					"initialize",
					"ping",
					"server/discover",
					"subscriptions/listen",
					"notifications/cancelled",
					"__proto__",
				),
				strangeText,
			),
			params: fc.oneof(strangeValue, fc.dictionary(strangeText, strangeValue)),
		},
		{ requiredKeys: [] },
	);
	const account = fc.record(
		{
			token: orStrange(fc.constantFrom("asy_set_x", "asy_rst_x", "asy_inv_x")),
			email: orStrange(fc.constant("nobody@example.com")),
			password: orStrange(fc.constant("not the password")),
			name: orStrange(text),
			organization_name: orStrange(text),
			code: strangeValue,
			rememberMe: strangeValue,
			callbackURL: strangeValue,
		},
		{ requiredKeys: [] },
	);
	const address = fc
		.array(
			fc.oneof(
				fc.constantFrom(
					"api",
					"..",
					"%2e%2e",
					"%00",
					"assets",
					"console",
					"auth",
					"export",
					"listRisks.csv",
					"health",
					"ready",
					".well-known",
					"%",
					"index.html",
					"etc",
					"passwd",
				),
				strangeText.map((part) => encodeURIComponent(part.toWellFormed())),
			),
			{ maxLength: 6 },
		)
		.map((parts) => `/${parts.join("/")}`);
	const of = (
		name: string,
		path: fc.Arbitrary<string>,
		body: fc.Arbitrary<string>,
		methods = ["POST"],
	) =>
		fc.record({
			name: fc.constant(name),
			method: fc.constantFrom(...methods),
			path,
			headers: fc.constant(headers),
			body,
		});
	const json = (value: unknown) => JSON.stringify(value) ?? "null";
	return fc.oneof(
		of("json-rpc", fc.constant("/api/mcp/v1"), message.map(json)),
		of(
			"account",
			fc.constantFrom(
				"/api/link",
				"/api/setup",
				"/api/join",
				"/api/forgot-password",
				"/api/reset-password",
				"/api/auth/get-session",
				"/api/auth/two-factor/verify-totp",
				"/api/auth/update-user",
			),
			fc.oneof(account.map(json), rawJson),
		),
		of("address", address, fc.constant(""), ["GET", "HEAD", "OPTIONS", "POST"]),
	);
}

/** Every door of the service, each operation as often as any other. */
export function casesOf(target: Target): fc.Arbitrary<Case> {
	const each = (operations as readonly AnyOperation[]).map((operation) =>
		operationCases(target, operation),
	);
	return fc.oneof(
		{ weight: 6, arbitrary: fc.oneof(...each) },
		{ weight: 3, arbitrary: agentCases(target) },
		{ weight: 1, arbitrary: otherCases(target) },
	);
}

import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import { actorsFor } from "../fuzz/operations.ts";
import type { Target } from "../fuzz/target.ts";
import { fullRecords, inputsOf, type NamedInput } from "./inputs.ts";
import { BODIES, EVIDENCE, FILES, fullReport, LISTS, TEXTS } from "./shapes.ts";

const MIB = 1 << 20;
const AGENT_SMALL = 16 * 1024;

export interface Case {
	/** The route or operation, and what the request sends to it. */
	subject: string;
	name: string;
	method: string;
	path: string;
	headers: Record<string, string>;
	body: () => string;
}

/**
 * Returns cases for every operation. The operations that write come first, so that those that read
 * find the fullest records.
 */
export function* operationCases(target: Target): Generator<Case> {
	const all = operations as readonly AnyOperation[];
	for (const each of all) if (!each.isReadOnly) yield* casesOf(target, each);
	const addRecords = all.find(({ name }) => name === "addRecords");
	if (addRecords) {
		for (const input of fullRecords(target)) {
			yield* throughDoors(target, addRecords, input);
		}
	}
	for (const each of all) if (each.isReadOnly) yield* casesOf(target, each);
}

function* casesOf(target: Target, operation: AnyOperation): Generator<Case> {
	for (const [shape, make] of Object.entries(BODIES)) {
		const [case_] = throughDoors(target, operation, {
			name: `body: ${shape}`,
			make: () => ({}),
		});
		if (case_) yield { ...case_, body: () => make(MIB - 2_000) };
	}
	for (const input of inputsOf(target, operation)) {
		const cases = throughDoors(target, operation, input);
		// The doors differ only in what is around the input. The fullest inputs pass through both.
		yield* input.name.startsWith("every field") ? cases : cases.slice(0, 1);
	}
	if ("size" in operation.input.shape) {
		yield* throughDoors(target, operation, largestPage(target, operation));
	}
}

/** Returns the input that asks for as many and as long rows as possible. */
function largestPage(target: Target, { input }: AnyOperation): NamedInput {
	const { organization_id, ...wanted } = {
		organization_id: target.organizationId,
		size: 100,
		detail: "full",
	};
	const known = Object.fromEntries(
		Object.entries(wanted).filter(([name]) => name in input.shape),
	);
	return { name: "a page of 100", make: () => ({ organization_id, ...known }) };
}

let calls = 0;

/** Returns the requests that send an input through each door of an operation. */
function throughDoors(
	target: Target,
	operation: AnyOperation,
	{ name, make }: NamedInput,
): Case[] {
	const { tokens, cookies } = actorsFor(target, operation.name);
	const json = { "content-type": "application/json" };
	const bearer = { ...json, authorization: `Bearer ${tokens[0]}` };
	const common = {
		subject: operation.name,
		method: "POST",
		body: () => JSON.stringify(make()),
	};
	if (operation.surface === "console") {
		const cookie = cookies[calls++ % cookies.length] ?? "";
		return [
			{
				...common,
				name: `${operation.name} ${name}`,
				path: `/api/console/${operation.name}`,
				headers: { ...json, cookie, origin: target.url },
			},
		];
	}
	return [
		{
			...common,
			name: `${operation.name} ${name}`,
			path: `/api/mcp/tools/${operation.name}`,
			headers: bearer,
		},
		{
			...common,
			name: `${operation.name} over MCP, ${name}`,
			path: "/api/mcp/v1",
			headers: { ...bearer, accept: "application/json, text/event-stream" },
			body: () =>
				JSON.stringify({
					jsonrpc: "2.0",
					id: 1,
					method: "tools/call",
					params: { name: operation.name, arguments: make() },
				}),
		},
	];
}

/**
 * Returns cases for the routes that are not operations, with every shape of body that each of them
 * accepts.
 */
export function* routeCases(target: Target): Generator<Case> {
	const page = { origin: target.url, "content-type": "application/json" };
	const device = { authorization: `Bearer ${target.keys[0]}` };
	const token = {
		authorization: `Bearer ${target.tokens[0]}`,
		"content-type": "application/json",
	};
	const routes = [
		["/api/mcp/v1", token, MIB, "params"],
		["/api/mcp/v1", {}, MIB, "params"],
		["/api/console/importRecords", page, 16 * MIB, "csv"],
		["/api/console/listRisks", page, MIB, "organization_id"],
		["/api/auth/sign-in/email", page, AGENT_SMALL, "email"],
		["/api/auth/sign-in/email", page, AGENT_SMALL, "password"],
		["/api/setup", page, AGENT_SMALL, "organization_name"],
		["/api/join", page, AGENT_SMALL, "token"],
		["/api/link", page, AGENT_SMALL, "token"],
		["/api/forgot-password", page, AGENT_SMALL, "email"],
		["/api/reset-password", page, AGENT_SMALL, "password"],
		["/api/my-devices/open", page, AGENT_SMALL, "token"],
		["/api/my-devices/new-link", page, AGENT_SMALL, "token"],
		["/api/stop-mails", page, 1024, "token"],
		["/api/stop-mails/choice", page, AGENT_SMALL, "token"],
		["/api/agent/v1/enroll", {}, AGENT_SMALL, "token"],
		["/api/agent/v1/heartbeat", device, AGENT_SMALL, "hostname"],
		["/api/agent/v1/postures", device, MIB, "results"],
		["/api/nothing", {}, MIB, "a"],
	] as const;
	for (const [path, headers, bytes, field] of routes) {
		const who = Object.keys(headers).join("+") || "nobody";
		const post = (label: string, body: () => string): Case => ({
			subject: path,
			name: `${path} (${who}) ${label}`,
			method: "POST",
			path,
			headers: { ...headers },
			body,
		});
		for (const [shape, make] of Object.entries(BODIES)) {
			yield post(`body: ${shape}`, () => make(bytes - 100));
		}
		for (const [shape, make] of Object.entries(TEXTS)) {
			yield post(`${field}: ${shape}`, () =>
				JSON.stringify({ [field]: make(bytes - 100) }),
			);
		}
		for (const [shape, make] of Object.entries(LISTS)) {
			yield post(`${field}: ${shape}`, () =>
				JSON.stringify({ [field]: make(bytes - 100) }),
			);
		}
	}
	for (const [shape, evidence] of Object.entries(EVIDENCE)) {
		for (const [number, key] of target.keys.entries()) {
			yield {
				subject: "/api/agent/v1/postures",
				name: `/api/agent/v1/postures a full report, ${shape}, of device ${number}`,
				method: "POST",
				path: "/api/agent/v1/postures",
				headers: { authorization: `Bearer ${key}` },
				body: () => fullReport(shape, evidence),
			};
		}
	}
	for (const [shape, make] of Object.entries(FILES)) {
		yield {
			subject: "/api/console/importRecords",
			name: `/api/console/importRecords (cookie) file: ${shape}`,
			method: "POST",
			path: `/api/console/importRecords?organization_id=${target.organizationId}&kind=asset`,
			headers: {
				cookie: target.cookie,
				origin: target.url,
				"content-type": "text/csv",
			},
			body: () => make(16 * MIB - 100),
		};
	}
	yield {
		subject: "/api/mcp/v1",
		name: "/api/mcp/v1 a batch of lists",
		method: "POST",
		path: "/api/mcp/v1",
		headers: token,
		body: () =>
			`[${Array.from({ length: 100 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`).join()}]`,
	};
}

import { request } from "node:http";
import { parseArgs } from "node:util";
import { toJsonSchema } from "../../src/mcp/json-schema.ts";
import { operations } from "../../src/operations.ts";
import { runOnStand } from "../failover/on-stand.ts";
import type { Stand } from "../faults/stand.ts";
import { makeTargets } from "../fuzz/seed.ts";
import type { Target } from "../fuzz/target.ts";
import { freePort } from "../own-service.ts";
import { describeMachine, toTable } from "../report.ts";
import { say } from "../run.ts";
import { BODIES, FILES, LISTS, TEXTS } from "./shapes.ts";

const USAGE = `Usage: npm run bench:stall -- [options]

Sends a service the largest permitted input of the worst shapes: to every route, and in every text
and list field of every operation, signed in and not. Prints the longest times for which the
service's event loop stood still, as processor time of its main thread. A request that takes more
than 50 ms is sent twice more, and the shortest time counts.

  --only <text>   send only the requests whose name contains this text
  --top <n>       number of longest times to print (25)
  --help          print this text

The exit code is 1 if the event loop stood still for more than 100 ms.
`;

const LIMIT_MS = 100;
/** Requests above this time are sent twice more, and the shortest time counts. */
const GOAL_MS = 50;
const MIB = 1 << 20;
const AGENT_SMALL = 16 * 1024;

interface Case {
	name: string;
	method: string;
	path: string;
	headers: Record<string, string>;
	body: () => string;
}

interface Result {
	name: string;
	status: number;
	ms: number;
}

type Schema = {
	type?: string | string[];
	properties?: Record<string, Schema>;
	items?: Schema;
	anyOf?: Schema[];
};

/**
 * Returns every field of a schema, with a function that builds a complete input around a value of
 * this field.
 */
function* fieldsOf(
	schema: Schema,
	name: string,
	wrap: (value: unknown) => unknown,
): Generator<{ name: string; types: Set<string>; wrap: typeof wrap }> {
	for (const each of [schema, ...(schema.anyOf ?? [])]) {
		for (const [key, inner] of Object.entries(each.properties ?? {})) {
			const within = (value: unknown) => wrap({ [key]: value });
			const all = [inner, ...(inner.anyOf ?? [])];
			const types = new Set(all.flatMap(({ type }) => type ?? []));
			yield { name: `${name}${key}`, types, wrap: within };
			yield* fieldsOf(inner, `${name}${key}.`, within);
		}
	}
}

function* operationCases(target: Target): Generator<Case> {
	const token = {
		authorization: `Bearer ${target.tokens[0]}`,
		"content-type": "application/json",
	};
	const session = {
		cookie: target.cookie,
		origin: target.url,
		"content-type": "application/json",
	};
	const room = MIB - 2_000;
	for (const { name, surface, input } of operations) {
		const door =
			surface === "tool"
				? { path: `/api/mcp/tools/${name}`, headers: token }
				: { path: `/api/console/${name}`, headers: session };
		const post = (label: string, body: () => string): Case => ({
			name: `${name} ${label}`,
			method: "POST",
			...door,
			body,
		});
		for (const [shape, make] of Object.entries(BODIES)) {
			yield post(`body: ${shape}`, () => make(room));
		}
		const schema = toJsonSchema(input, "input") as Schema;
		for (const field of fieldsOf(schema, "", (value) => value)) {
			const put = (value: unknown) =>
				JSON.stringify({
					organization_id: target.organizationId,
					...(field.wrap(value) as object),
				});
			if (field.types.has("string")) {
				for (const [shape, make] of Object.entries(TEXTS)) {
					yield post(`${field.name}: ${shape}`, () => put(make(room / 2)));
				}
			}
			if (field.types.has("array")) {
				for (const [shape, make] of Object.entries(LISTS)) {
					yield post(`${field.name}: ${shape}`, () => put(make(room)));
				}
			}
		}
	}
}

/**
 * Returns cases for the routes that are not operations, with every shape of body that each of them
 * accepts.
 */
function* routeCases(target: Target): Generator<Case> {
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
		["/api/agent/v1/enroll", {}, AGENT_SMALL, "token"],
		["/api/agent/v1/heartbeat", device, AGENT_SMALL, "hostname"],
		["/api/agent/v1/postures", device, MIB, "results"],
		["/api/nothing", {}, MIB, "a"],
	] as const;
	for (const [path, headers, bytes, field] of routes) {
		const who = Object.keys(headers).join("+") || "nobody";
		const post = (label: string, body: () => string): Case => ({
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
	const result = JSON.stringify({
		check_key: "x".repeat(200),
		status: "FAIL",
		evidence: { a: Array(2_000).fill({ b: "x" }) },
		observed_at: "2026-01-01T00:00:00.123456789+01:00",
	});
	yield {
		name: "/api/agent/v1/postures full report",
		method: "POST",
		path: "/api/agent/v1/postures",
		headers: device,
		body: () =>
			`{"results":[${Array(Math.min(100, Math.floor(MIB / (result.length + 1))))
				.fill(result)
				.join()}]}`,
	};
	for (const [shape, make] of Object.entries(FILES)) {
		yield {
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
		name: "/api/mcp/v1 a batch of lists",
		method: "POST",
		path: "/api/mcp/v1",
		headers: token,
		body: () =>
			`[${Array.from({ length: 100 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`).join()}]`,
	};
}

function send(
	url: string,
	{ method, path, headers, body }: Case,
): Promise<number> {
	return new Promise((resolve) => {
		const text = body();
		const sent = request(
			url + path,
			{
				method,
				headers: { ...headers, "content-length": Buffer.byteLength(text) },
			},
			(response) => {
				response.resume();
				response.on("end", () => resolve(response.statusCode ?? 0));
				response.on("error", () => resolve(0));
			},
		);
		// The service may answer and close the connection before it has read the whole request.
		sent.on("error", () => resolve(0));
		sent.end(text);
	});
}

async function run(stand: Stand, port: number): Promise<number> {
	const [target] = await makeTargets(stand);
	if (!target) throw new Error("there is no target");
	const longestMs = async () =>
		Number(await (await fetch(`http://127.0.0.1:${port}/`)).text());
	const measure = async (one: Case): Promise<Result> => {
		await longestMs();
		const status = await send(target.url, one);
		return { name: one.name, status, ms: await longestMs() };
	};
	const only = values.only ?? "";
	const results: Result[] = [];
	let sent = 0;
	for (const cases of [routeCases(target), operationCases(target)]) {
		for (const one of cases) {
			if (!one.name.includes(only)) continue;
			const result = await measure(one);
			for (let again = 0; again < 2 && result.ms > GOAL_MS; again++) {
				result.ms = Math.min(result.ms, (await measure(one)).ms);
			}
			results.push(result);
			if (++sent % 500 === 0) say(`${sent} requests`);
		}
	}
	results.sort((a, b) => b.ms - a.ms);
	const top = results.slice(0, Number(values.top));
	const over = results.filter(({ ms }) => ms > LIMIT_MS).length;
	process.stdout.write(
		[
			`${describeMachine(undefined)}; ${results.length} requests, ${over} of them above ${LIMIT_MS} ms`,
			toTable(
				["request", "status", "event loop stood still, ms"],
				top.map(({ name, status, ms }) => [name, status, ms.toFixed(0)]),
			),
			"",
		].join("\n\n"),
	);
	return over > 0 ? 1 : 0;
}

const { values } = parseArgs({
	options: {
		only: { type: "string" },
		top: { type: "string", default: "25" },
		help: { type: "boolean", default: false },
	},
});
if (values.help) process.stdout.write(USAGE);
else {
	const port = await freePort();
	process.env.STALL_PORT = String(port);
	process.env.NODE_OPTIONS = `--import ${new URL("watch.ts", import.meta.url).href}`;
	await runOnStand(10, (stand) => run(stand, port));
}

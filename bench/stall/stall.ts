import { request } from "node:http";
import { parseArgs } from "node:util";
import { runOnStand } from "../failover/on-stand.ts";
import type { Stand } from "../faults/stand.ts";
import { makeTargets } from "../fuzz/seed.ts";
import { freePort } from "../own-service.ts";
import { describeMachine, toTable } from "../report.ts";
import { say } from "../run.ts";
import { type Case, operationCases, routeCases } from "./cases.ts";

const USAGE = `Usage: npm run bench:stall -- [options]

Sends a service the largest permitted input of the worst shapes: to every route, and in every text
and list field of every operation, signed in and not. Prints for each route and operation the
request for which the service's event loop stood still longest, as processor time of its main
thread. A request that takes more than 50 ms is sent twice more, and the shortest time counts.

  --only <text>   send only the requests whose name contains this text
  --top <n>       number of routes and operations to print (25)
  --help          print this text

The exit code is 1 if the event loop stood still for more than 100 ms.
`;

const LIMIT_MS = 100;
/** Requests above this time are sent twice more, and the shortest time counts. */
const GOAL_MS = 50;
interface Result extends Case {
	status: number;
	ms: number;
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
		return { ...one, status, ms: await longestMs() };
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
	const longest = new Map<string, Result>();
	for (const result of results.toReversed()) {
		longest.set(result.subject, result);
	}
	const top = [...longest.values()]
		.sort((a, b) => b.ms - a.ms)
		.slice(0, Number(values.top));
	const over = results.filter(({ ms }) => ms > LIMIT_MS).length;
	const accepted = results.filter(({ status }) => status < 300).length;
	process.stdout.write(
		[
			describeMachine(undefined),
			`${results.length} requests to ${longest.size} routes and operations; ${accepted} were accepted; ${over} took more than ${LIMIT_MS} ms`,
			toTable(
				["longest request of each", "status", "event loop stood still, ms"],
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

import { parseArgs } from "node:util";
import { runOnStand } from "./failover/on-stand.ts";
import type { Stand } from "./faults/stand.ts";
import { openPeople } from "./fuzz/seed.ts";
import { Histogram } from "./histogram.ts";
import { seedRegister } from "./mcp-seed.ts";
import { describeMachine, toTable } from "./report.ts";
import { say } from "./run.ts";

const USAGE = `Usage: npm run bench:exports -- [options]

Starts a service, sends it 120 exports at once from one viewer's session, and measures the calls of
other users at the same time. The other users belong to the same organization and to another one,
and use the console and plain HTTP. Each round begins with a quiet time, for comparison. Takes about
a minute.

  --rounds <n>   number of rounds (5)
  --risks <n>    number of risks in each export (10000)
  --help         print this text

The exit code is 1 if another user got 503 or another error, or if the others' p95 was more than
twice that of the quiet time.
`;

const EXPORTS = 120;
const QUIET_CALLS = 60;

interface User {
	name: string;
	call: () => Promise<number>;
}

/** Calls as every user in turn until `isOver`, and records the times. Returns the failures. */
async function callAll(
	users: User[],
	times: Histogram,
	isOver: () => boolean,
): Promise<string[]> {
	const failures: string[] = [];
	const callOne = async ({ name, call }: User) => {
		while (!isOver()) {
			const at = performance.now();
			const status = await call();
			times.recordMs(performance.now() - at);
			if (status !== 200) failures.push(`${name}: ${status}`);
		}
	};
	await Promise.all(users.map(callOne));
	return failures;
}

async function run(stand: Stand): Promise<number> {
	const { organizations, tokens } = await stand.asOwner((client) =>
		seedRegister(client, {
			organizations: 2,
			risks: 2 * Number(values.risks),
		}),
	);
	const [mine = "", elsewhere = ""] = organizations;
	const people = await openPeople(stand);
	const viewer = await people.join(mine, "viewer@example.com", "viewer");
	const colleague = await people.join(mine, "colleague@example.com", "member");
	const stranger = await people.join(
		elsewhere,
		"stranger@example.com",
		"admin",
	);
	await people.close();

	const read = async (
		path: string,
		headers: Record<string, string>,
		body?: object,
	) => {
		const response = await fetch(people.url + path, {
			headers: {
				...headers,
				origin: people.url,
				"content-type": "application/json",
			},
			...(body && { method: "POST", body: JSON.stringify(body) }),
		});
		await response.arrayBuffer();
		return response.status;
	};
	const fromConsole = (organization_id: string, cookie: string) => () =>
		read("/api/console/listRisks", { cookie }, { organization_id });
	const overHttp =
		(organization_id: string, token = "") =>
		() =>
			read(
				"/api/mcp/tools/listRisks",
				{ authorization: `Bearer ${token}` },
				{ organization_id },
			);
	const users: User[] = [
		{
			name: "console, same organization",
			call: fromConsole(mine, colleague.cookie),
		},
		{
			name: "console, other organization",
			call: fromConsole(elsewhere, stranger.cookie),
		},
		{ name: "plain HTTP, same organization", call: overHttp(mine, tokens[0]) },
		{
			name: "plain HTTP, other organization",
			call: overHttp(elsewhere, tokens[1]),
		},
	];

	const quiet = new Histogram();
	const busy = new Histogram();
	const failures: string[] = [];
	const exported: Record<number, number> = {};
	for (let round = 1; round <= Number(values.rounds); round++) {
		say(`round ${round}`);
		const until = quiet.total + QUIET_CALLS * users.length;
		failures.push(...(await callAll(users, quiet, () => quiet.total >= until)));
		let isOver = false;
		const exports = Promise.all(
			Array.from({ length: EXPORTS }, async () => {
				const status = await read(
					`/api/console/export/listRisks.csv?organization_id=${mine}`,
					{ cookie: viewer.cookie },
				);
				exported[status] = (exported[status] ?? 0) + 1;
			}),
		).finally(() => {
			isOver = true;
		});
		failures.push(...(await callAll(users, busy, () => isOver)));
		await exports;
	}
	const p95 = quiet.quantileMs(0.95);
	const p95Busy = busy.quantileMs(0.95);
	const isKept = failures.length === 0 && p95Busy <= 2 * p95;
	const rowOf = (name: string, times: Histogram) => [
		name,
		times.total,
		...[0.5, 0.95, 0.99].map((share) => times.quantileMs(share).toFixed(1)),
	];
	process.stdout.write(
		[
			`${describeMachine(undefined)}; exports by status: ${JSON.stringify(exported)}`,
			toTable(
				["other users' calls", "calls", "p50 ms", "p95 ms", "p99 ms"],
				[rowOf("quiet", quiet), rowOf("during the exports", busy)],
			),
			`Failed calls: ${failures.length}. p95 is ${(p95Busy / p95).toFixed(2)} times the quiet one.`,
			...failures.slice(0, 5),
			"",
		].join("\n\n"),
	);
	return isKept ? 0 : 1;
}

const { values } = parseArgs({
	options: {
		rounds: { type: "string", default: "5" },
		risks: { type: "string", default: "10000" },
		help: { type: "boolean", default: false },
	},
});
if (values.help) process.stdout.write(USAGE);
else await runOnStand(10, run);

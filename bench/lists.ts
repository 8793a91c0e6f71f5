import { parseArgs } from "node:util";
import type { AnyRecordKind } from "../src/records/kind.ts";
import { recordKinds } from "../src/registers/all.ts";
import { runOnStand } from "./failover/on-stand.ts";
import type { Stand } from "./faults/stand.ts";
import { Histogram } from "./histogram.ts";
import { MAX_MS, type Question, questionsOf } from "./lists-questions.ts";
import { fillOrganization } from "./lists-seed.ts";
import { describeMachine, toTable } from "./report.ts";
import { say } from "./run.ts";

const USAGE = `Usage: npm run bench:lists -- [options]

Fills one organization with a million risks and a million tasks, and ten others with a tenth of that
each. Then reads every list in every order, with every filter in every order, searches, and counts.
Takes about half an hour with the defaults, most of it for filling.

  --records <n>   records of each kind in the large organization (1000000)
  --kinds <list>  registers, by their kind (risk,task)
  --calls <n>     calls of each question (30); a slow one gets fewer, within 3 s
  --only <text>   ask only the questions that contain this text
  --slowest <n>   number of questions to print (25)
  --help          print this text

The exit code is 1 if the p99 of a list exceeds 20 ms, or that of a count of a whole register 1 s.
`;

const OTHERS = 10;
const WARM_CALLS = 3;
/** A slow question is asked no more after this time, so that the benchmark comes to its end. */
const MAX_QUESTION_MS = 3_000;

async function run({ asOwner, service }: Stand): Promise<number> {
	const records = Number(values.records);
	const kinds = values.kinds.split(",").map((name) => {
		const found = recordKinds.find(({ kind }) => kind === name);
		if (!found) throw new Error(`there is no register of the kind ${name}`);
		return found as AnyRecordKind;
	});
	const large = await asOwner(async (client) => {
		say(`filling one organization with ${records} records of each kind`);
		const filled = await fillOrganization(client, kinds, records);
		for (let other = 1; other <= OTHERS; other++) {
			say(`filling organization ${other} of ${OTHERS} others`);
			await fillOrganization(client, kinds, Math.floor(records / OTHERS));
		}
		await client.query("vacuum (analyze)");
		await client.query("checkpoint");
		return filled;
	});
	const questions: Question[] = [
		...kinds.flatMap((kind) => questionsOf(kind, large)),
		{
			name: "getOverview",
			type: "count" as const,
			tool: "getOverview",
			input: { organization_id: large.id },
		},
	].filter(({ name }) => name.includes(values.only));

	const ask = async ({ tool, input }: Question) => {
		const response = await fetch(
			`http://127.0.0.1:${service.port}/api/mcp/tools/${tool}`,
			{
				method: "POST",
				headers: {
					authorization: `Bearer ${large.token}`,
					"content-type": "application/json",
				},
				body: JSON.stringify(input),
			},
		);
		const text = await response.text();
		if (response.status !== 200) throw new Error(`${tool}: ${text}`);
		return JSON.parse(text) as { total?: number };
	};
	const rows = [];
	for (const question of questions) {
		const end = performance.now() + MAX_QUESTION_MS;
		const isLate = () => performance.now() > end;
		for (let call = 0; call < WARM_CALLS && !isLate(); call++) {
			await ask(question);
		}
		const times = new Histogram();
		let total: number | undefined;
		let calls = 0;
		while (calls === 0 || (calls < Number(values.calls) && !isLate())) {
			const at = performance.now();
			({ total } = await ask(question));
			times.recordMs(performance.now() - at);
			calls++;
		}
		const [p50, p99] = [0.5, 0.99].map((share) => times.quantileMs(share));
		rows.push({
			...question,
			total,
			calls,
			p50: p50 as number,
			p99: p99 as number,
		});
	}
	const broken = rows.filter(({ type, p99 }) => p99 > MAX_MS[type]);
	const slowest = rows
		.toSorted((a, b) => b.p50 / MAX_MS[b.type] - a.p50 / MAX_MS[a.type])
		.slice(0, Number(values.slowest));
	process.stdout.write(
		[
			`${describeMachine(undefined)}; ${records} records of each kind in one organization, ${OTHERS} others with a tenth each`,
			toTable(
				["the slowest questions", "total", "calls", "p50 ms", "p99 ms"],
				slowest.map(({ name, total, calls, p50, p99 }) => [
					name,
					total ?? "–",
					calls,
					p50.toFixed(1),
					p99.toFixed(1),
				]),
			),
			`${rows.length} questions, ${broken.length} of them slower than promised.`,
			"",
		].join("\n\n"),
	);
	return broken.length === 0 ? 0 : 1;
}

const { values } = parseArgs({
	options: {
		records: { type: "string", default: "1000000" },
		kinds: { type: "string", default: "risk,task" },
		calls: { type: "string", default: "30" },
		only: { type: "string", default: "" },
		slowest: { type: "string", default: "25" },
		help: { type: "boolean", default: false },
	},
});
if (values.help) process.stdout.write(USAGE);
else await runOnStand(10, run);

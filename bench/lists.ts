import { parseArgs } from "node:util";
import type { AnyRecordKind } from "../src/records/kind.ts";
import { recordKinds } from "../src/registers/all.ts";
import { runOnStand } from "./failover/on-stand.ts";
import type { Stand } from "./faults/stand.ts";
import { openPeople } from "./fuzz/seed.ts";
import { Histogram } from "./histogram.ts";
import { exportRegister } from "./lists-export.ts";
import {
	countsOf,
	MAX_MS,
	type Question,
	questionsOf,
} from "./lists-questions.ts";
import { type FilledOrganization, fillOrganization } from "./lists-seed.ts";
import { readUsage, type Usage } from "./measure.ts";
import { describeMachine, toTable } from "./report.ts";
import { say } from "./run.ts";

const USAGE = `Usage: npm run bench:lists -- [options]

Fills one organization with a million risks and a million tasks, and ten others with a tenth of
that each. Then reads every list in every order, with every filter in every order, searches, and
reads what counts whole registers: of the large organization and of one of the others. Takes about
35 minutes with the defaults, ten of them for filling.

  --records <n>   records of each kind in the large organization (1000000)
  --others <n>    number of other organizations, each with a tenth of that (10)
  --kinds <list>  registers, by their kind (risk,task)
  --calls <n>     calls of each question (30); a slow one gets fewer, within 3 s
  --only <texts>  ask only the questions that contain one of these texts, separated by semicolons:
                  list, count, export, or a part of a name
  --slowest <n>   number of questions to print (25)
  --help          print this text

The exit code is 1 if the p99 of a list exceeds 20 ms, or that of a count of a whole register 1 s.
`;

const WARM_CALLS = 3;
/** A slow question is asked no more after this time, so that the benchmark comes to its end. */
const MAX_QUESTION_MS = 3_000;

async function run(stand: Stand): Promise<number> {
	const { asOwner, service, postgres } = stand;
	const records = Number(values.records);
	const others = Number(values.others);
	const only = values.only.split(";");
	const kinds = values.kinds.split(",").map((name) => {
		const found = recordKinds.find(({ kind }) => kind === name);
		if (!found) throw new Error(`there is no register of the kind ${name}`);
		return found as AnyRecordKind;
	});
	const filled = await asOwner(async (client) => {
		const organizations = [];
		for (const share of [1, ...Array<number>(others).fill(0.1)]) {
			const count = Math.floor(records * share);
			say(`filling an organization with ${count} records of each kind`);
			organizations.push(await fillOrganization(client, kinds, count));
		}
		await client.query("vacuum (analyze)");
		await client.query("checkpoint");
		return organizations;
	});
	const questions: (Question & { organization: FilledOrganization })[] = filled
		.slice(0, 2)
		.flatMap((organization) =>
			[
				...kinds.flatMap((kind) => questionsOf(kind, organization)),
				...countsOf(kinds, organization),
			].map((question) => ({ ...question, organization })),
		)
		.filter(({ name, type }) =>
			only.some((text) => type === text || name.includes(text)),
		);

	const people = await openPeople(stand);
	const readers = new Map<FilledOrganization, string>();
	for (const organization of filled.slice(0, 2)) {
		const email = `reader${readers.size}@example.com`;
		const { cookie } = await people.join(organization.id, email, "admin");
		readers.set(organization, cookie);
	}
	await people.close();
	const ask = async ({ tool, input, organization }: (typeof questions)[0]) => {
		const response = await fetch(`${people.url}/api/console/${tool}`, {
			method: "POST",
			headers: {
				cookie: readers.get(organization) ?? "",
				origin: people.url,
				"content-type": "application/json",
			},
			body: JSON.stringify(input),
		});
		const text = await response.text();
		if (response.status === 503) return { isRefused: true };
		if (response.status !== 200) throw new Error(`${tool}: ${text}`);
		return JSON.parse(text) as { total?: number; isRefused?: boolean };
	};
	const usage = (): Promise<Usage> =>
		readUsage({
			serverPid: service.pid as number,
			...(postgres.pid !== undefined && { postmasterPid: postgres.pid }),
		});
	const rows = [];
	for (const question of questions) {
		const end = performance.now() + MAX_QUESTION_MS;
		const isLate = () => performance.now() > end;
		for (let call = 0; call < WARM_CALLS && !isLate(); call++) {
			await ask(question);
		}
		const times = new Histogram();
		const before = await usage();
		let total: number | undefined;
		let calls = 0;
		let refused = 0;
		while (calls === 0 || (calls < Number(values.calls) && !isLate())) {
			const at = performance.now();
			const answer = await ask(question);
			if (answer.isRefused) refused++;
			total = answer.total;
			times.recordMs(performance.now() - at);
			calls++;
		}
		const after = await usage();
		const [p50, p99] = [0.5, 0.99].map((share) => times.quantileMs(share));
		const row = {
			...question,
			total,
			calls,
			refused,
			p50: p50 as number,
			p99: p99 as number,
			serviceMs: ((after.server - before.server) * 1000) / calls,
			postgresMs: ((after.postgres - before.postgres) * 1000) / calls,
		};
		rows.push(row);
		say(
			`${row.name}: ${calls} calls, ${refused} refused, ${row.p50.toFixed(0)} ms, PostgreSQL ${row.postgresMs.toFixed(0)} ms`,
		);
	}
	const [large] = filled;
	const [kind] = kinds;
	const exported =
		large && kind && only.some((text) => "export".includes(text))
			? await exportRegister(kind, large, {
					url: people.url,
					cookie: readers.get(large) ?? "",
					servicePid: service.pid as number,
					postmasterPid: postgres.pid as number,
				})
			: "";
	const broken = rows.filter(
		({ type, p99, refused }) => refused > 0 || p99 > MAX_MS[type],
	);
	const slowest = rows
		.toSorted((a, b) => b.p50 / MAX_MS[b.type] - a.p50 / MAX_MS[a.type])
		.slice(0, Number(values.slowest));
	process.stdout.write(
		[
			`${describeMachine(undefined)}; ${records} records of each kind in one organization, ${others} others with a tenth each`,
			toTable(
				[
					"the slowest questions",
					"total",
					"calls",
					"refused: too slow",
					"p50 ms",
					"p99 ms",
					"processor of the service, ms",
					"of PostgreSQL, ms",
				],
				slowest.map((row) => [
					row.name,
					row.total ?? "–",
					row.calls,
					row.refused,
					row.p50.toFixed(1),
					row.p99.toFixed(1),
					row.serviceMs.toFixed(1),
					row.postgresMs.toFixed(1),
				]),
			),
			summaryOf(rows),
			`${rows.length} questions, ${broken.length} of them slower than promised.`,
			exported,
			"",
		].join("\n\n"),
	);
	return broken.length === 0 ? 0 : 1;
}

type Row = Pick<Question, "type"> & {
	p50: number;
	p99: number;
	postgresMs: number;
};

/** Sums up the questions of each type, by the clock and by PostgreSQL's processor time. */
function summaryOf(rows: Row[]): string {
	const types = Object.keys(MAX_MS) as (keyof typeof MAX_MS)[];
	const lines = types.flatMap((type) => {
		const asked = rows.filter((row) => row.type === type);
		return (["p50", "p99", "postgresMs"] as const).map((figure) => {
			const sorted = asked.map((row) => row[figure]).toSorted((a, b) => a - b);
			const at = (share: number) =>
				(sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(1);
			const over = sorted.filter((ms) => ms > MAX_MS[type]).length;
			const name = figure === "postgresMs" ? "processor of PostgreSQL" : figure;
			return [type, name, asked.length, at(0.5), at(0.9), at(1), over];
		});
	});
	return toTable(
		[
			...["questions", "ms", "number", "median", "90 % below"],
			...["most", "more than promised"],
		],
		lines,
	);
}

const { values } = parseArgs({
	options: {
		records: { type: "string", default: "1000000" },
		others: { type: "string", default: "10" },
		kinds: { type: "string", default: "risk,task" },
		calls: { type: "string", default: "30" },
		only: { type: "string", default: "" },
		slowest: { type: "string", default: "25" },
		help: { type: "boolean", default: false },
	},
});
if (values.help) process.stdout.write(USAGE);
else await runOnStand(10, run);

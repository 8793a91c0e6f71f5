import { parseArgs } from "node:util";
import {
	Client as McpClient,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { startDemoService } from "./demo-service.ts";
import { DEVICE_QUESTIONS } from "./mcp-questions/devices.ts";
import type { Ask, Question } from "./mcp-questions/question.ts";
import { RECORD_QUESTIONS } from "./mcp-questions/records.ts";
import { describeMachine } from "./report.ts";
import { conclude, runAndUndo, say, type Undo } from "./run.ts";

const USAGE = `Usage: npm run bench:mcp-answers -- [--only <text>]

Answers questions about the demonstration's data by calling tools over MCP, counts the calls and
their tokens (o200k), and compares the answers with SQL. Starts its own service in a temporary
folder. Takes about a minute.

  --only <text>   answer only the questions that contain this text
  --help          print this text

The exit code is 1 if an answer is wrong or takes more calls or tokens than promised.
`;

const DEVICES = 200;
const MAX = { calls: 5, tokens: 8_000, meanCalls: 2.5, meanTokens: 1_500 };
/** Results whose size is promised whatever the question: the default page and a full one. */
const PAGE_TOKENS = 4_000;
const FULL_PAGE_TOKENS = 16_000;
const LISTS = [
	"listDevices",
	"listRisks",
	"listMeasures",
	"listFrameworks",
	"listControls",
	"listVendors",
	"listPeople",
	"listNonconformities",
	"listObligations",
	"listAudits",
	"listAssets",
	"listData",
	"listTasks",
	"listContinualImprovements",
	"listMembers",
	"listAuditLog",
];

interface Cost {
	calls: number;
	tokens: number;
}

const { values } = parseArgs({
	options: {
		only: { type: "string", default: "" },
		help: { type: "boolean", default: false },
	},
});

/** Returns a function that calls tools, and adds what a model would read and write to `cost`. */
function asking(client: McpClient, cost: Cost): Ask {
	return async (name, input = {}) => {
		const result = await client.callTool({
			name,
			arguments: input as Record<string, unknown>,
		});
		const [content] = result.content as { text: string }[];
		const text = content?.text ?? "";
		if (result.isError) throw new Error(`${name}: ${text}`);
		cost.calls++;
		cost.tokens +=
			countTokens(name + JSON.stringify(input)) + countTokens(text);
		return result.structuredContent;
	};
}

const sorted = (rows: unknown[][]) =>
	rows.map((row) => JSON.stringify(row)).sort();

async function bench(undo: Undo[]): Promise<number> {
	say("filling a database with the demonstration's data");
	const { url, token, client } = await startDemoService(DEVICES, undo);
	const mcp = new McpClient({ name: "assay-bench", version: "1" });
	const transport = new StreamableHTTPClientTransport(
		new URL(`${url}/api/mcp/v1`),
		{ requestInit: { headers: { authorization: `Bearer ${token}` } } },
	);
	await mcp.connect(transport);
	undo.push(() => mcp.close());

	const broken: string[] = [];
	const costs: (Cost & { question: string; answer: number })[] = [];
	const answer = async ({ question, solve, sql }: Question) => {
		const cost = { calls: 0, tokens: 0 };
		const rows = await solve(asking(mcp, cost));
		const { rows: right } = await client.query<unknown[]>({
			text: sql,
			rowMode: "array",
		});
		const [given, wanted] = [sorted(rows), sorted(right)];
		if (JSON.stringify(given) !== JSON.stringify(wanted)) {
			broken.push(`${question} The answer ${given}, but ${wanted} is right.`);
		}
		if (cost.calls > MAX.calls || cost.tokens > MAX.tokens) {
			broken.push(`${question} ${cost.calls} calls, ${cost.tokens} tokens`);
		}
		costs.push({ question, answer: rows.length, ...cost });
	};
	for (const question of [...DEVICE_QUESTIONS, ...RECORD_QUESTIONS]) {
		if (question.question.includes(values.only)) await answer(question);
	}
	const mean = (of: keyof Cost) =>
		costs.reduce((sum, cost) => sum + cost[of], 0) / costs.length;
	if (mean("calls") > MAX.meanCalls) broken.push("the mean of the calls");
	if (mean("tokens") > MAX.meanTokens) broken.push("the mean of the tokens");

	const pages: [string, number, number][] = [];
	for (const [name, size, limit] of [
		...LISTS.map((name) => [name, undefined, PAGE_TOKENS] as const),
		["listDevices", 100, FULL_PAGE_TOKENS] as const,
	]) {
		const cost = { calls: 0, tokens: 0 };
		await asking(mcp, cost)(name, size === undefined ? {} : { size });
		pages.push([name, size ?? 20, cost.tokens]);
		if (cost.tokens > limit) {
			broken.push(`a page of ${size ?? 20} of ${name}: ${cost.tokens} tokens`);
		}
	}
	const { rows: version } = await client.query("show server_version");
	const tokens = (count: number) => Math.round(count).toLocaleString("en");
	const lines = [
		`${describeMachine(version[0].server_version)}; ${DEVICES} simulated devices; ${new Date().toISOString().slice(0, 10)}`,
		"",
		"| question | calls | tokens | rows of the answer |",
		"|---|---:|---:|---:|",
		...costs.map(
			(cost) =>
				`| ${cost.question} | ${cost.calls} | ${tokens(cost.tokens)} | ${cost.answer} |`,
		),
		`| mean of ${costs.length} | ${mean("calls").toFixed(2)} | ${tokens(mean("tokens"))} | |`,
		"",
		"| page | rows at most | tokens |",
		"|---|---:|---:|",
		...pages.map(
			([name, size, count]) => `| ${name} | ${size} | ${tokens(count)} |`,
		),
	];
	return conclude(`${lines.join("\n")}\n`, broken);
}

if (values.help) process.stdout.write(USAGE);
else {
	const undo: Undo[] = [];
	await runAndUndo(() => bench(undo), undo);
}

import { availableParallelism, cpus } from "node:os";
import type { Memory, Rates, Updates } from "./measure.ts";
import type { KindResult } from "./tally.ts";

/** The result of one load for one kind of request, with the processor time that it used. */
export interface Row extends KindResult, Rates {
	load: string;
	connections: number;
	/** Processor time of the load generator, in percent of one core. */
	loadCpu: number;
	/** Requests per second in percent of the bare server's. Undefined for the bare server itself. */
	ofBare?: number;
}

export interface MixedRow extends Row {
	wantedPerSecond: number;
}

/** The memory before the load, at its end and a minute after it. */
interface Memories {
	atRest: Memory;
	atTheEnd: Memory;
	aMinuteLater: Memory;
}

export interface Report {
	machine: string;
	devices: number;
	/** Seconds of each measurement. */
	seconds: number;
	rows: Row[];
	mixedSeconds: number;
	mixed: MixedRow[];
	memory: Memories | undefined;
	updates: Updates[];
}

export function describeMachine(postgres: string | undefined): string {
	const model = cpus()[0]?.model.trim() ?? "unknown processor";
	const database = postgres ? `, PostgreSQL ${postgres}` : "";
	return `${availableParallelism()} × ${model}, Node ${process.versions.node}${database}`;
}

export function toMarkdown(report: Report): string {
	const { devices, rows, mixed, memory, updates } = report;
	const parts = [
		`${report.machine}; ${devices.toLocaleString("en")} devices; ${new Date().toISOString().slice(0, 10)}`,
	];
	if (rows.length > 0) {
		parts.push(
			`Closed loop, ${report.seconds} s each; CPU in percent of one core:`,
			toTable(
				["Load", "Connections", "Requests/s", "Of bare %", ...COSTS],
				rows.map((row) => [
					row.load,
					row.connections,
					whole(row.perSecond),
					whole(row.ofBare),
					...costs(row),
				]),
			),
		);
	}
	if (mixed.length > 0) {
		parts.push(
			`Open loop, ${report.mixedSeconds} s, latency from the time a request was due:`,
			toTable(
				["Load", "Connections", "Wanted/s", "Requests/s", ...COSTS],
				mixed.map((row) => [
					row.load,
					row.connections,
					whole(row.wantedPerSecond),
					whole(row.perSecond),
					...costs(row),
				]),
			),
		);
	}
	if (memory) {
		parts.push(
			toTable(
				["Memory, MiB", "At rest", "Most", "At the end", "A minute later"],
				[
					[
						"Service",
						whole(memory.atRest.serverMib),
						whole(memory.atTheEnd.serverPeakMib),
						whole(memory.atTheEnd.serverMib),
						whole(memory.aMinuteLater.serverMib),
					],
					[
						"PostgreSQL",
						whole(memory.atRest.postgresMib),
						"–",
						whole(memory.atTheEnd.postgresMib),
						whole(memory.aMinuteLater.postgresMib),
					],
				],
			),
		);
	}
	for (const { table, updates: count, hot } of updates) {
		parts.push(
			`${table}: ${whole(count)} updates, ${hot.toFixed(1)} % of them HOT`,
		);
	}
	for (const { load, statuses, firstError } of [...rows, ...mixed]) {
		if (firstError === undefined) continue;
		parts.push(
			`${load}: answers by status ${JSON.stringify(statuses)}, the first unexpected: ${JSON.stringify(firstError.slice(0, 500))}`,
		);
	}
	return `${parts.join("\n\n")}\n`;
}

const COSTS = [
	"p50 ms",
	"p99 ms",
	"Max ms",
	"Errors",
	"Transactions/s",
	"CPU server",
	"CPU PostgreSQL",
	"CPU load",
	"Server ms/1,000",
	"PostgreSQL ms/1,000",
	"WAL bytes/request",
	"Whole pages in WAL/1,000",
	"Blocks read/1,000",
];

function costs(row: Row): string[] {
	return [
		row.p50Ms.toFixed(1),
		row.p99Ms.toFixed(1),
		row.maxMs.toFixed(1),
		whole(row.errors),
		whole(row.commitsPerSecond),
		whole(row.serverCpu),
		whole(row.postgresCpu),
		whole(row.loadCpu),
		whole(msOf1000(row.serverCpu, row)),
		whole(msOf1000(row.postgresCpu, row)),
		whole(row.walBytesPerSecond / row.perSecond),
		whole((row.walPagesPerSecond * 1000) / row.perSecond),
		whole((row.blocksReadPerSecond * 1000) / row.perSecond),
	];
}

/** Returns the processor time, in milliseconds, that 1,000 requests of this kind cost. */
function msOf1000(cpu: number, { perSecond }: Row): number {
	return (cpu * 10_000) / perSecond;
}

function whole(value: number | undefined): string {
	if (value === undefined || Number.isNaN(value)) return "–";
	return Math.round(value).toLocaleString("en");
}

export function toTable(head: string[], rows: (string | number)[][]): string {
	const line = (cells: (string | number)[]) => `| ${cells.join(" | ")} |`;
	const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
	return [line(head), line(rule), ...rows.map(line)].join("\n");
}

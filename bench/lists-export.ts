import type { AnyRecordKind } from "../src/records/kind.ts";
import type { FilledOrganization } from "./lists-seed.ts";
import { readMemory } from "./measure.ts";
import { toTable } from "./report.ts";
import { say } from "./run.ts";

const SAMPLE_MS = 500;

/** Where the service runs, and who asks it. */
export interface Reader {
	url: string;
	cookie: string;
	servicePid: number;
	postmasterPid: number;
}

/**
 * Downloads a whole register as a CSV file, as fast as the service sends it. Returns a table with
 * the largest memory of the service and of PostgreSQL in each quarter of the rows.
 */
export async function exportRegister(
	kind: AnyRecordKind,
	{ id, records }: FilledOrganization,
	{ url, cookie, servicePid, postmasterPid }: Reader,
): Promise<string> {
	say(`exporting ${records} ${kind.nouns}`);
	const list = `list${kind.tool.many}`;
	const begun = performance.now();
	let rows = 0;
	let bytes = 0;
	const samples: { rows: number; service: number; postgres: number }[] = [];
	const sample = () => {
		const { serverMib, postgresMib } = readMemory(servicePid, postmasterPid);
		samples.push({ rows, service: serverMib, postgres: postgresMib });
	};
	sample();
	const [before] = samples;
	const response = await fetch(
		`${url}/api/console/export/${list}.csv?organization_id=${id}`,
		{ headers: { cookie, origin: url } },
	);
	if (response.status !== 200 || !response.body) {
		throw new Error(`${list}.csv: ${response.status}`);
	}
	const timer = setInterval(sample, SAMPLE_MS);
	let end = "";
	try {
		for await (const chunk of response.body) {
			bytes += chunk.length;
			for (const byte of chunk) if (byte === 10) rows++;
		}
	} catch (error) {
		// The service ends an export whose client takes nothing for some seconds.
		end = ` It ended too early: ${error}.`;
	}
	clearInterval(timer);
	const seconds = (performance.now() - begun) / 1000;
	sample();
	const largest = (name: "service" | "postgres", quarter: number) => {
		const found = samples
			.filter((one) => Math.ceil((one.rows / rows) * 4) === quarter)
			.map((one) => one[name]);
		return found.length === 0 ? "–" : Math.max(...found).toFixed(0);
	};
	const heading = ["memory, MiB", "before", "1st quarter", "2nd", "3rd", "4th"];
	return [
		`Export of ${rows - 1} rows, ${(bytes / 1e6).toFixed(0)} MB, in ${seconds.toFixed(0)} s.${end}`,
		toTable(
			heading,
			(["service", "postgres"] as const).map((name) => [
				name,
				before?.[name].toFixed(0) ?? "",
				...[1, 2, 3, 4].map((quarter) => largest(name, quarter)),
			]),
		),
	].join("\n\n");
}

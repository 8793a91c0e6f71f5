import { parseArgs } from "node:util";
import { runOnStand } from "./failover/on-stand.ts";
import type { Stand } from "./faults/stand.ts";
import { openPeople } from "./fuzz/seed.ts";
import { ratesBetween, readUsage } from "./measure.ts";
import { describeMachine, toTable } from "./report.ts";
import { say } from "./run.ts";

const USAGE = `Usage: npm run bench:imports -- [options]

Imports a CSV file of risks into an empty organization: a dry run, and then the import. Prints the
functions of the database that took longest. Takes a minute.

  --lines <n>   lines of the file (9999)
  --rounds <n>  imports, each into an organization of its own (3)
  --help        print this text
`;

const { values } = parseArgs({
	options: {
		lines: { type: "string", default: "9999" },
		rounds: { type: "string", default: "3" },
		help: { type: "boolean", default: false },
	},
});

async function run(stand: Stand): Promise<number> {
	const people = await openPeople(stand);
	const watched = {
		serverPid: stand.service.pid as number,
		postmasterPid: stand.postgres.pid as number,
	};
	const csv = [
		"name,category,treatment,inherent_likelihood,inherent_impact,note",
		...Array.from(
			{ length: Number(values.lines) },
			(_, n) =>
				`Risk ${n},Category ${n % 40},MITIGATED,${1 + (n % 5)},3,A note`,
		),
	].join("\n");
	await stand.asOwner(async (client) => {
		await client.query("alter system set track_functions = 'all'");
		await client.query("select pg_reload_conf()");
	});
	const rows: (string | number)[][] = [];
	for (let round = 1; round <= Number(values.rounds); round++) {
		const organization = stand.fleet.organizations[round - 1] ?? "";
		const email = `importer-${round}@example.com`;
		const { cookie } = await people.join(organization, email, "admin");
		for (const dryRun of [true, false]) {
			say(`round ${round}: ${dryRun ? "dry run" : "import"}`);
			const before = await readUsage(watched);
			const response = await fetch(
				`${people.url}/api/console/importRecords?organization_id=${organization}&kind=risk&dry_run=${dryRun}`,
				{
					method: "POST",
					headers: { cookie, origin: people.url, "content-type": "text/csv" },
					body: csv,
				},
			);
			const text = await response.text();
			if (!response.ok) throw new Error(text.slice(0, 500));
			const after = await readUsage(watched);
			const seconds = (after.atMs - before.atMs) / 1000;
			const { serverCpu, postgresCpu } = ratesBetween(before, after);
			rows.push([
				dryRun ? "dry run" : "import",
				...[
					seconds,
					(serverCpu * seconds) / 100,
					(postgresCpu * seconds) / 100,
				].map((figure) => figure.toFixed(1)),
			]);
		}
	}
	await people.close();
	const functions = await stand.asOwner((client) =>
		client.query(
			`select funcname, calls, round(total_time) as total, round(self_time) as self
			from pg_stat_user_functions order by self_time desc limit 12`,
		),
	);
	process.stdout.write(
		[
			`${describeMachine(undefined)}; ${values.lines} lines`,
			toTable(["what", "s", "s of the service", "s of PostgreSQL"], rows),
			toTable(
				["function", "calls", "ms in all", "ms itself"],
				functions.rows.map((row) => Object.values(row) as string[]),
			),
			"",
		].join("\n\n"),
	);
	return 0;
}

if (values.help) process.stdout.write(USAGE);
else await runOnStand(10, run);

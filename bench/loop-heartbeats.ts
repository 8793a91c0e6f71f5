import { rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CHECK_KEYS } from "../src/devices/terms.ts";
import { makeId } from "../src/id.ts";
import { makeBenchFolder } from "./faults/stand.ts";
import { type Fleet, factsOf, makeFleet, organizationOf } from "./fleet.ts";
import { readUsage, type Watched } from "./measure.ts";
import { OwnPostgres } from "./own-postgres.ts";
import { freePort, OwnService } from "./own-service.ts";
import { describeMachine, toTable } from "./report.ts";
import { conclude, say, type Undo } from "./run.ts";
import { seed, settle } from "./seed.ts";

const CONNECTIONS = 64;
/** The share of devices that change a status in a minute. */
const SHARE_A_MINUTE = 0.01;
const MAX_SLOWER_PERCENT = 5;
const SPANS = 20_000;
/** The service compiles its code and PostgreSQL fills its cache meanwhile. */
const WARM_UP_SECONDS = 15;

export interface Size {
	devices: number;
	pairs: number;
	seconds: number;
}

interface Measured {
	/** Processor time of the service and of PostgreSQL for 1,000 heartbeats. */
	cpuMs: number;
	perSecond: number;
	reports: number;
}

/**
 * Measures how much the loop slows heartbeats down. Each pair is two runs: 64 connections send
 * heartbeats as fast as they are answered, and 1 % of the devices report a check within a minute.
 * In one run of a pair these reports change nothing, and in the other each one changes a status, so
 * events are handled and nonconformities settled. Prints the processor time for 1,000 heartbeats,
 * and the median of the differences. Returns the exit code.
 */
export async function measureHeartbeats(
	{ devices, pairs, seconds }: Size,
	undo: Undo[],
): Promise<number> {
	const folder = makeBenchFolder();
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const postgres = await OwnPostgres.create(join(folder, "db"));
	undo.push(() => postgres.stop());
	const service = new OwnService(
		await freePort(),
		join(folder, "service"),
		postgres.url,
	);
	undo.push(() => service.stop());
	await service.start();
	const client = await postgres.connect();
	undo.push(() => client.end());
	say(`storing ${devices} devices`);
	const fleet = makeFleet(devices, 1);
	await client.query("set session_replication_role = replica");
	await seed(client, fleet);
	await storeSpans(client, fleet);
	await client.query("set session_replication_role = origin");
	await settle(client);
	const { rows } = await client.query("show server_version");

	const load = new Load(service.port, fleet);
	undo.push(() => load.close());
	const watched = {
		serverPid: service.pid ?? 0,
		...(postgres.pid !== undefined && { postmasterPid: postgres.pid }),
	};
	say("warming up");
	await load.run(watched, WARM_UP_SECONDS, true);
	const found: [quiet: Measured, changing: Measured][] = [];
	for (let pair = 0; pair < pairs; pair++) {
		// The order alternates, so a machine that becomes slower favors neither.
		const first = await load.run(watched, seconds, pair % 2 === 1);
		const second = await load.run(watched, seconds, pair % 2 === 0);
		found.push(pair % 2 === 1 ? [second, first] : [first, second]);
		say(`pair ${pair + 1} of ${pairs}`);
	}
	return report(found, rows[0].server_version, devices);
}

function report(
	found: [quiet: Measured, changing: Measured][],
	version: string,
	devices: number,
): number {
	const slower = found.map(
		([quiet, changing]) => (changing.cpuMs / quiet.cpuMs - 1) * 100,
	);
	const middle = median(slower);
	const table = toTable(
		[
			"Pair",
			"CPU ms per 1,000 heartbeats, nothing changes",
			"1 % changes in a minute",
			"Slower, %",
			"Heartbeats/s",
			"Heartbeats/s with changes",
			"Changes",
		],
		found.map(([quiet, changing], pair) => [
			pair + 1,
			quiet.cpuMs.toFixed(0),
			changing.cpuMs.toFixed(0),
			(slower[pair] ?? 0).toFixed(1),
			quiet.perSecond.toFixed(0),
			changing.perSecond.toFixed(0),
			changing.reports,
		]),
	);
	return conclude(
		`${describeMachine(version)}; ${devices} devices\n\n${table}\n\nMedian: ${middle.toFixed(1)} % slower\n`,
		middle < MAX_SLOWER_PERCENT
			? []
			: [`heartbeats are ${middle.toFixed(1)} % slower`],
	);
}

function median(numbers: number[]): number {
	const sorted = numbers.toSorted((a, b) => a - b);
	const at = sorted.length >> 1;
	const [low = 0, high = 0] = [sorted[at - 1] ?? sorted[at], sorted[at]];
	return sorted.length % 2 === 1 ? high : (low + high) / 2;
}

/** Gives each device all checks. One of twenty devices fails the first check. */
async function storeSpans(
	client: { query: (sql: string, values: unknown[]) => Promise<unknown> },
	fleet: Fleet,
): Promise<void> {
	const [organization = ""] = fleet.organizations;
	for (let from = 0; from < fleet.ids.length; from += SPANS) {
		await client.query(
			`insert into posture_spans (
				organization_id, device_id, check_key, since, last_observed_at, status,
				first_report_id, last_report_id, is_current
			)
			select $1, id, key, now() - interval '10 days', now() - interval '1 hour',
				case when key = $5 and place % 20 = 0 then 'FAIL' else 'PASS' end, $4, $4, true
			from unnest($2::text[]) with ordinality d (id, place), unnest($3::text[]) key`,
			[
				organization,
				fleet.ids.slice(from, from + SPANS),
				CHECK_KEYS,
				makeId(organization, "device_posture_report"),
				CHECK_KEYS[0],
			],
		);
	}
}

/** Sends heartbeats and reports. No device has two requests at a time. */
class Load {
	readonly #port: number;
	readonly #fleet: Fleet;
	readonly #agent = new Agent({ keepAlive: true });
	/** Devices whose second check fails now. */
	readonly #failing = new Set<number>();
	#turn = 0;
	#reporting = 0;

	constructor(port: number, fleet: Fleet) {
		this.#port = port;
		this.#fleet = fleet;
	}

	close(): void {
		this.#agent.destroy();
	}

	async run(
		watched: Watched,
		seconds: number,
		isChanging: boolean,
	): Promise<Measured> {
		const before = await readUsage(watched);
		const until = before.atMs + seconds * 1000;
		let beats = 0;
		const beat = async () => {
			while (performance.now() < until) {
				// The first half of the devices sends heartbeats, and the second half reports.
				const device = this.#turn++ % (this.#fleet.ids.length >> 1);
				await this.#post(device, "heartbeat", factsOf(device), 200);
				beats++;
			}
		};
		let reports = 0;
		const everyMs = 60_000 / (this.#fleet.ids.length * SHARE_A_MINUTE);
		const report = async () => {
			const sending: Promise<void>[] = [];
			while (performance.now() < until) {
				sending.push(this.#report(isChanging));
				reports++;
				await sleep(
					Math.max(0, before.atMs + reports * everyMs - performance.now()),
				);
			}
			await Promise.all(sending);
		};
		await Promise.all([
			report(),
			...Array.from({ length: CONNECTIONS }, () => beat()),
		]);
		const after = await readUsage(watched);
		const cpuSeconds =
			after.server - before.server + (after.postgres - before.postgres);
		return {
			cpuMs: (cpuSeconds * 1_000_000) / beats,
			perSecond: (beats * 1000) / (after.atMs - before.atMs),
			reports,
		};
	}

	async #report(isChanging: boolean): Promise<void> {
		const half = this.#fleet.ids.length >> 1;
		const device = half + (this.#reporting++ % half);
		const wasFailing = this.#failing.has(device);
		const isFailing = isChanging ? !wasFailing : wasFailing;
		if (isFailing) this.#failing.add(device);
		else this.#failing.delete(device);
		const results = [
			{
				check_key: CHECK_KEYS[1],
				status: isFailing ? "FAIL" : "PASS",
				observed_at: new Date().toISOString(),
				correlation_id: makeId(
					organizationOf(this.#fleet, device),
					"device_posture_report",
				),
			},
		];
		await this.#post(device, "postures", { results }, 204);
	}

	#post(
		device: number,
		path: string,
		body: object,
		expected: number,
	): Promise<void> {
		const text = JSON.stringify(body);
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const outgoing = request(
			{
				host: "127.0.0.1",
				port: this.#port,
				path: `/api/agent/v1/${path}`,
				method: "POST",
				agent: this.#agent,
				headers: {
					authorization: `Bearer ${this.#fleet.keys[device]}`,
					"content-type": "application/json",
					"content-length": Buffer.byteLength(text),
				},
			},
			(response) => {
				response.resume();
				response.on("end", resolve);
				if (response.statusCode === expected) return;
				reject(new Error(`${path} was answered with ${response.statusCode}`));
			},
		);
		outgoing.on("error", reject);
		outgoing.end(text);
		return promise;
	}
}

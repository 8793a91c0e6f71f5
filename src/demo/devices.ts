import type { Pool } from "pg";
import { claimedMachine, copyOf, type Fleet } from "../../simulator/fleet.ts";
import { type Machine, machineOf } from "../../simulator/machine.ts";
import { inParallel } from "../../simulator/pace.ts";
import { resultsOf } from "../../simulator/posture.ts";
import { chance } from "../../simulator/random.ts";
import { roleOf } from "../../simulator/roles.ts";
import { DeviceStatuses, type KeyHash } from "../devices/authentication.ts";
import {
	type Enrolling,
	enroll,
	makeEnrolling,
} from "../devices/enrollment.ts";
import { Heartbeats } from "../devices/heartbeat.ts";
import { Postures } from "../devices/postures.ts";
import type { CheckKey } from "../devices/terms.ts";
import { AppError } from "../errors.ts";
import { hashSecret } from "../tokens/secret.ts";
import { DAY_MS, HOUR_MS } from "../units.ts";
import { PEOPLE } from "./organization/people.ts";
import type { RecordsByKey } from "./records-by-key.ts";
import { spread } from "./registers.ts";
import { type Progress, retryWhileBusy } from "./retry.ts";
import type { Moment } from "./timeline.ts";

/** Ages, in days, of the devices whose agents nobody has installed yet. */
const WAITING = [5.6, 3.4, 1.3, 0.15];
const REPORT_EVERY_DAYS = 7;
const WIDTH = 128;

/** Returns an address of a device. The range is reserved for documentation. */
const addressOf = (n: number) => `203.0.113.${1 + (n % 254)}`;

/** Name of the device that stands for this machine. A real agent reports on it. */
export const THIS_MACHINE = "This machine";

/**
 * The fleet of the demonstration. Its devices were enrolled over several months. This class calls
 * the functions behind the Device Agent API directly, without a network connection.
 */
export class DemoDevices {
	readonly fleet: Fleet;
	readonly #count: number;
	readonly #records: RecordsByKey;
	readonly #enrolling: Enrolling;
	readonly #heartbeats: Heartbeats;
	readonly #postures: Postures;
	readonly #enrolledAt: Date[] = [];
	/** The time of each silent device's last report. All other devices report until now. */
	readonly #silentSince = new Map<number, Date>();

	constructor(pool: Pool, records: RecordsByKey, fleet: Fleet, count: number) {
		this.fleet = fleet;
		this.#count = count;
		this.#records = records;
		const statuses = new DeviceStatuses(pool);
		this.#enrolling = makeEnrolling(pool, statuses);
		this.#heartbeats = new Heartbeats(pool, statuses);
		this.#postures = new Postures(pool);
	}

	moments(): Moment[] {
		const moments: Moment[] = [];
		let laptops = 0;
		for (let n = 0; n < this.#count; n++) {
			const machine = claimedMachine(this.fleet.seed, n);
			const owner = ownerOf(machine, machine.system.isMobile ? laptops++ : 0);
			moments.push({
				daysAgo: enrolledDaysAgo(n, this.#count),
				// A duplicate must be enrolled after the device whose hardware it copies, so it has no
				// `kind` that would let both run at once.
				...(roleOf(n) !== "duplicate" && { kind: "device" }),
				run: (at) => this.#enroll(n, machine, owner, at),
			});
		}
		for (const [index, daysAgo] of REVOKED.entries()) {
			const n = this.#lostLaptop(index);
			if (n === undefined) continue;
			moments.push({
				daysAgo,
				run: async (at) => {
					this.#silentSince.set(n, at);
					await this.#remember(n);
					this.fleet.keys[n] = undefined;
					const id = this.fleet.deviceIds[n];
					if (id) await this.#records.use("revokeDevice", { id }, "admin");
				},
			});
		}
		for (const [index, daysAgo] of WAITING.entries()) {
			moments.push({
				daysAgo,
				run: () =>
					this.#add(`LT-${String(this.#count + index + 1).padStart(4, "0")}`),
			});
		}
		return moments;
	}

	/** Returns the ids of devices that report steadily and failed the check at the time. */
	failing(check: CheckKey, at: Date): string[] {
		const ids: string[] = [];
		for (let n = 0; n < this.#count; n++) {
			const id = this.fleet.deviceIds[n];
			if (!id || roleOf(n) !== "steady" || !this.fleet.keys[n]) continue;
			const results = this.#results(n, at.getTime());
			if (
				results.some((one) => one.check_key === check && one.status === "FAIL")
			) {
				ids.push(id);
			}
		}
		return ids;
	}

	/**
	 * Stores the reports of all devices since they were enrolled. `enrolledAt` has the time by the
	 * device's id.
	 */
	async remember(
		enrolledAt: ReadonlyMap<string, Date>,
		onProgress: Progress,
		signal: AbortSignal,
	): Promise<void> {
		for (let n = 0; n < this.#count; n++) {
			const at = enrolledAt.get(this.fleet.deviceIds[n] ?? "");
			if (at) this.#enrolledAt[n] = at;
		}
		let done = 0;
		await inParallel(this.#count, WIDTH, async (n) => {
			signal.throwIfAborted();
			await this.#remember(n);
			onProgress(++done, this.#count);
		});
		await this.#postures.idle();
	}

	/**
	 * Returns the ids of the silent devices, each with the time of its last report. The demonstration
	 * stores no heartbeats of the past, so the caller uses these times as the last heartbeats.
	 */
	silent(): { id: string; at: Date }[] {
		return [...this.#silentSince].flatMap(([n, at]) => {
			const id = this.fleet.deviceIds[n];
			return id ? [{ id, at }] : [];
		});
	}

	async #add(name: string, ownerId?: string): Promise<string> {
		const { enrollment_token } = await this.#records.use(
			"addDevice",
			{
				organization_id: this.#records.organizationId,
				name,
				owner_id: ownerId,
				enrollment_token_expires_in_days: 14,
			},
			"admin",
		);
		return enrollment_token as string;
	}

	async #enroll(n: number, machine: Machine, owner: string, at: Date) {
		const name = machine.facts.hostname.split(".")[0] ?? "";
		const token = await this.#add(name, this.#records.id("people", owner));
		const key = await retryWhileBusy(() =>
			enroll(this.#enrolling, token, { address: addressOf(n) }),
		);
		const hash = hashSecret(key);
		this.fleet.keys[n] = key;
		this.#enrolledAt[n] = at;
		if (roleOf(n) === "silent") this.#silentSince.set(n, silentSince(n, at));
		try {
			const { deviceId } = await this.#beat(hash, machine.facts, n);
			this.fleet.deviceIds[n] = deviceId;
		} catch (error) {
			if (error instanceof AppError && error.code === "bad_request") return;
			throw error;
		}
		if (roleOf(n) === "cloned") {
			await this.#beat(hash, copyOf(machine), n + 1);
		}
	}

	#beat(hash: KeyHash, facts: Machine["facts"], n: number) {
		return retryWhileBusy(() =>
			this.#heartbeats.record({ keyHash: hash, facts, address: addressOf(n) }),
		);
	}

	async #remember(n: number): Promise<void> {
		const key = this.fleet.keys[n];
		const from = this.#enrolledAt[n]?.getTime();
		if (!key || !from || this.fleet.deviceIds[n] === undefined) return;
		const until = this.#silentSince.get(n)?.getTime() ?? Date.now();
		const hash = hashSecret(key);
		const record = (results: Results, at: number) =>
			retryWhileBusy(() =>
				this.#postures.record(
					hash,
					results.map((result) => ({ ...result, observed_at: at * 1000 })),
					2_000,
				),
			);
		let before: Results | undefined;
		for (let count = 0, at = from + 60_000; ; count++) {
			const last = at >= until;
			const moment = Math.min(at, until);
			const results = this.#results(n, moment);
			// A device seems to have reported all the time, so a status holds until shortly before the
			// next one.
			if (before && statusesOf(before) !== statusesOf(results)) {
				await record(before, moment - HOUR_MS);
			}
			await record(results, moment);
			if (last) return;
			before = results;
			at += Math.floor(
				REPORT_EVERY_DAYS * DAY_MS * (0.6 + 0.8 * chance(n, count)),
			);
		}
	}

	#results(n: number, at: number) {
		// The past has few reports. If a check failed only briefly at the time of one, it would seem to
		// have failed for days, so such short changes are left out.
		const look = { ...this.fleet, drift: 0, at };
		return resultsOf(machineOf(this.fleet.seed, n), look);
	}

	/**
	 * Returns the number of a lost laptop. The suitable laptops are taken from the fifth on, every
	 * second one. Returns undefined if there are not enough.
	 */
	#lostLaptop(index: number): number | undefined {
		const laptops = Array.from({ length: this.#count }, (_, n) => n).filter(
			(n) =>
				roleOf(n) === "steady" &&
				roleOf(n + 1) !== "duplicate" &&
				machineOf(this.fleet.seed, n).system.isMobile,
		);
		return laptops.length > 8 ? laptops[4 + index * 2] : undefined;
	}
}

type Results = ReturnType<typeof resultsOf>;

const statusesOf = (results: Results) =>
	results.map(({ check_key, status }) => `${check_key} ${status}`).join();

const REVOKED = [61, 24, 6];

/**
 * Returns how many days ago a device was enrolled. Three quarters of the fleet were enrolled in the
 * first weeks, and the others one by one since then.
 */
function enrolledDaysAgo(n: number, count: number): number {
	const early = Math.ceil(count * 0.75);
	return n < early
		? spread(200, 170, n, early)
		: spread(168, 4, n - early, count - early);
}

/**
 * Returns the time since which a device has been silent. Some devices have been silent for hours or
 * days, some for weeks.
 */
function silentSince(n: number, enrolledAt: Date): Date {
	const daysAgo = n % 60 === 4 ? 0.4 + chance(n) * 3 : 9 + chance(n) * 25;
	return new Date(
		Math.max(Date.now() - daysAgo * DAY_MS, enrolledAt.getTime() + DAY_MS),
	);
}

function ownerOf({ system }: Machine, laptop: number): string {
	if (system.isMobile) return PEOPLE[laptop % PEOPLE.length]?.[0] ?? "omar";
	if (system.prefix === "DESK") return "jan";
	return system.prefix === "db" ? "mei" : "marek";
}

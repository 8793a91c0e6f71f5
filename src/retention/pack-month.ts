import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import { codeOf, OUT_OF_MEMORY, QUERY_CANCELED } from "../db/sqlstate.ts";
import { isDatabaseUnavailable } from "../errors.ts";
import { dropIfEmpty } from "./drop-partition.ts";
import { partitionOf } from "./partition-name.ts";

/** Number of reports that are packed in a transaction. That takes about half a second of a core. */
const STEP_SIZE = 3_000;
/**
 * Most reports in a packed row. A device that reports every five minutes has 8,900 a month. Packing
 * this many takes about two seconds, so one row never meets the time limit of a statement.
 */
const PART_SIZE = 10_000;
/**
 * Number of reports that are moved in a transaction, and most reports in a row of them. Requests of
 * these devices wait meanwhile, at most half a second.
 */
const MOVED_STEP_SIZE = 500;
const MOVED_PART_SIZE = 2_000;
/** Number of devices whose reports are counted in a statement. */
const COMPARED_DEVICES = 500;
/** Devices of a month that may fail. With more, the cause is not the device. */
const MOST_FAILURES = 20;

export interface PackingOptions {
	signal?: AbortSignal;
	/** Months that retention keeps. Older ones would be packed only to be dropped. 0 for all. */
	keptMonths?: number;
	/** Reports of a transaction; for tests. */
	stepSize?: number;
	/** Most reports of a packed row; for tests. */
	partSize?: number;
	/** The rest after each step, as a multiple of its duration. */
	rest?: number;
}

interface Device {
	organizationId: string;
	deviceId: string;
}

/** The reports of a device could not be packed. */
export interface PackingFailure extends Device {
	/** The first day of the month. */
	month: string;
	error: unknown;
}

/** How far a month is packed. */
interface Place extends Device {
	/** The last part of the device. 0 if the device is complete. */
	part: number;
	/** The last report of the part. */
	reportId: string;
	/** As PostgreSQL writes it, to the microsecond. */
	receivedAt: string;
}

const NOTHING_READ = { part: 0, reportId: "", receivedAt: "-infinity" };
const BEGINNING: Place = { organizationId: "", deviceId: "", ...NOTHING_READ };

/** Packs or moves the reports of one month. Collects the devices for which that fails. */
export class MonthOfReports {
	readonly failed: PackingFailure[] = [];
	readonly #client: Client;
	readonly #month: string;
	readonly #options: PackingOptions;

	constructor(client: Client, month: string, options: PackingOptions) {
		this.#client = client;
		this.#month = month;
		this.#options = options;
	}

	/**
	 * Packs the month into a table of its own, which then replaces the partition with the plain
	 * reports. Returns false if that has to wait, because the work was aborted or a device failed.
	 */
	async pack(): Promise<boolean> {
		await this.#client.query("select begin_packed_month($1)", [this.#month]);
		// The month may have been archived and dropped before an import added further reports of it.
		await this.#asAgent("delete from archived_months where month = $1", [
			this.#month,
		]);
		const [last] = await this.#asAgent<Device>(
			`select last_organization as "organizationId", last_device as "deviceId"
			from last_packed_device($1)`,
			[this.#month],
		);
		const isThrough = await this.#walk(
			{ ...BEGINNING, ...last },
			(after) => this.#packNext(after),
			(device) => this.#packDevice(device),
		);
		if (!isThrough) return false;
		// Reports may be changed at any moment until the partition is locked.
		for (;;) {
			if (!(await this.#repairDifferences())) return false;
			const { rows } = await this.#client.query<{ isFinished: boolean }>(
				`select finish_packed_month($1) as "isFinished"`,
				[this.#month],
			);
			if (rows[0]?.isFinished) return true;
		}
	}

	/**
	 * Moves plain reports to the packed ones of a month that are attached already, and drops their
	 * partition. Returns false if that has to wait.
	 */
	async move(): Promise<boolean> {
		const isThrough = await this.#walk(
			BEGINNING,
			(after) => this.#moveNext(after),
			(device) => this.#moveDevice(device),
		);
		if (!isThrough) return false;
		try {
			// Without its dead rows, PostgreSQL sees at once that the partition is empty.
			await this.#client.query(
				`vacuum ${partitionOf("posture_reports", this.#month)}`,
			);
		} catch (error) {
			if (codeOf(error) !== QUERY_CANCELED) throw error;
		}
		return dropIfEmpty(this.#client, this.#month);
	}

	/**
	 * Works through the devices after a place. If a step fails, the next devices are tried one by one,
	 * until it is known which of them it was. Returns false if the work was aborted or too many failed.
	 */
	async #walk(
		from: Place,
		next: (after: Place) => Promise<(Place & { count: number }) | undefined>,
		one: (device: Device) => Promise<void>,
	): Promise<boolean> {
		let after = from;
		let isOneByOne = false;
		for (;;) {
			if (this.#mustStop()) return false;
			const begun = performance.now();
			if (isOneByOne) {
				const device = await this.#nextDevice(after);
				if (!device) return true;
				isOneByOne = await this.#attempt(device, () => one(device));
				after = { ...device, ...NOTHING_READ };
			} else {
				try {
					const step = await next(after);
					if (!step?.count) return true;
					after = step;
				} catch (error) {
					requireDeviceError(error);
					if (after.part === 0) isOneByOne = true;
					else {
						this.#note(after, error);
						after = { ...after, ...NOTHING_READ };
					}
				}
			}
			await this.#rest(begun);
		}
	}

	async #packNext(after: Place) {
		const { stepSize = STEP_SIZE, partSize = PART_SIZE } = this.#options;
		const [step] = await this.#asAgent<Place & { count: number }>(
			`select last_organization as "organizationId", last_device as "deviceId", last_part as part,
				coalesce(last_id, '') as "reportId", coalesce(last_at, '-infinity')::text as "receivedAt",
				packed as count
			from pack_next_parts($1, $2, $3, $4, $5, $6, $7, $8)`,
			[
				this.#month,
				stepSize,
				partSize,
				after.organizationId,
				after.deviceId,
				after.part,
				after.reportId,
				after.receivedAt,
			],
		);
		return step;
	}

	async #packDevice({ organizationId, deviceId }: Device): Promise<void> {
		const { partSize = PART_SIZE } = this.#options;
		let { part, reportId, receivedAt } = NOTHING_READ;
		for (let isLast = false; !isLast; ) {
			part++;
			const [step] = await this.#asAgent<Place & { isLast: boolean }>(
				`select coalesce(last_id, '') as "reportId", coalesce(last_at, '-infinity')::text as "receivedAt",
					is_last as "isLast"
				from pack_report_part($1, $2, $3, $4, $5, $6, $7)`,
				[
					this.#month,
					organizationId,
					deviceId,
					part,
					reportId,
					receivedAt,
					partSize,
				],
			);
			if (!step) throw new Error("pack_report_part returned no row");
			({ reportId, receivedAt, isLast } = step);
		}
	}

	async #moveNext(after: Place) {
		const { stepSize = MOVED_STEP_SIZE, partSize = MOVED_PART_SIZE } =
			this.#options;
		const [step] = await this.#asAgent<Device & { count: number }>(
			`select last_organization as "organizationId", last_device as "deviceId", moved as count
			from move_next_parts($1, $2, $3, $4, $5)`,
			[this.#month, stepSize, partSize, after.organizationId, after.deviceId],
		);
		return step && { ...step, ...NOTHING_READ };
	}

	async #moveDevice({ organizationId, deviceId }: Device): Promise<void> {
		const { partSize = MOVED_PART_SIZE } = this.#options;
		for (let isLast = false; !isLast; ) {
			const [step] = await this.#asAgent<{ isLast: boolean }>(
				`select is_last as "isLast" from move_report_part($1, $2, $3, $4)`,
				[this.#month, organizationId, deviceId, partSize],
			);
			isLast = step?.isLast ?? true;
		}
	}

	/** Returns the next device with plain reports in the month, in the order of both kinds of steps. */
	async #nextDevice(after: Device): Promise<Device | undefined> {
		const [device] = await this.#asAgent<Device>(
			`select r.organization_id as "organizationId", r.device_id as "deviceId"
			from posture_reports r
			where r.received_at >= $1::date and r.received_at < $1::date + interval '1 month'
				and (r.organization_id, r.device_id) > ($2, $3)
				and not exists (
					select from organization_closures c
					where c.organization_id = r.organization_id and c.delete_after < now() + interval '1 hour'
				)
			order by r.organization_id, r.device_id limit 1`,
			[this.#month, after.organizationId, after.deviceId],
		);
		return device;
	}

	/**
	 * Packs the devices again whose reports changed after they were packed, and those whose numbers of
	 * reports differ for any other reason. Returns false if the work was aborted or a device failed.
	 */
	async #repairDifferences(): Promise<boolean> {
		const packAgain = (device: Device) =>
			this.#attempt(device, () => this.#packDevice(device));
		const changed = await this.#asAgent<Device>(
			`select organization_id as "organizationId", device_id as "deviceId"
			from changed_since_packed($1)`,
			[this.#month],
		);
		for (const device of changed) {
			if (this.#mustStop()) return false;
			await packAgain(device);
		}
		let after: Device | undefined = BEGINNING;
		while (after) {
			const begun = performance.now();
			const compared: (Device & { isEqual: boolean })[] = await this.#asAgent(
				`select organization_id as "organizationId", device_id as "deviceId", is_equal as "isEqual"
				from compare_packed_reports($1, $2, $3, $4)`,
				[this.#month, after.organizationId, after.deviceId, COMPARED_DEVICES],
			);
			for (const device of compared) {
				if (this.#mustStop()) return false;
				if (!device.isEqual) await packAgain(device);
			}
			const reached = compared.find(({ isEqual }) => isEqual);
			after = reached?.deviceId ? reached : undefined;
			await this.#rest(begun);
		}
		return this.failed.length === 0 && !this.#mustStop();
	}

	#mustStop(): boolean {
		return (
			this.#options.signal?.aborted === true ||
			this.failed.length >= MOST_FAILURES
		);
	}

	/** Returns false, and notes the device, if `work` fails because of it. */
	async #attempt(device: Device, work: () => Promise<void>): Promise<boolean> {
		try {
			await work();
			return true;
		} catch (error) {
			requireDeviceError(error);
			this.#note(device, error);
			return false;
		}
	}

	#note({ organizationId, deviceId }: Device, error: unknown): void {
		const isKnown = this.failed.some((one) => one.deviceId === deviceId);
		if (isKnown) return;
		this.failed.push({ organizationId, deviceId, month: this.#month, error });
	}

	/**
	 * Runs a statement in a transaction of its own, as the role that sees the reports of all
	 * organizations.
	 */
	async #asAgent<Row extends object>(
		text: string,
		values: unknown[],
	): Promise<Row[]> {
		const client = this.#client;
		await client.query("begin");
		try {
			await client.query(setRole("agent", "transaction"));
			const { rows } = await client.query<Row>(text, values);
			await client.query("commit");
			return rows;
		} catch (error) {
			await client.query("rollback").catch(() => {});
			throw error;
		}
	}

	async #rest(begun: number): Promise<void> {
		const { rest = 1, signal } = this.#options;
		const ms = (performance.now() - begun) * rest;
		await sleep(ms, undefined, { signal }).catch(() => {});
	}
}

/**
 * Throws errors that concern the whole database, such as a lost connection or a lock. Too much time
 * or memory can be the fault of one device, so this does not throw them.
 */
function requireDeviceError(error: unknown): void {
	const code = codeOf(error);
	if (code === QUERY_CANCELED || code === OUT_OF_MEMORY) return;
	if (isDatabaseUnavailable(error)) throw error;
}

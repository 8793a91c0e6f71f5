import { setTimeout as sleep } from "node:timers/promises";
import { makeId } from "../../src/id.ts";
import type { Fleet } from "../fleet.ts";

/** Milliseconds between two changes of a device, at least and at most. */
const EVERY_MS = { least: 300, most: 1_500 };
const RETRY_MS = 100;
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * The checks that change. Most devices change the first one. The others change on one device each.
 */
export const CHECKS = [
	"DISK_ENCRYPTION",
	"FIREWALL_ENABLED",
	"SCREEN_LOCK",
	"PASSWORD_POLICY",
] as const;

/**
 * Devices that change the status of a check again and again. As the agent does, a device repeats a
 * report with the same id until it is acknowledged.
 */
export class ChangingDevices {
	/** The expected event for each acknowledged report that changed a status, by the report's id. */
	readonly changes = new Map<string, "posture.failed" | "posture.passed">();
	readonly #port: number;
	readonly #fleet: Fleet;
	readonly #status: ("PASS" | "FAIL")[];
	#isStopping = false;
	#work: Promise<void>[] = [];

	constructor(port: number, fleet: Fleet) {
		this.#port = port;
		this.#fleet = fleet;
		this.#status = fleet.ids.map(() => "PASS");
	}

	/** Reports that every device passes its check. A first PASS is no event. */
	async begin(): Promise<void> {
		await Promise.all(this.#fleet.ids.map((_, at) => this.#report(at, "PASS")));
	}

	start(): void {
		this.#work = this.#fleet.ids.map((_, at) => this.#changeAgainAndAgain(at));
	}

	/** Stops the changes and lets every device pass. */
	async stop(): Promise<void> {
		this.#isStopping = true;
		await Promise.all(this.#work);
		await Promise.all(this.#fleet.ids.map((_, at) => this.#become(at, "PASS")));
	}

	async #changeAgainAndAgain(at: number): Promise<void> {
		while (!this.#isStopping) {
			const { least, most } = EVERY_MS;
			await sleep(least + Math.random() * (most - least));
			await this.#become(at, this.#status[at] === "PASS" ? "FAIL" : "PASS");
		}
	}

	async #become(at: number, status: "PASS" | "FAIL"): Promise<void> {
		if (this.#status[at] === status) return;
		const id = await this.#report(at, status);
		this.#status[at] = status;
		this.changes.set(
			id,
			status === "FAIL" ? "posture.failed" : "posture.passed",
		);
	}

	/** Sends a report until it is acknowledged. Returns its id. */
	async #report(at: number, status: "PASS" | "FAIL"): Promise<string> {
		const [organization = ""] = this.#fleet.organizations;
		const correlation_id = makeId(organization, "device_posture_report");
		const check_key = CHECKS[at] ?? CHECKS[0];
		const body = JSON.stringify({
			results: [
				{
					check_key,
					status,
					observed_at: new Date().toISOString(),
					correlation_id,
				},
			],
		});
		while (!(await this.#isAcknowledged(at, body))) await sleep(RETRY_MS);
		return correlation_id;
	}

	async #isAcknowledged(at: number, body: string): Promise<boolean> {
		try {
			const { status } = await fetch(
				`http://127.0.0.1:${this.#port}/api/agent/v1/postures`,
				{
					method: "POST",
					body,
					headers: { authorization: `Bearer ${this.#fleet.keys[at]}` },
					signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
				},
			);
			if (status === 204) return true;
			if (status === 503) return false;
			throw new Error(`a report was answered with ${status}`);
		} catch (error) {
			// The service is down. Only an answer can be wrong.
			if (error instanceof TypeError || isTimeout(error)) return false;
			throw error;
		}
	}
}

const isTimeout = (error: unknown) =>
	error instanceof DOMException && error.name === "TimeoutError";

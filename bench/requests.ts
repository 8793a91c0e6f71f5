import { CHECK_KEYS, type PostureStatus } from "../src/devices/terms.ts";
import { makeId } from "../src/id.ts";
import {
	type Fleet,
	factsOf,
	organizationOf,
	sampleEvidence,
} from "./fleet.ts";

export type Kind = "heartbeats" | "postures";

export const EXPECTED_STATUS: Record<Kind, number> = {
	heartbeats: 200,
	postures: 204,
};

/**
 * The share of results whose status differs from that in the device's previous report, by the kind of
 * report. One of the checks changes in a changing report.
 */
const CHANGE_RATES = {
	"first reports": 0,
	"steady reports": 0.01,
	"changing reports": 1 / CHECK_KEYS.length,
};
export type ReportKind = keyof typeof CHANGE_RATES;

const EVIDENCE = sampleEvidence();
const STATUSES: PostureStatus[] = ["PASS", "FAIL"];
const BEGINNINGS = CHECK_KEYS.map(
	(check) => `{"check_key":"${check}","status":"`,
);
const MIDDLES = CHECK_KEYS.map(
	(_, index) =>
		`","evidence":${JSON.stringify(EVIDENCE[index])},"observed_at":"`,
);

/** Writes the HTTP requests of a fleet's devices as ASCII text. */
export class Requests {
	readonly #fleet: Fleet;
	readonly #host: string;
	/** The heartbeat of each device, which is always the same. */
	readonly #heartbeats: string[] = [];
	/** One number for each check of each device: 1 if the check currently fails. */
	readonly #failing: Uint8Array;

	constructor(fleet: Fleet, host: string) {
		this.#fleet = fleet;
		this.#host = host;
		this.#failing = new Uint8Array(fleet.keys.length * CHECK_KEYS.length);
		// At first, one check in ten fails.
		for (let i = 0; i < this.#failing.length; i += 10) this.#failing[i] = 1;
	}

	heartbeat(device: number): string {
		let request = this.#heartbeats[device];
		if (request === undefined) {
			const body = JSON.stringify(factsOf(device));
			request = this.#write("heartbeat", device, body);
			this.#heartbeats[device] = request;
		}
		return request;
	}

	/** Returns a report that is observed now. */
	postures(device: number, kind: ReportKind): string {
		const id = makeId(
			organizationOf(this.#fleet, device),
			"device_posture_report",
		);
		const end = `${new Date().toISOString()}","correlation_id":"${id}"}`;
		let results = "";
		for (let check = 0; check < CHECK_KEYS.length; check++) {
			const state = device * CHECK_KEYS.length + check;
			let failing = this.#failing[state] as number;
			if (Math.random() < CHANGE_RATES[kind]) {
				failing = 1 - failing;
				this.#failing[state] = failing;
			}
			if (check > 0) results += ",";
			results += `${BEGINNINGS[check]}${STATUSES[failing]}${MIDDLES[check]}${end}`;
		}
		return this.#write("postures", device, `{"results":[${results}]}`);
	}

	#write(route: string, device: number, body: string): string {
		return (
			`POST /api/agent/v1/${route} HTTP/1.1\r\nHost: ${this.#host}\r\nUser-Agent: agent/1.4.2\r\n` +
			`Content-Length: ${body.length}\r\nAuthorization: Bearer ${this.#fleet.keys[device]}\r\n` +
			`Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n${body}`
		);
	}
}

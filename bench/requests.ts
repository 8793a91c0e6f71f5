import { CANONICAL_CHECKS, type PostureStatus } from "../src/devices/terms.ts";
import { makeId } from "../src/id.ts";
import { type Fleet, factsOf, organizationOf } from "./fleet.ts";

export type Kind = "heartbeats" | "postures";

export const EXPECTED_STATUS: Record<Kind, number> = {
	heartbeats: 200,
	postures: 204,
};

/** The share of results whose status differs from the device's report before. */
const CHANGE_RATE = 0.01;

type Check = keyof typeof CANONICAL_CHECKS;
const CHECKS = Object.keys(CANONICAL_CHECKS) as Check[];

/** What agents give as evidence: 60 to 150 bytes a check. */
const EVIDENCE: Record<Check, object> = {
	DISK_ENCRYPTION: {
		method: "filevault",
		volumes: [{ mount: "/System/Volumes/Data", encrypted: true }],
		recovery_key_escrowed: true,
	},
	SCREEN_LOCK: {
		idle_seconds: 300,
		require_password: true,
		grace_seconds: 0,
		source: "configuration_profile",
	},
	FIREWALL_ENABLED: {
		engine: "application_firewall",
		enabled: true,
		stealth_mode: true,
		block_all_incoming: false,
	},
	TIME_SYNC: {
		service: "timed",
		enabled: true,
		server: "time.apple.com",
		offset_ms: 12.4,
	},
	OS_VERSION: {
		name: "macOS",
		version: "26.1",
		build: "25B78",
		kernel: "25.1.0",
		arch: "arm64",
	},
	AUTO_UPDATE: {
		check: true,
		download: true,
		install_os: true,
		install_security: true,
		last_checked_at: "2026-03-30T22:14:07Z",
	},
	PASSWORD_POLICY: {
		min_length: 12,
		requires_complexity: true,
		max_failed_attempts: 10,
		source: "pwpolicy",
	},
	REMOTE_LOGIN: {
		sshd: { enabled: false },
		screen_sharing: { enabled: false },
		remote_management: false,
	},
	MALWARE_PROTECTION: {
		engine: "xprotect",
		enabled: true,
		definitions_version: "5324",
		updated_at: "2026-03-29T18:00:41Z",
	},
};

const STATUSES: PostureStatus[] = ["PASS", "FAIL"];
const BEGINNINGS = CHECKS.map((check) => `{"check_key":"${check}","status":"`);
const MIDDLES = CHECKS.map(
	(check) => `","evidence":${JSON.stringify(EVIDENCE[check])},"observed_at":"`,
);

/** Writes the HTTP requests of a fleet's devices: text without characters beyond ASCII. */
export class Requests {
	readonly #fleet: Fleet;
	readonly #host: string;
	/** A device repeats its heartbeat unchanged. */
	readonly #heartbeats: string[] = [];
	/** 1 where a device's check fails at present. */
	readonly #failing: Uint8Array;

	constructor(fleet: Fleet, host: string) {
		this.#fleet = fleet;
		this.#host = host;
		this.#failing = new Uint8Array(fleet.keys.length * CHECKS.length);
		// One check in ten fails at first.
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

	/** A report observed now; when it is not the device's first, some statuses have changed. */
	postures(device: number, isFirst: boolean): string {
		const id = makeId(
			organizationOf(this.#fleet, device),
			"device_posture_report",
		);
		const end = `${new Date().toISOString()}","correlation_id":"${id}"}`;
		let results = "";
		for (let check = 0; check < CHECKS.length; check++) {
			const state = device * CHECKS.length + check;
			let failing = this.#failing[state] as number;
			if (!isFirst && Math.random() < CHANGE_RATE) {
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

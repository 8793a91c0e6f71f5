import { Gauge, type Registry } from "prom-client";
import { isCanonicalCheck } from "../devices/terms.ts";
import type { FleetCounts } from "./fleet.ts";

/** Adds the gauges of all organizations' devices, their checks, and enrollment keys. */
export function addFleet(counts: FleetCounts, registers: Registry[]): void {
	new Gauge({
		name: "assay_devices",
		help: "Devices of all organizations, at most five minutes old.",
		labelNames: ["status", "freshness"],
		// Every process counts the same devices, so the sum over processes would be wrong.
		aggregator: "max",
		registers,
		async collect() {
			const rows = await counts.devices();
			this.reset();
			for (const { status, freshness, devices } of rows) {
				this.set({ status, freshness }, devices);
			}
		},
	});
	new Gauge({
		name: "assay_devices_not_reporting",
		help: "ACTIVE devices that send heartbeats but no reports, at most 15 minutes old.",
		aggregator: "max",
		registers,
		async collect() {
			this.remove();
			for (const devices of await counts.notReporting()) this.set(devices);
		},
	});
	addStates(counts, registers);
	new Gauge({
		name: "assay_enrollment_keys",
		help: "Enrollment keys that can be used, by whether they run out soon.",
		labelNames: ["running_out"],
		aggregator: "max",
		registers,
		async collect() {
			this.reset();
			for (const { usable, running_out } of await counts.enrollmentKeys()) {
				this.set({ running_out: "yes" }, running_out);
				this.set({ running_out: "no" }, usable - running_out);
			}
		},
	});
	new Gauge({
		name: "assay_enrollment_keys_ended",
		help: "Enrollment keys that expired or were used up in the last 14 days and are not revoked.",
		aggregator: "max",
		registers,
		async collect() {
			this.remove();
			for (const { ended } of await counts.enrollmentKeys()) this.set(ended);
		},
	});
	new Gauge({
		name: "assay_devices_awaiting_approval",
		help: "Devices that wait until an administrator approves them.",
		aggregator: "max",
		registers,
		async collect() {
			this.remove();
			for (const { awaiting_approval } of await counts.enrollmentKeys()) {
				this.set(awaiting_approval);
			}
		},
	});
}

/** Checks that only agents know share one label, because agents may make up any number of them. */
const OTHER_CHECKS = "other";

function addStates(counts: FleetCounts, registers: Registry[]): void {
	new Gauge({
		name: "assay_devices_by_compliance",
		help: "ACTIVE devices by their state under the device policy, as counted in the background.",
		labelNames: ["compliance"],
		aggregator: "max",
		registers,
		async collect() {
			this.reset();
			for (const { check_key, state, devices } of await counts.states()) {
				if (check_key === null) this.inc({ compliance: state }, devices);
			}
		},
	});
	new Gauge({
		name: "assay_device_check_states",
		help: "ACTIVE devices by check and state under the device policy, as counted in the background.",
		labelNames: ["check", "state"],
		aggregator: "max",
		registers,
		async collect() {
			this.reset();
			for (const { check_key, state, devices } of await counts.states()) {
				if (check_key === null) continue;
				const check = isCanonicalCheck(check_key) ? check_key : OTHER_CHECKS;
				this.inc({ check, state }, devices);
			}
		},
	});
}

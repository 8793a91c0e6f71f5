import type { Host } from "../../host.ts";
import { parseSettings } from "./settings.ts";

export interface ServiceState {
	/** True if it runs; for a timer or a socket, if it is armed. */
	isActive: boolean;
	/** True if it starts at boot. */
	isEnabled: boolean;
}

export type Services = Map<string, ServiceState>;

/**
 * Returns the states of systemd units by the requested names, without units that do not exist. With
 * OpenRC it returns the services of the same names. Undefined if neither of them runs.
 */
export async function findServices(
	host: Host,
	units: readonly string[],
): Promise<Services | undefined> {
	const shown = await host.run("systemctl", [
		"show",
		"--property=LoadState,ActiveState,UnitFileState",
		...units,
	]);
	if (shown.ended === "exited" && shown.exitCode === 0) {
		return parseUnits(shown.stdout, units);
	}
	return shown.ended === "timed_out" ? undefined : findOpenRc(host, units);
}

/**
 * One block of lines a unit, in the order asked for: a unit's own name may be another (an alias).
 */
function parseUnits(
	text: string,
	units: readonly string[],
): Services | undefined {
	const blocks = text.trim().split(/\n{2,}/);
	if (blocks.length !== units.length) return undefined;
	const services: Services = new Map();
	for (const [index, unit] of units.entries()) {
		const settings = parseSettings(blocks[index] ?? "");
		const active = settings.get("ActiveState");
		if (active === undefined) return undefined;
		if (settings.get("LoadState") !== "loaded") continue;
		services.set(unit, {
			isActive: active === "active" || active === "reloading",
			isEnabled: /^(enabled|alias|generated)/.test(
				settings.get("UnitFileState") ?? "",
			),
		});
	}
	return services;
}

async function findOpenRc(
	host: Host,
	units: readonly string[],
): Promise<Services | undefined> {
	const started = await host.listFolder("/run/openrc/started");
	if (started.kind !== "names") return undefined;
	const enabled = new Set<string>();
	for (const level of ["boot", "default"]) {
		const folder = await host.listFolder(`/etc/runlevels/${level}`);
		if (folder.kind === "names") for (const n of folder.names) enabled.add(n);
	}
	const services: Services = new Map();
	for (const unit of units) {
		if (!unit.endsWith(".service")) continue;
		const name = unit.slice(0, -".service".length);
		const isActive = started.names.includes(name);
		const isEnabled = enabled.has(name);
		if (isActive || isEnabled) services.set(unit, { isActive, isEnabled });
	}
	return services;
}

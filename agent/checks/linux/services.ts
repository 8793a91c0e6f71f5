import type { Host } from "../../host.ts";
import { parseSettings } from "./settings.ts";

export interface ServiceState {
	/** True if the service runs, or if the timer or socket is armed. */
	isActive: boolean;
	/** True if the unit starts at boot. */
	isEnabled: boolean;
}

export type Services = Map<string, ServiceState>;

/**
 * Returns the states of systemd units by the names that were requested. Units that do not exist are
 * left out. On a system with OpenRC, returns the services of the same names. Returns undefined if
 * neither systemd nor OpenRC runs.
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
 * Parses one block of lines for each unit. The blocks come in the order of the request. The check
 * relies on this order, because an alias reports the name of another unit.
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

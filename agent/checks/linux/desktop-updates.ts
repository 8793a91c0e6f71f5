import type { Host } from "../../host.ts";
import { findDesktops, findPerson } from "./desktops.ts";
import { findProcesses } from "./processes.ts";
import { parseSettings, parseSwitch } from "./settings.ts";

const FILE = "PlasmaDiscoverUpdates";

/**
 * Returns true if the KDE of somebody who is signed in installs updates by itself: Discover with
 * `UseUnattendedUpdates`. It does so only while that user is signed in and idle. The suffix [$i]
 * fixes the setting for all users.
 */
export async function doesDesktopUpdate(host: Host): Promise<boolean> {
	const processes = (await findProcesses(host)) ?? [];
	const desktops = await findDesktops(
		host,
		processes.filter(({ isContained }) => !isContained),
	);
	for (const { kind, uid } of desktops) {
		if (kind !== "kde") continue;
		const person = await findPerson(host, uid);
		if (typeof person === "string") continue;
		const [system, own] = [
			await host.readFile(`/etc/xdg/${FILE}`),
			await person.readFile(`${person.home}/.config/${FILE}`),
		].map((file) => parseSettings(file.kind === "text" ? file.text : ""));
		const key = "Global/UseUnattendedUpdates";
		const value =
			system?.get(`${key}[$i]`) ?? own?.get(key) ?? system?.get(key);
		if (parseSwitch(value)) return true;
	}
	return false;
}

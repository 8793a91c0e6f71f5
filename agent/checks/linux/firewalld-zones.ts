import type { Host } from "../../host.ts";
import { runForText } from "../run-for-text.ts";

/** firewalld's own zones. Only their names appear in evidence. */
const OWN_ZONES =
	/^(block|dmz|docker|drop|external|home|internal|libvirt|libvirt-routed|nm-shared|public|trusted|work|FedoraServer|FedoraWorkstation)$/;

/** Zones for the device's own containers and virtual machines. Nobody else sends packets there. */
const INNER_ZONES = /^(docker|libvirt|libvirt-routed|nm-shared)$/;

const MAX_ZONES = 20;

/**
 * Returns the name of an active zone that accepts every packet, or `custom` if it is not one of
 * firewalld's own. Returns null if every active zone keeps packets out, and undefined if firewalld
 * does not answer. The default zone is active too, for interfaces that have no zone. A zone that
 * only has tunnels of a VPN does not count, because the check follows packets on tunnels separately.
 */
export async function findOpenZone(
	host: Host,
	tunnels: readonly string[],
): Promise<string | null | undefined> {
	const active = await runForText(host, "firewall-cmd", ["--get-active-zones"]);
	const standard = await runForText(host, "firewall-cmd", [
		"--get-default-zone",
	]);
	if (active === undefined || standard === undefined) return undefined;
	const usual = standard.trim();
	const zones = parseActiveZones(active);
	if (!zones.has(usual)) zones.set(usual, []);
	if (zones.size > MAX_ZONES) return undefined;
	for (const [zone, members] of zones) {
		if (!/^[\w-]{1,64}$/.test(zone)) return undefined;
		if (INNER_ZONES.test(zone)) continue;
		if (zone !== usual && hasOnlyTunnels(members, tunnels)) continue;
		const settings = await runForText(host, "firewall-cmd", [
			`--zone=${zone}`,
			"--list-all",
		]);
		const target = /^ {2}target: (\S+)$/m.exec(settings ?? "")?.[1];
		if (target === undefined) return undefined;
		if (target === "ACCEPT") return OWN_ZONES.test(zone) ? zone : "custom";
	}
	return null;
}

/** Returns the active zones with their lines, such as `interfaces: eth0 wlan0`. */
function parseActiveZones(text: string): Map<string, string[]> {
	const zones = new Map<string, string[]>();
	let members: string[] = [];
	for (const line of text.split("\n")) {
		// Newer versions add a note, such as `public (default)`.
		const zone = /^([\w-]{1,64})(?: \([a-z, ]+\))?$/.exec(line)?.[1];
		if (zone !== undefined) {
			members = [];
			zones.set(zone, members);
		} else if (line.trim() !== "") {
			members.push(line.trim());
		}
	}
	return zones;
}

const hasOnlyTunnels = (members: string[], tunnels: readonly string[]) =>
	members.length > 0 &&
	members.every((line) => {
		const names = /^interfaces: (.+)$/.exec(line)?.[1]?.split(" ") ?? [""];
		return names.every((name) => tunnels.includes(name));
	});

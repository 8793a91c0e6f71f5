import type { Host } from "../../host.ts";
import {
	type CheckOutcome,
	fail,
	notApplicable,
	pass,
	unknown,
	word,
} from "../check.ts";
import { type Encrypted, findBlockDevices } from "./block-devices.ts";
import { findEnclosure } from "./enclosure.ts";
import { readMounts } from "./mounts.ts";
import {
	judgeMount,
	judgeSwap,
	readDatasets,
	worse,
} from "./volume-encryption.ts";
import { isOfSystem, isOnDisk, nameVolumes } from "./volumes.ts";

/**
 * Returns PASS if the root file system, all other file systems on internal disks, wherever they are
 * mounted, and the swap space are encrypted. A disk that people plug in counts only if the system
 * itself is on it. These file systems may be encrypted by dm-crypt (for example LUKS under or over
 * LVM or RAID) or by ZFS itself. /boot does not count. Encrypted home folders on an unencrypted
 * root fail, because swap, logs and temporary files hold the same data (NIST SP 800-111, full-disk
 * encryption). Unencrypted swap beside an encrypted root fails too, but swap in memory (zram) is
 * not on a disk. The check cannot see encryption by the host of a virtual machine or by the drive
 * itself, so these do not count.
 */
export async function checkDiskEncryption(host: Host): Promise<CheckOutcome> {
	const enclosure = await findEnclosure(host);
	if (enclosure) return notApplicable(enclosure);
	const mounts = await readMounts(host);
	const root = mounts?.find((mount) => mount.target === "/");
	if (!mounts || !root) return unknown("unrecognized_output");
	if (/^(nfs4?|cifs|9p|virtiofs|ceph)$/.test(root.type)) {
		return notApplicable("network_root");
	}
	const onDisk = mounts.filter(isOnDisk);
	const isInMemory = /^(tmpfs|ramfs|rootfs|overlay)$/.test(root.type);
	if (isInMemory && !onDisk.some(isOfSystem)) return notApplicable("no_disk");
	if (!isInMemory && !onDisk.includes(root)) {
		return unknown("root_device_not_recognized");
	}
	const devices = await findBlockDevices(host);
	if (typeof devices === "string") return unknown(devices);

	const system = {
		host,
		mounts,
		devices,
		datasets: await readDatasets(host, mounts),
	};
	const found = new Map<string, Encrypted>();
	const fileSystems = new Map<string, string>();
	const methods = new Set<string>();
	for (const [name, mount] of nameVolumes(onDisk, devices)) {
		const { encrypted, method } = await judgeMount(system, mount);
		if (method) methods.add(method);
		const others = found.has(name) ? found.get(name) : true;
		found.set(name, worse(others, encrypted));
		if (encrypted === false) fileSystems.set(name, mount.type);
	}
	const swap = await judgeSwap(system);
	if (swap !== "none") found.set("swap", swap);

	const evidence = {
		...Object.fromEntries(
			[...found].map(([name, encrypted]) => [
				`${name}_encrypted`,
				encrypted ?? "unknown",
			]),
		),
		...(methods.size > 0 && { methods: [...methods].sort() }),
	};
	const plain = [...found].filter(([, encrypted]) => encrypted === false);
	// The agent does not send the path of this volume, so the file system has to tell which one it
	// is.
	const types = [...fileSystems]
		.filter(([name]) => name.startsWith("other_"))
		.map(([name, type]) => [`${name}_type`, word(type) ?? "unknown"]);
	if (plain.length > 0) {
		const folders = mounts.some((mount) => mount.type === "ecryptfs");
		return fail({
			...evidence,
			unencrypted: plain.map(([name]) => name).sort(),
			...Object.fromEntries(types),
			...(folders && { encrypted_folders: true }),
		});
	}
	return [...found.values()].includes(undefined)
		? unknown("device_not_recognized", evidence)
		: pass(evidence);
}

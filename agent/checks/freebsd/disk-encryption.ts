import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";
import { runForText } from "./commands.ts";

type Encryption = "geli" | "zfs" | "none" | "unknown";

/**
 * Returns PASS if the root file system and the swap space are on GELI providers or in encrypted ZFS
 * datasets. Swap counts because it receives the contents of memory. A GELI device is named `….eli`
 * and exists only while it is attached, so the names of the devices in use are proof. The check
 * follows labels and pools to their devices. It cannot see encryption by the disk itself.
 */
export async function checkDiskEncryption(host: Host): Promise<CheckOutcome> {
	const mounts = await host.run("mount", ["-p"]);
	const problem = whyFailed(mounts, host);
	if (problem !== undefined) return unknown(problem);
	const [, device, kind] =
		/^(\S{1,255})[ \t]+\/[ \t]+(\S{1,32})[ \t]/m.exec(mounts.stdout) ?? [];
	if (device === undefined || kind === undefined)
		return unknown("unrecognized_output");
	if (kind !== "zfs" && kind !== "ufs") return unknown("file_system_not_known");

	const root =
		kind === "zfs"
			? await datasetEncryption(host, device)
			: await deviceEncryption(host, device);
	const swap = await swapEncryption(host);
	const evidence = {
		file_system: kind,
		...(root === "unknown"
			? {}
			: { engine: root, root_encrypted: root !== "none" }),
		...(swap === "unknown" || swap === "absent"
			? {}
			: { swap_encrypted: swap !== "none" }),
	};
	if (root === "none" || swap === "none") return fail(evidence);
	if (root === "unknown") return unknown("storage_not_recognized", evidence);
	if (swap === "unknown") return unknown("swap_not_recognized", evidence);
	return pass(evidence);
}

/**
 * Judges a ZFS dataset, which is encrypted if ZFS encrypts it or if all disks of its pool are
 * encrypted.
 */
async function datasetEncryption(
	host: Host,
	dataset: string,
): Promise<Encryption> {
	if (!/^[A-Za-z][\w.:/-]*$/.test(dataset)) return "unknown";
	const own = await runForText(host, "zfs", [
		"get",
		"-H",
		"-o",
		"value",
		"encryption",
		dataset,
	]);
	if (/^aes-\d{3}-[cg]cm\s*$/.test(own ?? "")) return "zfs";
	const [pool = ""] = dataset.split("/");
	const listed = await runForText(host, "zpool", [
		"list",
		"-v",
		"-H",
		"-P",
		pool,
	]);
	// The pool is on the first line. Cache and log devices count too, because they hold data of the
	// pool.
	const devices = [
		...(listed ?? "").matchAll(/^\t[ \t]*(\/dev\/\S{1,200})/gm),
	].map(([, path = ""]) => path);
	if (devices.length === 0) return "unknown";
	return worst(
		await Promise.all(devices.map((path) => deviceEncryption(host, path))),
	);
}

async function swapEncryption(host: Host): Promise<Encryption | "absent"> {
	const listed = await runForText(host, "swapctl", ["-l"]);
	if (listed === undefined || !/^Device:[^\n]{0,80}\n(\/dev\/|$)/.test(listed))
		return "unknown";
	const devices = [
		...listed.matchAll(/^(\S{1,200})[ \t]+\d+[ \t]+\d+[ \t]*$/gm),
	].map(([, path = ""]) => path);
	const found = await Promise.all(
		devices.map((path) => {
			const [, volume] = /^\/dev\/zvol\/(\S+)$/.exec(path) ?? [];
			return volume === undefined
				? deviceEncryption(host, path)
				: datasetEncryption(host, volume);
		}),
	);
	return devices.length === 0 ? "absent" : worst(found);
}

const worst = (found: readonly Encryption[]): Encryption =>
	found.find((each) => each === "none") ??
	found.find((each) => each === "unknown") ??
	found[0] ??
	"unknown";

/** Matches the kernel's names for disks and partitions, and the labels in partition tables. */
const BARE =
	/^(ada|da|nda|nvd|vtbd|mmcsd|sdda|xbd|ad|aacd|mfid|mfisyspd|mrsas|amrd|idad|twed|ciss|nvme\d+ns|gpt\/|gptid\/|diskid\/)/;

/**
 * Returns true for a GELI device such as `ada0p3.eli` and for its partitions, such as `ada0.elip2`
 * and `ada0.elis1a`.
 */
const isGeli = (name: string) =>
	/\.eli(?:p\d{1,3}|s\d{1,2}[a-h]?|[a-h])?$/.test(name);

async function deviceEncryption(host: Host, path: string): Promise<Encryption> {
	const name = path.replace(/^\/dev\//, "");
	if (isGeli(name)) return "geli";
	if (/^(ufs|ufsid|label)\//.test(name)) {
		const labels = await runForText(host, "glabel", ["status"]);
		for (const line of labels?.split("\n") ?? []) {
			const [label, , provider] = line.trim().split(/[ \t]+/);
			if (label === name && provider !== undefined && provider !== name) {
				return isGeli(provider)
					? "geli"
					: BARE.test(provider)
						? "none"
						: "unknown";
			}
		}
		return "unknown";
	}
	// Mirrors, stripes and similar devices may consist of encrypted or unencrypted providers.
	return BARE.test(name) ? "none" : "unknown";
}

import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";
import { runForText } from "../run-for-text.ts";

type Encryption = "geli" | "zfs" | "none" | "unknown";

/**
 * Returns PASS if the root file system, all other UFS and ZFS file systems and the swap space are
 * on GELI providers or in encrypted ZFS datasets. A file system below /mnt or /media on a disk
 * `da…`, as USB disks are named, does not count. Swap counts because it receives the contents of
 * memory. A GELI device is named `….eli` and exists only while it is attached, so the names of the
 * devices in use are proof. The check follows labels and pools to their devices. It cannot see
 * encryption by the disk itself.
 */
export async function checkDiskEncryption(host: Host): Promise<CheckOutcome> {
	const listed = await host.run("mount", ["-p"]);
	const problem = whyFailed(listed, host);
	if (problem !== undefined) return unknown(problem);
	const mounts = parseMounts(listed.stdout);
	const main = mounts.find(({ folder }) => folder === "/");
	if (main === undefined) return unknown("unrecognized_output");
	if (!hasData(main)) return unknown("file_system_not_known");

	const storage: Storage = {
		host,
		pools: new Map(),
		datasets: await readDatasets(host),
	};
	const root = await mountEncryption(storage, main);
	const others = await othersEncryption(
		storage,
		mounts.filter((mount) => mount !== main && hasData(mount)),
	);
	const swap = await swapEncryption(storage);
	const evidence = {
		file_system: main.kind,
		...(root === "unknown"
			? {}
			: { engine: root, root_encrypted: root !== "none" }),
		...Object.fromEntries(
			[...others].map(([name, found]) => [
				`${name}_encrypted`,
				found === "unknown" ? "unknown" : found !== "none",
			]),
		),
		...(swap === "unknown" || swap === "absent"
			? {}
			: { swap_encrypted: swap !== "none" }),
	};
	const found = [...others.values()];
	const plain = [["root", root], ["swap", swap], ...others].flatMap(
		([name, encryption]) => (encryption === "none" ? [name] : []),
	);
	if (plain.length > 0) return fail({ ...evidence, unencrypted: plain });
	if (root === "unknown" || found.includes("unknown"))
		return unknown("storage_not_recognized", evidence);
	if (swap === "unknown") return unknown("swap_not_recognized", evidence);
	return pass(evidence);
}

interface Mount {
	device: string;
	folder: string;
	kind: string;
}

/** The storage of the device. Each pool is judged only once. */
interface Storage {
	host: Host;
	pools: Map<string, Promise<Encryption>>;
	/** ZFS's property `encryption` by the name of the dataset. */
	datasets: ReadonlyMap<string, string>;
}

/** Asks ZFS once for all its datasets. */
async function readDatasets(host: Host): Promise<Map<string, string>> {
	const printed = await runForText(host, "zfs", [
		"get",
		"-H",
		"-t",
		"filesystem,volume",
		"-o",
		"name,value",
		"encryption",
	]);
	return new Map(
		(printed ?? "")
			.split("\n")
			.map((line) => line.split("\t"))
			.filter((pair): pair is [string, string] => pair.length === 2),
	);
}

const parseMounts = (text: string): Mount[] =>
	text
		.split("\n")
		.map((line) => line.split(/[ \t]+/))
		.filter(([, folder]) => folder?.startsWith("/"))
		.map(([device = "", folder = "", kind = ""]) => ({ device, folder, kind }));

const hasData = ({ kind }: Mount) => kind === "zfs" || kind === "ufs";

const isPluggedIn = ({ device, folder }: Mount) =>
	/^\/dev\/da\d/.test(device) && /^\/(mnt|media)(\/|$)/.test(folder);

/** Folders of the system. Their names appear in evidence. */
const OF_SYSTEM = /^\/(home|root|usr|var|tmp|opt|data)(\/|$)/;

/** Largest number of mounts that are judged. */
const MAX_MOUNTS = 500;

/**
 * Judges the file systems beside the root. Those in the same folder of the system, such as /var,
 * have one name together. The others have the name `other`, because the agent sends no paths.
 */
async function othersEncryption(
	storage: Storage,
	mounts: readonly Mount[],
): Promise<Map<string, Encryption>> {
	const found = new Map<string, Encryption>();
	for (const mount of mounts.slice(0, MAX_MOUNTS)) {
		if (isPluggedIn(mount)) continue;
		const name = OF_SYSTEM.exec(mount.folder)?.[1] ?? "other";
		const key = name === "root" ? "root_home" : name;
		const known = found.get(key);
		const own = await mountEncryption(storage, mount);
		found.set(key, known ? worst([known, own]) : own);
	}
	if (mounts.length > MAX_MOUNTS) found.set("other", "unknown");
	return found;
}

const mountEncryption = (storage: Storage, { kind, device }: Mount) =>
	kind === "zfs"
		? datasetEncryption(storage, device)
		: deviceEncryption(storage.host, device);

/**
 * Judges a ZFS dataset, which is encrypted if ZFS encrypts it or if all disks of its pool are
 * encrypted.
 */
async function datasetEncryption(
	{ host, pools, datasets }: Storage,
	dataset: string,
): Promise<Encryption> {
	if (!/^[A-Za-z][\w.:/-]*$/.test(dataset)) return "unknown";
	if (/^aes-\d{3}-[cg]cm$/.test(datasets.get(dataset) ?? "")) return "zfs";
	const [pool = ""] = dataset.split("/");
	const known = pools.get(pool) ?? poolEncryption(host, pool);
	pools.set(pool, known);
	return known;
}

async function poolEncryption(host: Host, pool: string): Promise<Encryption> {
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

async function swapEncryption(
	storage: Storage,
): Promise<Encryption | "absent"> {
	const listed = await runForText(storage.host, "swapctl", ["-l"]);
	if (listed === undefined || !/^Device:[^\n]{0,80}\n(\/dev\/|$)/.test(listed))
		return "unknown";
	const devices = [
		...listed.matchAll(/^(\S{1,200})[ \t]+\d+[ \t]+\d+[ \t]*$/gm),
	].map(([, path = ""]) => path);
	const found = await Promise.all(
		devices.map((path) => {
			const [, volume] = /^\/dev\/zvol\/(\S+)$/.exec(path) ?? [];
			return volume === undefined
				? deviceEncryption(storage.host, path)
				: datasetEncryption(storage, volume);
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

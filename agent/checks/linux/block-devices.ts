import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { Host } from "../../host.ts";
import { whyFailed } from "../failed-command.ts";
import { readLine } from "./read-text.ts";

/** True if everything that is written to a device is encrypted. Undefined if this is not known. */
export type Encrypted = boolean | undefined;

/** A device at one place in the device tree. A RAID device appears once under each of its disks. */
export interface BlockDevice {
	name: string;
	kernelName: string;
	fileSystem: string;
	uuid: string;
	label: string;
	mountpoints: string[];
	/** True if the device is on a disk that people plug in and take away. */
	isRemovable: boolean;
	/** The file that a loop device shows as a disk. */
	backingFile: string | undefined;
	encrypted: Encrypted;
	/** The encryption method, such as `luks2`. Undefined if the device is not encrypted. */
	method: string | undefined;
}

const COLUMNS = "NAME,KNAME,TYPE,FSTYPE,UUID,LABEL,RM,HOTPLUG,TRAN";

/**
 * Returns all block devices, including those that are built on other devices. If lsblk cannot list
 * them, returns the reason.
 */
export async function findBlockDevices(
	host: Host,
): Promise<BlockDevice[] | Reason> {
	let trouble: Reason = "unrecognized_output";
	// Older versions than util-linux 2.37 only have the column MOUNTPOINT and report an error for
	// MOUNTPOINTS.
	for (const column of ["MOUNTPOINTS", "MOUNTPOINT"]) {
		const listed = await host.run("lsblk", [
			"--json",
			"--output",
			`${COLUMNS},${column}`,
		]);
		const failure = whyFailed(listed, host);
		if (failure === undefined) {
			return (await readTree(host, listed.stdout)) ?? "unrecognized_output";
		}
		trouble = failure;
	}
	return trouble;
}

async function readTree(
	host: Host,
	text: string,
): Promise<BlockDevice[] | undefined> {
	let tree: unknown;
	try {
		tree = JSON.parse(text);
	} catch {
		return undefined;
	}
	const roots = field(tree, "blockdevices");
	if (!Array.isArray(roots)) return undefined;
	const devices: BlockDevice[] = [];
	await walk(
		host,
		roots,
		{
			encrypted: false,
			method: undefined,
			isRemovable: false,
			backingFile: undefined,
		},
		0,
		devices,
	);
	return devices;
}

type Below = Pick<
	BlockDevice,
	"encrypted" | "method" | "isRemovable" | "backingFile"
>;

async function walk(
	host: Host,
	nodes: unknown[],
	below: Below,
	depth: number,
	devices: BlockDevice[],
): Promise<void> {
	if (depth > 16) return;
	for (const node of nodes) {
		const kernelName = text(node, "kname");
		const isRemovable = below.isRemovable || isPluggedIn(node);
		const here = await lookAt(host, text(node, "type"), kernelName, {
			...below,
			isRemovable,
		});
		const points = field(node, "mountpoints") ?? [field(node, "mountpoint")];
		devices.push({
			name: text(node, "name"),
			kernelName,
			fileSystem: text(node, "fstype"),
			uuid: text(node, "uuid"),
			label: text(node, "label"),
			mountpoints: Array.isArray(points)
				? points.filter((point) => typeof point === "string")
				: [],
			...here,
		});
		const children = field(node, "children");
		if (Array.isArray(children)) {
			await walk(host, children, here, depth + 1, devices);
		}
	}
}

async function lookAt(
	host: Host,
	type: string,
	kernelName: string,
	below: Below,
): Promise<Below> {
	const unclear = { ...below, encrypted: undefined, method: undefined };
	if (type === "loop") {
		// The device tree does not show on which device the file of a loop device lies.
		const isNamed = /^loop\d{1,6}$/.test(kernelName);
		const backingFile = isNamed
			? await readLine(host, `/sys/block/${kernelName}/loop/backing_file`)
			: undefined;
		return { ...unclear, backingFile };
	}
	if (type !== "crypt" || below.encrypted) return below;
	if (!/^dm-\d{1,6}$/.test(kernelName)) return unclear;
	// dm-verity and dm-integrity devices have the type `crypt` too, but they encrypt nothing.
	const uuid = await readLine(host, `/sys/block/${kernelName}/dm/uuid`);
	const kind = /^CRYPT-([A-Z0-9]+)/.exec(uuid ?? "")?.[1] ?? "";
	if (/^(LUKS1|LUKS2|PLAIN|LOOPAES|TCRYPT|BITLK|FVAULT2)$/.test(kind)) {
		return { ...below, encrypted: true, method: kind.toLowerCase() };
	}
	return /^(VERITY|INTEGRITY)$/.test(kind) ? below : unclear;
}

/** Older versions of lsblk print `"1"` instead of `true`. */
function isPluggedIn(node: unknown): boolean {
	const isSet = (key: string) => {
		const value = field(node, key);
		return value === true || value === "1";
	};
	return isSet("rm") || isSet("hotplug") || text(node, "tran") === "usb";
}

const field = (value: unknown, key: string): unknown =>
	typeof value === "object" && value !== null && Object.hasOwn(value, key)
		? (value as Record<string, unknown>)[key]
		: undefined;

function text(value: unknown, key: string): string {
	const found = field(value, key);
	return typeof found === "string" ? found : "";
}

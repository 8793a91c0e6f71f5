import { Gauge, type Registry } from "prom-client";
import { type DiskFolders, readDiskSpace } from "./disk-space.ts";

/** Adds the free space of the disks that Assay fills. */
export function addDiskSpace(
	folders: DiskFolders,
	registers: Registry[],
): void {
	new Gauge({
		name: "assay_disk_free_bytes",
		help: "Free space on the disk of the embedded database, of the nightly backups and of the archive, if they are on this machine.",
		labelNames: ["of"],
		aggregator: "min",
		registers,
		async collect() {
			const found = await readDiskSpace(folders);
			this.reset();
			for (const { of, freeBytes } of found) this.set({ of }, freeBytes);
		},
	});
}

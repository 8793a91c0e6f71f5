import { expect, test } from "vitest";
import { makeFolder } from "../support/folder.ts";
import { startService } from "../support/service.ts";

async function readBacklog(env: Record<string, string>): Promise<string[]> {
	const { service, close } = await startService(undefined, {
		ASSAY_METRICS_PORT: "0",
		...env,
	});
	try {
		const answer = await fetch(service.metricsUrl ?? "no metrics");
		return (await answer.text())
			.split("\n")
			.filter((line) => line.startsWith("assay_archive_backlog"));
	} finally {
		await close();
	}
}

test("an installation without an archive has no months that wait for it, so no alert fires", async () => {
	const ASSAY_ARCHIVE_URL = await makeFolder("assay-archive-");
	expect(await readBacklog({ ASSAY_ARCHIVE_URL })).toEqual([
		'assay_archive_backlog{of="months"} 0',
		'assay_archive_backlog{of="devices"} 0',
		'assay_archive_backlog{of="files"} 0',
	]);
	expect(await readBacklog({})).toEqual([
		'assay_archive_backlog{of="devices"} 0',
		'assay_archive_backlog{of="files"} 0',
	]);
});

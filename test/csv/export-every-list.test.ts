import { expect, test } from "vitest";
import { listedIn } from "../../src/csv/columns.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import { shareConsole } from "../support/console-session.ts";

test("every list with pages can be exported", async () => {
	const served = await shareConsole();
	const admin = await served.signIn("admin");
	const { organizationId: organization_id } = served;
	const device = await served.activateDevice();
	const { nonconformity } = await admin.use("addNonconformity", {
		organization_id,
	});
	const { vendor } = await admin.use("addVendor", {
		organization_id,
		name: "Globex",
	});
	const { document } = await admin.use("addDocument", {
		organization_id,
		title: "Policy",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version } = await admin.use("createDraftDocumentVersion", {
		document_id: document.id,
	});
	const { snapshot } = await admin.use("takeSnapshot", {
		organization_id,
		name: "Vendors",
		type: "VENDORS",
	});
	const lists = (operations as readonly AnyOperation[]).filter(listedIn);
	expect(lists.length).toBeGreaterThan(17);
	for (const { name, tenant, input } of lists) {
		const query = new URLSearchParams();
		if (tenant === "organization_id") query.set(tenant, organization_id);
		else if (tenant) {
			const { id } =
				{
					id: nonconformity,
					vendor_id: vendor,
					document_id: document,
					document_version_id: document_version,
					snapshot_id: snapshot,
				}[tenant] ?? device;
			query.set(tenant, id);
		}
		const { check_key } = input.shape;
		if (check_key && !check_key.safeParse(undefined).success) {
			query.set("check_key", "DISK_ENCRYPTION");
		}
		const answer = await admin.get(`/api/console/export/${name}.csv?${query}`);
		expect([name, answer.status]).toEqual([name, 200]);
		expect(await answer.text()).toMatch(/^\w+(,\w+)+\r\n/);
	}
});

import { makeId } from "../../../src/id.ts";
import { samples } from "../../support/record-samples.ts";
import { inputOf } from "../../support/record-values.ts";
import type { Walk } from "./callers.ts";

/** Uses the tools of every register. */
export async function useRegisters({
	running,
	organization_id,
	admin,
	references,
}: Walk): Promise<void> {
	const { use } = admin;
	const { url } = running.service;
	const walk = async (sample: (typeof samples)[number]) => {
		const added = await use(`add${sample.one}`, {
			organization_id,
			...inputOf(sample, references, "all"),
		});
		const { id } = added[sample.key];
		await use(`get${sample.one}`, { id });
		await use(`list${sample.many}`, {
			organization_id,
			filter: { query: "several words" },
		});
		const field = sample.required[0] ?? "description";
		await use(`update${sample.one}`, {
			id,
			[field]: added[sample.key][field],
		});
		const listed = await fetch(
			`${url}/api/console/export/list${sample.many}.csv?organization_id=${organization_id}`,
			{ headers: { cookie: admin.cookie } },
		);
		await listed.text();
		await use(`delete${sample.one}`, { id });
	};
	await Promise.all(samples.map(walk));
}

/** Uses what is done with records of a register: importing, listing, linking, reviewing. */
export async function useRecords({
	organization_id,
	admin: { use },
	references,
}: Walk): Promise<void> {
	const { import_id } = await use("importRecords", {
		organization_id,
		kind: "vendor",
		csv: "name\nImported\n",
		dry_run: false,
	});
	await use("listImports", { organization_id });
	const mine = { organization_id, list: "vendor", search: { sort: "name" } };
	const { saved_view } = await use("saveView", { ...mine, name: "Mine" });
	await use("listSavedViews", { organization_id, list: "vendor" });
	await use("saveView", { ...mine, id: saved_view.id, name: "Own" });
	await use("deleteView", { id: saved_view.id });
	await use("rollBackImport", { id: import_id, dry_run: false });
	const pair = {
		record_id: references.measure[0],
		linked_record_id: references.vendor[0],
	};
	await use("linkRecords", pair);
	await use("listLinkedRecords", { record_id: pair.record_id });
	await use("unlinkRecords", pair);
	await use("addVendorReview", {
		vendor_id: references.vendor[0],
		outcome: "APPROVED",
		risk_rating: "LOW",
	});
	await use("listVendorReviews", { vendor_id: references.vendor[0] });
	const { task } = await use("addTask", { organization_id, name: "Assigned" });
	await use("assignTask", {
		task_id: task.id,
		assigned_to_id: references.people[0],
	});
	await use("unassignTask", { task_id: task.id });
	for (const archived of [true, false]) {
		await use("archiveRecords", {
			organization_id,
			record_ids: [references.vendor[0], references.measure[0]],
			archived,
		});
	}
	const watched = { record_id: references.measure[0] };
	const { comment } = await use("addComment", { ...watched, text: "Done?" });
	await use("listComments", watched);
	await use("updateComment", {
		id: comment.id,
		text: "Is it done?",
		mentioned_user_ids: [],
	});
	await use("deleteComment", { id: comment.id });
	const { comment: own } = await use("addComment", { ...watched, text: "Yes" });
	await use("withdrawComment", { id: own.id });
	await use("unwatchRecord", watched);
	await use("watchRecord", watched);
	await use("listStarters", { organization_id, framework: "gdpr" });
	await use("addStarters", {
		organization_id,
		framework: "nis-2",
		measures: ["mfa"],
		risks: ["phishing"],
	});
	await use("addRecords", {
		organization_id,
		kind: "measure",
		records: [
			{
				name: "Bulk",
				category: "IT",
				owner_id: references.people[0],
				linked_record_ids: references.vendor,
			},
		],
		idempotency_key: "statements",
	});
	await use("reassignRecords", {
		from: references.people[0],
		to: references.people[1],
	});
	await use("searchRecords", { organization_id, query: "cloud" });
	await use("getRecordNames", { organization_id, ids: references.vendor });
	await use("getRecordUses", { id: references.people[0] });
	await use("getRiskMatrix", { organization_id });
	await use("getCoverages", { organization_id });
	await use("getNextSteps", { organization_id });
	await use("getMeasuresOfRisks", {
		organization_id,
		risk_ids: [makeId(organization_id, "risk")],
	});
	await use("getBoardSummary", {
		organization_id,
		compared_with: "2026-01-31",
	});
	await use("getRecordHistory", { id: references.people[0] });
	for (const kind of ["risk", "measure", "device"]) {
		await use("countRecords", {
			organization_id,
			kind,
			group_by: "owner_id",
			filter: { query: "cloud" },
		});
	}
}

/** Uses frameworks with their controls, and snapshots. `documentId` belongs to a document. */
export async function useFrameworks(
	{ organization_id, admin: { use }, references }: Walk,
	documentId: string,
): Promise<void> {
	const { snapshot } = await use("takeSnapshot", {
		organization_id,
		name: "Before the audit",
		type: "ALL",
	});
	await use("listSnapshots", { organization_id });
	await use("getSnapshot", { id: snapshot.id, verify: true });
	await use("listSnapshotRecords", { snapshot_id: snapshot.id });
	await use("listSnapshotDifferences", { snapshot_id: snapshot.id });
	const { framework } = await use("addFramework", {
		organization_id,
		name: "ISO 27001",
	});
	const { control } = await use("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.8.1",
		name: "Devices",
	});
	for (const [name, kind, id] of [
		["Measure", "measure", references.measure[0]],
		["Document", "document", documentId],
		[
			"Audit",
			"audit",
			(
				await use("addAudit", {
					organization_id,
					framework_id: framework.id,
				})
			).audit.id,
		],
		["Snapshot", "snapshot", snapshot.id],
	]) {
		const ends = { control_id: control.id, [`${kind}_id`]: id };
		await use(`linkControl${name}`, ends);
		await use(`unlinkControl${name}`, ends);
	}
	const { sha256 } = await use("getStatementOfApplicability", {
		framework_id: framework.id,
	});
	await use("approveStatementOfApplicability", {
		framework_id: framework.id,
		sha256,
	});
	await use("listStatementApprovals", { framework_id: framework.id });
	await use("deleteSnapshot", { id: snapshot.id });
}

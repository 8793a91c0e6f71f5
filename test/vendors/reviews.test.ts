import { afterAll, beforeAll, expect, test } from "vitest";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const add = async (tool: string, input: object): Promise<Json> =>
	tools.use(tool, { organization_id: tools.organizationId, ...input });

const day = (days: number) =>
	new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test("a review with evidence gives the vendor its rating and dates, and is listed", async () => {
	const { vendor } = await add("addVendor", { name: "Globex" });
	const { evidence } = await add("addEvidence", {
		name: "SOC 2 report",
		url: "https://globex.example.com/soc2",
		linked_record_ids: [vendor.id],
	});
	const other = await add("addEvidence", { name: "Questionnaire" });
	const ids = [evidence.id, other.evidence.id];
	const { vendor_review: review } = await tools.use(
		"addVendorReview",
		{
			vendor_id: vendor.id,
			outcome: "APPROVED_WITH_CONDITIONS",
			risk_rating: "MEDIUM",
			reviewed_on: day(-1),
			next_review_date: day(364),
			note: "Two open findings",
			evidence_ids: ids,
		},
		tools.member.token,
	);
	expect(review.evidence.map(({ id }: Json) => id).sort()).toEqual(ids.sort());
	const after = (await tools.use("getVendor", { id: vendor.id })).vendor;
	expect(after).toMatchObject({
		risk_rating: "MEDIUM",
		last_review_date: day(-1),
		next_review_date: day(364),
	});
	const { linked_records } = await tools.use("listLinkedRecords", {
		record_id: vendor.id,
	});
	expect(linked_records).toHaveLength(2);

	// A review that is noted late stays in the list and changes nothing else.
	await tools.use("addVendorReview", {
		vendor_id: vendor.id,
		outcome: "REJECTED",
		risk_rating: "CRITICAL",
		reviewed_on: day(-30),
	});
	expect((await tools.use("getVendor", { id: vendor.id })).vendor).toEqual(
		after,
	);
	const { vendor_reviews } = await tools.use(
		"listVendorReviews",
		{ vendor_id: vendor.id },
		tools.viewer.token,
	);
	expect(vendor_reviews.map(({ outcome }: Json) => outcome)).toEqual([
		"REJECTED",
		"APPROVED_WITH_CONDITIONS",
	]);
});

test("a review has one entry in the log, with the fields of the vendor that it changes", async () => {
	const { vendor } = await add("addVendor", { name: "Umbrella" });
	const { evidence } = await add("addEvidence", { name: "Contract" });
	const review = (reviewed_on: string) =>
		tools.use("addVendorReview", {
			...{ vendor_id: vendor.id, outcome: "APPROVED", reviewed_on },
			evidence_ids: [evidence.id],
		});
	await review(day(-1));
	await review(day(-30));
	const { audit_entries } = await add("listAuditLog", {
		filter: { record_id: vendor.id, operation: "addVendorReview" },
	});
	const own = audit_entries.filter(
		({ changes }: Json) => !("linked_record" in changes),
	);
	const noted = (reviewed_on: string) => ({
		review: { after: { outcome: "APPROVED", reviewed_on } },
	});
	expect(own.map(({ changes }: Json) => changes)).toEqual([
		noted(day(-30)),
		{ ...noted(day(-1)), last_review_date: { before: null, after: day(-1) } },
	]);
});

test("a review in the future, or whose next review is not later, is refused whole", async () => {
	const { vendor } = await add("addVendor", { name: "Initech" });
	for (const [input, field] of [
		[{ reviewed_on: day(3) }, "reviewed_on"],
		[{ next_review_date: day(-3) }, "next_review_date"],
		[{ evidence_ids: [vendor.id] }, "evidence_ids"],
	] as const) {
		const { status, body } = await tools.call("addVendorReview", {
			vendor_id: vendor.id,
			outcome: "APPROVED",
			...input,
		});
		expect([status, body.message]).toEqual([
			400,
			expect.stringContaining(field),
		]);
	}
	const { total } = await tools.use("listVendorReviews", {
		vendor_id: vendor.id,
	});
	expect(total).toBe(0);
});

test("reviews, notices and expiries that are due are in the overview, and those of archived vendors are not", async () => {
	const before = await add("getOverview", {});
	const count = (overview: Json, field: string, register: string) =>
		overview.reminders.find(
			(one: Json) => one.field === field && one.register === register,
		) ?? { overdue: 0, due_soon: 0 };
	const { vendor } = await add("addVendor", {
		name: "Hooli",
		next_review_date: day(-5),
		renewal_notice_date: day(5),
	});
	await add("addEvidence", { name: "Certificate", valid_until: day(-2) });
	await add("addObligation", { requirement: "x", next_review_date: day(5) });
	const now = await add("getOverview", {});
	for (const [field, register, due] of [
		["next_review_date", "vendors", "overdue"],
		["renewal_notice_date", "vendors", "due_soon"],
		["valid_until", "evidence", "overdue"],
		["next_review_date", "obligations", "due_soon"],
	] as const) {
		expect(count(now, field, register)[due], `${register}.${field}`).toBe(
			count(before, field, register)[due] + 1,
		);
	}
	await add("archiveRecords", { record_ids: [vendor.id] });
	const later = await add("getOverview", {});
	expect(count(later, "renewal_notice_date", "vendors")).toEqual(
		count(before, "renewal_notice_date", "vendors"),
	);
});

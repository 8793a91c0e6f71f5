import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { defineOperation } from "../operation.ts";
import { readToday } from "../organizations/time-zone.ts";
import { DISTINCT } from "../records/distinct.ts";
import type { Filter } from "../records/filter.ts";
import { idempotencyShape } from "../records/idempotency.ts";
import { requireWanted, storeLinks } from "../records/link-new-records.ts";
import {
	byTime,
	pageCursor,
	pageShape,
	pageSize,
	readPage,
} from "../records/list-pages.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { existing, noteStored, updateRecord } from "../records/store.ts";
import { dateSchema, idSchema, textSchema } from "../records/text-schemas.ts";
import { prepareUpdate } from "../records/values.ts";
import { RISK_RATINGS, vendor } from "../registers/vendor.ts";

/** Most reviews of one vendor. One a week fills them in 19 years. */
const MAX_REVIEWS = 1000;
const MAX_EVIDENCE = 20;

const OUTCOMES = ["APPROVED", "APPROVED_WITH_CONDITIONS", "REJECTED"] as const;

const review = z.object({
	id: z.string(),
	vendor_id: z.string(),
	reviewed_on: z.string(),
	outcome: z.enum(OUTCOMES),
	risk_rating: z.enum(RISK_RATINGS),
	note: z.string().nullable(),
	next_review_date: z.string().nullable(),
	evidence: z
		.array(z.object({ id: z.string(), name: z.string() }))
		.describe("What it relies on; without evidence that was deleted since"),
	reviewer_name: z.string(),
	created_at: z.string(),
});
type Review = z.output<typeof review>;

const COLUMNS = `t.id, t.vendor_id, t.reviewed_on, t.outcome, t.risk_rating, t.note, t.next_review_date,
	t.reviewer_name, t.created_at, (
		select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'name', e.name) order by e.name_key, e.id), '[]')
		from evidence e where e.organization_id = t.organization_id and e.id = any(t.evidence_ids)
	) as evidence`;

const OF_VENDOR: Filter = {
	schema: idSchema("vendor"),
	sql: (parameter) => `t.vendor_id = ${parameter}`,
};

export const listVendorReviews = defineOperation({
	name: "listVendorReviews",
	title: "List the reviews of a vendor",
	description: "List the reviews of a vendor, newest first.",
	toolset: "vendor_reviews",
	access: "read",
	tenant: "vendor_id",
	input: z.strictObject({
		vendor_id: idSchema("vendor").meta(obvious("Id of the vendor")),
		size: pageSize("Reviews"),
		cursor: pageCursor(),
	}),
	output: z.object({ vendor_reviews: z.array(review), ...pageShape }),
	run: async (context, { vendor_id, ...page }) => {
		await existing(context, vendor, vendor_id);
		const { rows, ...rest } = await readPage<Review>(
			context.client,
			{
				tool: "listVendorReviews",
				columns: COLUMNS,
				from: "vendor_reviews t",
				orders: { created_at: byTime("created_at") },
				filters: { vendor_id: OF_VENDOR },
			},
			{
				...page,
				organization_id: context.membership.organizationId,
				filter: { vendor_id },
			},
		);
		return { vendor_reviews: rows, ...rest };
	},
});

export const addVendorReview = defineOperation({
	name: "addVendorReview",
	title: "Review a vendor",
	description:
		"Note a review of a vendor: outcome, rating, evidence and the next review. The vendor takes over the rating and both dates, and is linked to the evidence.",
	toolset: "vendor_reviews",
	access: "write",
	tenant: "vendor_id",
	input: z.strictObject({
		vendor_id: idSchema("vendor").meta(obvious("Id of the vendor")),
		outcome: z.enum(OUTCOMES).meta(obvious("What the review found")),
		reviewed_on: dateSchema().optional().describe("Today by default"),
		risk_rating: z
			.enum(RISK_RATINGS)
			.optional()
			.describe("Stays as it is by default"),
		note: textSchema()
			.nullable()
			.optional()
			.describe("What was looked at and found"),
		next_review_date: dateSchema()
			.nullable()
			.optional()
			.describe("null or absent: none is planned"),
		evidence_ids: z
			.array(idSchema("evidence"))
			.max(MAX_EVIDENCE, { abort: true })
			.refine(...DISTINCT)
			.optional()
			.describe("Evidence that it relies on"),
		...idempotencyShape,
	}),
	output: z.object({ vendor_review: review }),
	run: async (context, input) => {
		const { client, membership, principal } = context;
		const { organizationId } = membership;
		const before = await existing(
			context,
			vendor,
			input.vendor_id,
			"for update",
		);
		const today = await readToday(client);
		const { reviewed_on = today, next_review_date = null } = input;
		requireDates(today, reviewed_on, next_review_date);
		await enforceLimit(client, {
			lock: `vendor reviews ${input.vendor_id}`,
			from: "vendor_reviews where organization_id = $1 and vendor_id = $2",
			values: [organizationId, input.vendor_id],
			max: MAX_REVIEWS,
			error: tooManyReviews,
		});
		const evidence = await requireWanted(
			context,
			input.evidence_ids ?? [],
			"evidence_ids",
		);
		const rating = input.risk_rating ?? String(before.risk_rating);
		const id = makeId(organizationId, "vendor_review");
		await client.query(
			`insert into vendor_reviews (
				organization_id, id, vendor_id, reviewed_on, outcome, risk_rating, note,
				next_review_date, evidence_ids, reviewer_id, reviewer_name
			) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			[
				organizationId,
				id,
				input.vendor_id,
				reviewed_on,
				input.outcome,
				rating,
				input.note ?? null,
				next_review_date,
				input.evidence_ids ?? [],
				principal.userId,
				principal.name,
			],
		);
		// A review that is noted late does not undo a newer one.
		const isNewest = String(before.last_review_date ?? "") <= reviewed_on;
		const different = isNewest
			? prepareUpdate(vendor, before, {
					last_review_date: reviewed_on,
					next_review_date,
					risk_rating: rating,
				})
			: {};
		if (Object.keys(different).length > 0) {
			await updateRecord(context, vendor, input.vendor_id, different);
		}
		// One entry tells of the review and of the dates and the rating that the vendor takes over.
		const after = { outcome: input.outcome, reviewed_on, note: input.note };
		await noteStored(context, vendor, [
			{ id: input.vendor_id, before, notes: { review: { after } } },
		]);
		const name = String(before.name);
		const record = { kind: "vendor", id: input.vendor_id, name };
		const { rows: links } = await client.query<{ id: string }>(
			`select case l.first_id when $2 then l.second_id else l.first_id end as id
			from record_links l
			where l.organization_id = $1 and (
				l.first_id = $2 and l.second_id = any($3) or l.second_id = $2 and l.first_id = any($3)
			)`,
			[organizationId, input.vendor_id, input.evidence_ids ?? []],
		);
		const linked = new Set(links.map((link) => link.id));
		await storeLinks(
			context,
			record,
			evidence.filter((one) => !linked.has(one.id)),
		);
		const { rows } = await client.query<Review>(
			`select ${COLUMNS} from vendor_reviews t where t.organization_id = $1 and t.id = $2`,
			[organizationId, id],
		);
		if (!rows[0]) throw new Error("the review was not stored");
		return { vendor_review: rows[0] };
	},
});

function requireDates(
	today: string,
	reviewedOn: string,
	next: string | null,
): void {
	if (reviewedOn > today) {
		throw badFields([
			{ field: "reviewed_on", message: `must not be after today (${today})` },
		]);
	}
	if (next !== null && next <= reviewedOn) {
		throw badFields([
			{
				field: "next_review_date",
				message: "must be after the day of the review",
			},
		]);
	}
}

function tooManyReviews(): AppError {
	return new AppError(
		"bad_request",
		`the vendor has ${MAX_REVIEWS} reviews, which is the maximum`,
	);
}

import { expect, test } from "vitest";
import { toDates } from "../../console/src/relative-filters.ts";

const TODAY = "2026-03-01";

test.each([
	[{ due: "overdue" }, { due_until: "2026-02-28", is_open: true }],
	[
		{ due: "overdue", is_open: false },
		{ due_until: "2026-02-28", is_open: false },
	],
	[{ next_review_date: "overdue" }, { next_review_date_until: "2026-02-28" }],
	[{ accepted_until: "overdue" }, { accepted_until_until: "2026-02-28" }],
	[{ starts_on: "overdue" }, { starts_on_until: "2026-02-28" }],
	[{ due: "7d" }, { due_from: "2026-03-01", due_until: "2026-03-08" }],
	[{ status: "7d" }, { status: "7d" }],
])("%j selects %j", (filters, dates) => {
	expect(toDates(filters as Parameters<typeof toDates>[0], TODAY)).toEqual(
		dates,
	);
});

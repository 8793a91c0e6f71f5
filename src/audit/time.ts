import { z } from "zod";

/** A moment as RFC 3339 that the database can hold. It accepts only offsets that exist. */
export function timeSchema() {
	return z.iso
		.datetime({
			offset: true,
			abort: true,
			error: "must be a time such as 2026-01-31T00:00:00Z",
		})
		.refine(
			(text) => /^(19|[2-9]\d)\d\d-.*(Z|[+-](0\d|1[0-4]):\d\d)$/.test(text),
			"must be in the years 1900 to 9999, with an offset of at most 14 hours",
		);
}

/** Returns the name of the partition with the reports of a month. `month` is its first day. */
export const partitionOf = (
	table: "posture_reports" | "packed_posture_reports",
	month: string,
) => `${table}_${month.slice(0, 7).replace("-", "_")}`;

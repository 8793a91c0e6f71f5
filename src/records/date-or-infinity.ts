/**
 * Returns SQL for a date or time of the row `t`, and infinity if it has none. The index of the order
 * has the same expression. With `coalesce` in it, row-level security would keep PostgreSQL from
 * looking for a value in the index: it does not know that `coalesce` reveals nothing of other rows.
 */
export const orInfinity = (column: string, type: "date" | "timestamptz") =>
	`case when t.${column} is null then 'infinity'::${type} else t.${column} end`;

import type { Pool } from "pg";
import { Gauge, type Registry } from "prom-client";

export function addDatabaseSize(pool: Pool, registers: Registry[]): void {
	new Gauge({
		name: "assay_database_bytes",
		help: "Size of the database on disk, without the write-ahead log.",
		aggregator: "max",
		registers,
		async collect() {
			const found = await readDatabaseSize(pool).catch(() => undefined);
			this.reset();
			if (found !== undefined) this.set(found);
		},
	});
}

async function readDatabaseSize(pool: Pool): Promise<number> {
	const { rows } = await pool.query<{ bytes: number }>(
		"select pg_database_size(current_database())::float8 as bytes",
	);
	if (!rows[0]) throw new Error("the size of the database has no row");
	return rows[0].bytes;
}

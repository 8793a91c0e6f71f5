import { createHash, type Hash } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import {
	asyncBufferFromFile,
	parquetMetadataAsync,
	parquetReadObjects,
	type SchemaElement,
} from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";

/** A result of a report: one row of a file. */
export interface ResultRow {
	device_id: string;
	report_id: string;
	/** Microseconds since 1970, as are all times. */
	received_at: bigint;
	check_key: string | null;
	status: string | null;
	observed_at: bigint | null;
	/** The evidence as JSON, as PostgreSQL writes it. */
	evidence: string | null;
}

/** Rows that are encoded together, and that a reader has in memory. */
const GROUP_ROWS = 20_000;

const text = (name: string, isRequired = false): SchemaElement => ({
	name,
	type: "BYTE_ARRAY",
	converted_type: "UTF8",
	logical_type: { type: "STRING" },
	repetition_type: isRequired ? "REQUIRED" : "OPTIONAL",
});
const time = (name: string, isRequired = false): SchemaElement => ({
	name,
	type: "INT64",
	logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
	repetition_type: isRequired ? "REQUIRED" : "OPTIONAL",
});

const COLUMNS = [
	text("device_id", true),
	text("report_id", true),
	time("received_at", true),
	text("check_key"),
	text("status"),
	time("observed_at"),
	text("evidence"),
] as const;
const NAMES = COLUMNS.map(({ name }) => name as keyof ResultRow);
const SCHEMA: SchemaElement[] = [
	{ name: "results", num_children: COLUMNS.length },
	...COLUMNS,
];

/** The number of rows, and the SHA-256 of all their values in order. */
export interface RowsDigest {
	rows: number;
	sha256: string;
}

/**
 * Writes rows to a Parquet file, compressed with Zstandard. It has only one group of rows in memory,
 * and encodes a group without a pause.
 */
export class ParquetFile {
	readonly #parquet: ParquetWriter;
	readonly #digest = new Digest();
	#group: ResultRow[] = [];

	constructor(path: string) {
		this.#parquet = new ParquetWriter({
			writer: fileWriter(path),
			schema: SCHEMA,
			codec: "ZSTD",
			compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
			createdBy: "assay",
		});
	}

	add(row: ResultRow): void {
		this.#digest.add(row);
		this.#group.push(row);
		if (this.#group.length === GROUP_ROWS) this.#writeGroup();
	}

	/** Ends the file. Returns what was written to it. */
	finish(): RowsDigest {
		if (this.#group.length > 0) this.#writeGroup();
		this.#parquet.finish();
		return this.#digest.end();
	}

	#writeGroup(): void {
		const group = this.#group;
		this.#group = [];
		this.#parquet.write({
			columnData: NAMES.map((name) => ({
				name,
				data: group.map((row) => row[name]),
			})),
			rowGroupSize: GROUP_ROWS,
		});
	}
}

/** Reads the rows of a file, one group after the other. Throws if it is no such file. */
export async function* readParquetFile(
	path: string,
): AsyncGenerator<ResultRow> {
	const file = await asyncBufferFromFile(path);
	const metadata = await parquetMetadataAsync(file);
	let rowStart = 0;
	for (const { num_rows } of metadata.row_groups) {
		const rowEnd = rowStart + Number(num_rows);
		const rows = await parquetReadObjects({
			file,
			metadata,
			columns: NAMES,
			rowStart,
			rowEnd,
			compressors: { ZSTD: (bytes) => zstdDecompressSync(bytes) },
			parsers: { timestampFromMicroseconds: (micros) => micros },
		});
		// NAMES are the names of a ResultRow, and COLUMNS give their types.
		yield* rows as unknown as ResultRow[];
		rowStart = rowEnd;
	}
}

/** Reads a file to its end. Returns what is in it. */
export async function digestOfRows(path: string): Promise<RowsDigest> {
	const digest = new Digest();
	for await (const row of readParquetFile(path)) digest.add(row);
	return digest.end();
}

class Digest {
	readonly #hash: Hash = createHash("sha256");
	#rows = 0;

	add(row: ResultRow): void {
		this.#rows++;
		const values = NAMES.map((name) => {
			const value = row[name] ?? null;
			return typeof value === "bigint" ? String(value) : value;
		});
		this.#hash.update(JSON.stringify(values));
	}

	end(): RowsDigest {
		return { rows: this.#rows, sha256: this.#hash.digest("hex") };
	}
}

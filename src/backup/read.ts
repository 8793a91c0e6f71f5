import { pipeline, Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import type { z } from "zod";
import { AppError } from "../errors.ts";
import {
	anyManifest,
	backupEnd,
	COMPRESSION,
	countRows,
	damaged,
	END_OF_ROWS,
	type FileKind,
	FORMAT_VERSION,
	FORMATS,
	type Manifest,
	manifestSchema,
	noBackup,
	otherKind,
	type RowCounts,
	tableFoot,
	tableHead,
} from "./format.ts";
import { type SealCheck, unseal } from "./seal.ts";

/** The text that ends a table's rows when the table has at least one row. */
const END_BEHIND_ROW = Buffer.concat([Buffer.from("\n"), END_OF_ROWS]);

const MAX_LINE_BYTES = 1 << 20;

/**
 * Reads a backup or an export once, from beginning to end. Its content may be trusted only after `nextTable` has
 * returned undefined. Only then has the whole file been checked.
 *
 * Throws a bad_request AppError as soon as it finds that the file is not a backup, is damaged or
 * cut off, or was made by a newer version.
 */
export class BackupReader {
	readonly #source: Readable;
	readonly #bytes: AsyncIterator<Buffer>;
	#buffer: Buffer = Buffer.alloc(0);
	#table:
		| { name: string; isAtStart: boolean; isAtEnd: boolean; rows: number }
		| undefined;
	manifest!: Manifest;
	/** Row counts of the tables that were read completely. */
	readonly rows: RowCounts = {};

	private constructor(source: Readable) {
		this.#source = source;
		this.#bytes = source[Symbol.asyncIterator]();
	}

	/**
	 * Opens a file of one of these kinds. With `check.key`, reading rejects a file without the right
	 * keyed seal when it reaches the end.
	 */
	static async open(
		source: AsyncIterable<Buffer>,
		check: SealCheck = { key: undefined },
		kinds: readonly FileKind[] = ["backup"],
	): Promise<BackupReader> {
		const decompress = createZstdDecompress({
			chunkSize: COMPRESSION.chunkSize,
		});
		// The callback ignores errors, because reading from `decompress` reports them.
		pipeline(Readable.from(unseal(source, check)), decompress, () => {});
		const reader = new BackupReader(decompress);
		try {
			reader.manifest = await reader.#readManifest(kinds);
			return reader;
		} catch (error) {
			reader.close();
			throw error;
		}
	}

	async #readManifest(kinds: readonly FileKind[]): Promise<Manifest> {
		const value = await this.#readJson(noBackup);
		const any = anyManifest.safeParse(value);
		if (!any.success) throw noBackup();
		const { format } = any.data;
		if (!kinds.some((kind) => FORMATS[kind] === format)) {
			throw otherKind(format);
		}
		if (any.data.version > FORMAT_VERSION) {
			throw new AppError(
				"bad_request",
				`the file was made by a newer version of Assay (${any.data.assay}); use that version to read it`,
			);
		}
		return parsed(manifestSchema, value);
	}

	/**
	 * Returns the next table, whose rows `data` yields. Returns undefined at the end of the file,
	 * which is then known to be sound.
	 */
	async nextTable(): Promise<z.infer<typeof tableHead> | undefined> {
		await this.#endTable();
		const value = await this.#readJson();
		const head = tableHead.safeParse(value);
		if (head.success) {
			const { table: name } = head.data;
			if (this.manifest.tables[Object.keys(this.rows).length] !== name) {
				throw damaged();
			}
			this.#table = { name, isAtStart: true, isAtEnd: false, rows: 0 };
			return head.data;
		}
		const end = parsed(backupEnd, value);
		const counts = Object.values(this.rows);
		if (
			counts.length !== this.manifest.tables.length ||
			end.tables !== counts.length ||
			end.rows !== counts.reduce((sum, count) => sum + count, 0)
		) {
			throw damaged();
		}
		// Reading to the end of the file also checks its seal.
		if (this.#buffer.length > 0 || (await this.#more())) throw damaged();
		return undefined;
	}

	/** Yields the rows of the current table as COPY writes them, in pieces of any length. */
	async *data(): AsyncGenerator<Buffer> {
		const table = this.#table;
		if (!table || table.isAtEnd) return;
		for (;;) {
			if (table.isAtStart && this.#buffer.length < END_OF_ROWS.length) {
				await this.#moreOrDamaged();
				continue;
			}
			if (table.isAtStart && this.#buffer.indexOf(END_OF_ROWS) === 0) {
				this.#buffer = this.#buffer.subarray(END_OF_ROWS.length);
				table.isAtEnd = true;
				return;
			}
			table.isAtStart = false;
			const end = this.#buffer.indexOf(END_BEHIND_ROW);
			// The last bytes may be the beginning of the end marker, so they stay in the buffer.
			const length =
				end === -1
					? this.#buffer.length - (END_BEHIND_ROW.length - 1)
					: end + 1;
			if (length > 0) {
				const text = this.#buffer.subarray(0, length);
				this.#buffer = this.#buffer.subarray(
					end === -1 ? length : end + END_BEHIND_ROW.length,
				);
				table.rows += countRows(text);
				table.isAtEnd = end !== -1;
				yield text;
			}
			if (table.isAtEnd) return;
			await this.#moreOrDamaged();
		}
	}

	/** Number of rows of the current table that were read so far. */
	get rowsSoFar(): number {
		return this.#table?.rows ?? 0;
	}

	/** Reads the rest of the file, so that damage anywhere is noticed. */
	async drain(): Promise<void> {
		while (await this.nextTable());
	}

	close(): void {
		this.#source.destroy();
	}

	/** Reads the rest of the current table. */
	async #endTable(): Promise<void> {
		const table = this.#table;
		if (!table) return;
		for await (const _ of this.data());
		const foot = parsed(tableFoot, await this.#readJson());
		if (foot.rows !== table.rows) throw damaged();
		this.rows[table.name] = table.rows;
		this.#table = undefined;
	}

	async #readJson(
		wrong: (cause: unknown) => AppError = damaged,
	): Promise<unknown> {
		let end = this.#buffer.indexOf(10);
		while (end === -1) {
			if (this.#buffer.length > MAX_LINE_BYTES) throw wrong(undefined);
			await this.#moreOrDamaged();
			end = this.#buffer.indexOf(10);
		}
		const text = this.#buffer.toString("utf8", 0, end);
		this.#buffer = this.#buffer.subarray(end + 1);
		try {
			return JSON.parse(text);
		} catch (error) {
			throw wrong(error);
		}
	}

	async #moreOrDamaged(): Promise<void> {
		if (!(await this.#more())) throw damaged();
	}

	async #more(): Promise<boolean> {
		try {
			const { value, done } = await this.#bytes.next();
			if (done) return false;
			this.#buffer =
				this.#buffer.length === 0
					? value
					: Buffer.concat([this.#buffer, value]);
			return true;
		} catch (error) {
			throw isOfZstd(error) ? damaged(error) : error;
		}
	}
}

function isOfZstd(error: unknown): boolean {
	return /^(Z_|ZSTD_)/.test(String((error as { code?: unknown }).code));
}

function parsed<Schema extends z.ZodType>(
	schema: Schema,
	value: unknown,
): z.output<Schema> {
	const result = schema.safeParse(value);
	if (!result.success) throw damaged(result.error);
	return result.data;
}

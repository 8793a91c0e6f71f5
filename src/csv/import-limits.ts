/**
 * Largest CSV file of an import, in bytes. docs/csv.md and docs/security.md give all limits of this
 * module, too.
 */
export const MAX_CSV_BYTES = 16 * 1024 * 1024;

/** Most lines of a CSV import below the heading. */
export const MAX_LINES = 10_000;

/** Most columns that an import reads. */
export const MAX_COLUMNS = 200;

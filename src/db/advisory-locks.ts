/**
 * Numbers of the advisory locks of a database. Work of two kinds with the same number would keep each
 * other waiting.
 *
 * Functions in `sql/` use two numbers of their own: 4_723_119 for the last administrator, and
 * 4_723_121 for sealing the audit log.
 */

/** A process holds it while it migrates. Processes that start together take turns. */
export const MIGRATION_LOCK = 4_723_118;

/** Lets one process drop old reports and expired rows at a time. */
export const RETENTION_LOCK = 4_723_120;

/** Lets one process pack reports at a time. */
export const PACKING_LOCK = 4_723_122;

/** Lets one import of an organization run at a time. */
export const IMPORT_LOCK = 4_723_123;

/** Lets one process archive reports at a time. */
export const ARCHIVE_LOCK = 4_723_124;

/** Lets one process delete closed organizations at a time. */
export const DELETION_LOCK = 4_723_125;

/** First key of the locks that let one export of an organization run at a time. */
export const EXPORT_LOCK = 4_723_126;

/**
 * First key of the locks of months, such as 202609. A month is noted as archived while no reports are
 * moved into it. The function move_report_part uses the same number.
 */
export const MOVED_MONTH_LOCK = 4_723_127;

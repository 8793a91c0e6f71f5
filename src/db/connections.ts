/** Largest number of connections in each pool of a process. */
export const POOL_SIZES = {
	/** People, tools and most background work. */
	app: 8,
	/** Enough for two batches of heartbeats, two batches of reports, one look-up, and one rare task. */
	devices: 6,
	/** Signing in and sessions. */
	identity: 4,
	/** Counts of devices and trends. */
	counts: 2,
	/** The health check. */
	health: 1,
	/** The seals of the audit log. */
	sealer: 1,
} as const;

const pooled = Object.values(POOL_SIZES).reduce((sum, size) => sum + size, 0);

/**
 * Files of organizations and audit packages that a process writes at the same time, each with its own
 * connection.
 */
export const MAX_ORGANIZATION_FILES = 2;

/**
 * Connections that a process opens beside its pools and closes after the work. One drops old rows,
 * one packs reports and one archives them; only one process at a time does each of these. The others
 * write files of organizations and audit packages.
 */
const BESIDE_POOLS = 3 + MAX_ORGANIZATION_FILES;

/** Connections that stay free for commands such as `assay backup`. */
const FOR_COMMANDS = 4;

/** Connections that PostgreSQL allows by default to users that are no superuser. */
const ALLOWED_BY_DEFAULT = 97;

/** Largest number of connections to the database that a process has, without those to a replica. */
export const MAX_CONNECTIONS = pooled + BESIDE_POOLS;

/** Connections that a server must allow for one process and for commands. */
export const CONNECTIONS_NEEDED = MAX_CONNECTIONS + FOR_COMMANDS;

/** Number of processes that fit into what PostgreSQL allows by default. */
export const PROCESSES_BY_DEFAULT = Math.floor(
	(ALLOWED_BY_DEFAULT - BESIDE_POOLS - FOR_COMMANDS) / pooled,
);

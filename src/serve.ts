import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { PackageFolder } from "./agent-packages/package-folder.ts";
import { startArchiving } from "./archive/start-archiving.ts";
import { flushRejectedCalls } from "./audit/rejected-calls.ts";
import type { Config } from "./config/config.ts";
import { POOL_SIZES } from "./db/connections.ts";
import { type Database, openDatabase, type Server } from "./db/database.ts";
import type { TellStep } from "./db/migrate.ts";
import { logMigrations } from "./db/migration-log.ts";
import { makePool } from "./db/pool.ts";
import { openReplica } from "./db/read-replica.ts";
import { makeAccessLog } from "./http/access-log.ts";
import type { RouteSummary } from "./http/admission.ts";
import { makeAgentApi } from "./http/agent-api.ts";
import { makeApp } from "./http/app.ts";
import { makeAddressOf } from "./http/client-address.ts";
import type { ConsoleFiles } from "./http/console-files.ts";
import { explainListen } from "./http/listen-error.ts";
import { makeScimDoor } from "./http/scim-door.ts";
import { makeToolServer } from "./http/tool-server.ts";
import { startBackgroundWork } from "./jobs/background-work.ts";
import { Stops } from "./jobs/stops.ts";
import { Maintenance } from "./load/maintenance.ts";
import { OutageLog } from "./load/outage-log.ts";
import { Catalogue } from "./mcp/catalogue.ts";
import { clientName } from "./mcp/methods.ts";
import { diskFolders } from "./metrics/disk-space.ts";
import { openMetrics } from "./metrics/open.ts";
import { Grants } from "./oauth/grant.ts";
import { makeOauthServer } from "./oauth/oauth-server.ts";
import { operations } from "./operations.ts";
import { ClosedOrganizations } from "./organizations/closed-organizations.ts";
import { isSetupNeeded } from "./organizations/first-setup.ts";
import { makeOutgoingRule } from "./outgoing/outgoing-address.ts";
import { startRetention } from "./retention/retention.ts";
import { startPacking } from "./retention/start-packing.ts";
import { makeIdentity } from "./sign-in/identity.ts";
import { makeProviderSignIn } from "./sign-in/oidc/sign-in-with-provider.ts";
import { makeSources } from "./sign-in/providers/sources.ts";
import { readSecret } from "./sign-in/server-secret.ts";
import { ApiTokens } from "./tokens/authentication.ts";
import { Usage } from "./tokens/usage.ts";
import { openTracing } from "./tracing/open.ts";
import type { TracingSettings } from "./tracing/settings.ts";

export interface Service {
	/** The address that the service listens on. Behind a proxy it differs from ASSAY_BASE_URL. */
	url: string;
	database: string;
	/** True until the first user exists. */
	isEmpty: boolean;
	/**
	 * Address of the metrics for Prometheus. Undefined without ASSAY_METRICS_PORT, and in a worker.
	 */
	metricsUrl?: string | undefined;
	/** All routes of the web server. Tests and benchmarks go through this list. */
	routes: readonly RouteSummary[];
	/** Looks for new events and for due messages now instead of at the next interval. */
	wake: () => void;
	/** Makes `close` faster. The service answers requests meanwhile. Never rejects. */
	prepareClose: () => Promise<void>;
	/**
	 * Stops accepting requests, finishes those that were accepted, and closes everything. Calling
	 * `close` twice is harmless.
	 */
	close: () => Promise<void>;
}

/**
 * Largest number of new connections that may wait until the service accepts them. The operating
 * system may permit fewer. If a whole fleet reconnects at once, the operating system drops
 * connections beyond this number. Their clients retry after 1, 3, 7 … seconds.
 */
const BACKLOG = 4096;

/** Longest time that running requests may continue after the service was told to stop. */
const DRAIN_MS = 10_000;

/**
 * Starts the service: it opens the database, applies migrations and listens for HTTP. Rejects with
 * an AppError if one of these fails. `webConsole` is the console's files, or the reason why there
 * are none. Without `traces`, no traces are made. `opening` is the server of the database, if the
 * caller has already begun to open it. The service closes it. `tell` is told each step.
 */
export async function serve(
	config: Config,
	log: Logger,
	webConsole:
		| ConsoleFiles
		| string = "the service was started without its web console",
	traces?: TracingSettings,
	opening?: Promise<Server>,
	tell?: TellStep,
): Promise<Service> {
	const database = await openDatabase(config, { server: opening, tell });
	tell?.("starting to answer requests");
	const stops = new Stops();
	stops.add("database", () => database.close());
	try {
		return await serveFrom(database, config, log, webConsole, traces, stops);
	} catch (error) {
		await stops
			.run()
			.catch((err) =>
				log.error({ err }, "a failed start could not stop properly"),
			);
		throw error;
	}
}

async function serveFrom(
	database: Database,
	config: Config,
	wholeLog: Logger,
	webConsole: ConsoleFiles | string,
	traces: TracingSettings | undefined,
	stops: Stops,
): Promise<Service> {
	logMigrations(database, wholeLog);
	const outageLog = new OutageLog(
		wholeLog,
		database.identityPool,
		!config.databaseUrl,
	);
	const log = outageLog.forBackgroundWork();
	stops.add("outage log", () => outageLog.close());
	const secret = await readSecret(config);
	const { previousSecret } = config;
	let isDraining = false;
	const apiTokens = new ApiTokens(database.pool);
	stops.add("use of API tokens", () => apiTokens.idle());
	const usage = new Usage(database.pool, log);
	stops.add("rejected calls", () =>
		flushRejectedCalls(database.pool).catch((err) =>
			log.error({ err }, "rejected calls could not be counted"),
		),
	);
	stops.add("usage", () => usage.close());
	const { baseUrl, organizationCreation, reportRetentionMonths, fileLimits } =
		config;
	const rule = makeOutgoingRule(config.outgoingAllow);
	const background = startBackgroundWork(database, config, secret, rule, log);
	stops.add("background work", () => background.stop());
	const { mail, deliverer, chatSender, domainChecks, firstLooks } = background;
	const { pool } = database;
	const closed = await ClosedOrganizations.watch(pool, log, firstLooks);
	stops.add("closed organizations", () => closed.poller.stop());
	const passwordRule = {
		passwordSignIn: config.passwordSignIn,
		providerName: config.oidc?.name,
		issuer: config.oidc?.issuer,
	};
	const replica = openReplica(config, database.pool, log);
	stops.add("replica", () => replica?.close());
	const agentPackages =
		config.agentDir === undefined
			? undefined
			: new PackageFolder(config.agentDir, log);
	stops.add("agent packages", () => agentPackages?.close());
	const services = {
		pool,
		replica,
		log,
		baseUrl,
		mail,
		secret,
		outgoingRule: rule,
		newestAgents: () => agentPackages?.newest ?? {},
		wakeDeliverer: () => deliverer.wake(),
		wakeChatSender: () => chatSender.wake(),
		wakeClosed: () => closed.poller.wake(),
		wakeDomainChecks: () => domainChecks.wake(),
		organizationCreation,
		reportRetentionMonths,
		fileLimits,
		hasOauth: config.oauth,
		passwordRule,
	};
	const account = {
		pool: database.identityPool,
		appPool: database.pool,
		baseUrl,
		log,
		mail,
		secret,
		previousSecret,
		...passwordRule,
	};
	const identity = makeIdentity(account);
	stops.add("sign-ins", () => identity.idle());
	const catalogue = new Catalogue(operations);
	let isIgnoredNoted = false;
	const addressOf = makeAddressOf(config.trustedProxies, (sender) => {
		metrics?.countIgnoredAddress?.();
		if (isIgnoredNoted) return;
		isIgnoredNoted = true;
		log.warn(
			{ sender },
			"a forwarded address was ignored, because its sender is not in ASSAY_TRUSTED_PROXIES; add the sender if it is your proxy",
		);
	});
	const maintenance = await Maintenance.watch(pool, log, firstLooks);
	stops.add("maintenance", () => maintenance.poller.stop());
	const agentApi = makeAgentApi(
		database.devicePool,
		outageLog,
		config.baseUrl,
		addressOf,
		maintenance,
		closed,
		(platform) => services.newestAgents()[platform],
	);
	stops.add("requests of devices", () => agentApi.idle());
	const oauth = config.oauth
		? makeOauthServer({
				pool: database.identityPool,
				log,
				grants: new Grants(account, baseUrl),
				baseUrl,
				canRegister: config.oauthRegistration,
				fromOf: (request) => {
					const client = clientName(request.headers["user-agent"]);
					const address = addressOf(request);
					return { ...(client && { client }), ...(address && { address }) };
				},
			})
		: undefined;
	const toolServer = makeToolServer(
		{ services, catalogue, outageLog, usage },
		apiTokens,
		addressOf,
		config.allowedOrigins,
		maintenance,
		closed,
		oauth,
	);
	const scim = makeScimDoor({
		services,
		outageLog,
		addressOf,
		maintenance,
		closed,
	});
	const healthPool = makePool(database.poolConnection, {
		max: POOL_SIZES.health,
		name: "assay health",
	});
	stops.add("health pool", () => healthPool.end());
	const metrics =
		config.metricsPort === undefined
			? undefined
			: await openMetrics(config, log, {
					pools: {
						app: database.pool,
						device: database.devicePool,
						identity: database.identityPool,
						...(replica && { replica: replica.pool }),
					},
					replica,
					queues: agentApi.queues,
					operations: new Set(operations.map(({ name }) => name)),
					baseUrl,
					folders: diskFolders(config),
					hasArchive: config.archivePlace !== undefined,
					healthPool,
					log,
				});
	stops.add("metrics", () => metrics?.close());
	const tracing =
		traces &&
		(await openTracing(
			traces,
			new Set(operations.map(({ name }) => name)),
			log,
		));
	stops.add("tracing", () => tracing?.close());
	tracing?.watch([
		database.pool,
		database.devicePool,
		database.identityPool,
		database.auditPool,
		...(replica ? [replica.pool] : []),
	]);
	const { server: app, routes } = makeApp({
		pool: database.pool,
		healthPool,
		log,
		outageLog,
		agentApi,
		services,
		identity,
		account,
		providerSignIn: makeProviderSignIn(
			account,
			makeSources(account, config.oidc, rule),
		),
		toolServer,
		scim,
		maintenance,
		closed,
		addressOf,
		exportConnections: database,
		allowedOrigins: config.allowedOrigins,
		catalogue,
		isDraining: () => isDraining,
		oauthConsent: config.oauth
			? { pool: database.identityPool, log, baseUrl, rule }
			: undefined,
		observe: metrics?.observe,
		accessLog: config.accessLog
			? makeAccessLog(log, makeAddressOf(config.trustedProxies))
			: undefined,
		tracing,
		webConsole,
		agentPackages,
	});

	stops.add("web server", async () => {
		isDraining = true;
		agentApi.drain();
		toolServer.drain();
		scim.drain();
		const closeAll = () => app.server.closeAllConnections();
		const deadline = setTimeout(closeAll, DRAIN_MS);
		await app.close();
		clearTimeout(deadline);
	});

	const { ownerConnection } = database;
	if (!config.isCopy) {
		stops.add("retention", startRetention(ownerConnection, config, log));
	}
	stops.add("packing", startPacking(ownerConnection, config, log));
	stops.add("archiving", startArchiving(ownerConnection, config, log));

	const { host } = config;
	try {
		await app.listen({ host, port: config.port, backlog: BACKLOG });
	} catch (error) {
		const where = `${host}:${config.port}`;
		throw explainListen(error, where, "ASSAY_HOST", "ASSAY_PORT");
	}
	const isEmpty = await isSetupNeeded(database.pool);
	firstLooks.begin();
	void catalogue.prepare();
	const { port } = app.server.address() as AddressInfo;
	return {
		url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
		database: database.description,
		isEmpty,
		metricsUrl: metrics?.url,
		routes,
		wake: () => {
			background.wake();
			maintenance.poller.wake();
			closed.poller.wake();
		},
		prepareClose: database.prepareClose,
		close: () => stops.run(),
	};
}

import type { Logger } from "pino";
import { startSealer } from "../audit/sealer.ts";
import type { Config } from "../config/config.ts";
import { POOL_SIZES } from "../db/connections.ts";
import type { Database } from "../db/database.ts";
import { makePool } from "../db/pool.ts";
import { startCheckCounts } from "../devices/check-results/counting.ts";
import { startUpkeep } from "../devices/upkeep.ts";
import { startDispatcher } from "../events/dispatcher.ts";
import { composers } from "../mail/composers.ts";
import { startMailer } from "../mail/mailer.ts";
import { startChatSender } from "../notifications/chat-sender.ts";
import { startDailyEvents } from "../notifications/daily-events.ts";
import { startDigests } from "../notifications/digest.ts";
import { makeQueueNews } from "../notifications/queue-news.ts";
import { startDomainChecks } from "../organizations/domains/domain-checks.ts";
import type { OutgoingRule } from "../outgoing/outgoing-address.ts";
import { startTrendKeeper } from "../overview/keep-trends.ts";
import { startDeliverer } from "../webhooks/deliverer.ts";
import { queueDeliveries } from "../webhooks/queue-deliveries.ts";
import { FirstLooks, type Poller } from "./poller.ts";

export type BackgroundWork = ReturnType<typeof startBackgroundWork>;

/**
 * Nobody waits for a count. On a busy machine whose disk has to be read, a slice of a fleet may take
 * longer than the 10 s of other statements.
 */
const COUNTS_TIME_LIMIT_FACTOR = 6;

const NO_WORK: Poller = { wake() {}, async idle() {}, async stop() {} };

/**
 * Starts what the service does by itself: it sends mails, webhooks and chat messages, handles events,
 * keeps devices and check counts up to date, looks at domains and seals the audit log. All but the
 * seals begin when the caller begins `firstLooks`.
 */
export function startBackgroundWork(
	database: Database,
	config: Config,
	secret: string,
	rule: OutgoingRule,
	log: Logger,
) {
	const { pool } = database;
	const firstLooks = new FirstLooks();
	const { baseUrl, previousSecret } = config;
	const mail =
		config.mail &&
		startMailer(
			config.mail,
			{ pool: database.identityPool, appPool: pool, baseUrl, secret },
			composers,
			log,
			firstLooks,
		);
	const sending = {
		pool,
		secret,
		previousSecret,
		rule,
		mail,
		firstLooks,
		log,
	};
	// A copy of an installation has the addresses of real receivers.
	const { isCopy = false } = config;
	const deliverer = isCopy ? NO_WORK : startDeliverer(sending);
	const chatSender = isCopy
		? NO_WORK
		: startChatSender({ ...sending, baseUrl });
	const upkeep = startUpkeep(pool, mail !== undefined, log, firstLooks);
	const countsPool = makePool(database.poolConnection, {
		max: POOL_SIZES.counts,
		name: "assay check counts",
		timeLimitFactor: COUNTS_TIME_LIMIT_FACTOR,
	});
	const checkCounts = startCheckCounts(pool, countsPool, log, firstLooks);
	const trends = startTrendKeeper(pool, countsPool, log, firstLooks);
	const dailyEvents = startDailyEvents(pool, baseUrl, log, firstLooks);
	const digests = mail && startDigests(pool, mail, log, firstLooks);
	const dispatcher = startDispatcher(
		pool,
		[
			{ name: "webhooks", handle: queueDeliveries },
			makeQueueNews(mail !== undefined),
			{ name: "device upkeep", handle: upkeep.noteChanges },
			{ name: "check counts", handle: checkCounts.noteChanges },
		],
		() => {
			deliverer.wake();
			chatSender.wake();
			upkeep.poller.wake();
			checkCounts.poller.wake();
		},
		log,
		firstLooks,
	);
	const sealerPool = makePool(database.poolConnection, {
		max: POOL_SIZES.sealer,
		name: "assay sealer",
	});
	const sealer = startSealer(sealerPool, log);
	const { dnsServers } = config;
	const domainChecks = isCopy
		? NO_WORK
		: startDomainChecks({ pool, log, mail, dnsServers, firstLooks });
	return {
		mail,
		deliverer,
		chatSender,
		domainChecks,
		firstLooks,
		/** Looks for new events and for due messages now. */
		wake() {
			for (const poller of [
				dispatcher,
				deliverer,
				chatSender,
				mail,
				domainChecks,
			])
				poller?.wake();
		},
		/**
		 * Stops the work. Nothing may make events any more when this is called. All parts stop at the
		 * same time, so this takes as long as the slowest one, such as a receiver that does not answer.
		 */
		async stop() {
			const jobs = [
				dailyEvents,
				dispatcher,
				upkeep.poller,
				checkCounts,
				trends,
				domainChecks,
				sealer,
				deliverer,
				chatSender,
				digests,
				mail,
			];
			await Promise.all(jobs.map((job) => job?.stop()));
			await countsPool.end();
			await sealerPool.end();
		},
	};
}

import { Client, type ClientConfig } from "pg";
import type { Logger } from "pino";
import { type Fleet, makeFleet } from "../../simulator/fleet.ts";
import type { Config } from "../config/config.ts";
import { openDatabase } from "../db/database.ts";
import type { Principal } from "../principal.ts";
import { makeIdentityId } from "../sign-in/users.ts";
import { type Login, type LoginWithHash, makeAccounts } from "./accounts.ts";
import { DemoDevices, THIS_MACHINE } from "./devices.ts";
import { DemoDocuments } from "./documents.ts";
import { makeHistory } from "./make-history.ts";
import { ORGANIZATION } from "./organization/people.ts";
import { makeRecordsByKey, type RecordsByKey } from "./records-by-key.ts";
import { registerMoments } from "./registers.ts";
import { workMoments } from "./regular-work.ts";
import {
	retryWhileBusy,
	TIME_LIMIT_FACTOR,
	tellProgress,
	tellWaiting,
} from "./retry.ts";
import { dateMoments, type Moment } from "./timeline.ts";

/**
 * Seed of the fleet. It never changes, so that screenshots and descriptions of the fleet stay true.
 */
const SEED = 27;
const DRIFT = 0.01;
/** Intervals shorter than the defaults, so that something happens while people watch. */
const INTERVALS = {
	heartbeat_interval_seconds: 60,
	posture_interval_seconds: 300,
};

export interface Seeded {
	organizationId: string;
	logins: Login[];
	apiToken: string;
	/** The token with which this machine's agent enrolls. */
	enrollmentToken: string;
	fleet: Fleet;
}

interface Target {
	config: Config;
	log: Logger;
	/** Connects as the superuser of the temporary database. */
	connection: ClientConfig;
}

/** Fills an empty database with an organization that has used Assay for months. */
export async function seedDemo(
	{ config, log, connection }: Target,
	{
		devices,
		logins,
		signal,
		tell,
	}: {
		devices: number;
		logins: Promise<LoginWithHash[]>;
		signal: AbortSignal;
		/** Gets a line when a part begins, and from time to time while it takes long. */
		tell: (line: string) => void;
	},
): Promise<Seeded> {
	const database = await tellWaiting("the tables of the database", tell, () =>
		retryWhileBusy(() =>
			openDatabase(config, { timeLimitFactor: TIME_LIMIT_FACTOR }),
		),
	);
	const owner = new Client(connection);
	owner.on("error", () => {});
	try {
		await owner.connect();
		const { pool } = database;
		const accounts = await makeAccounts(pool, await logins);
		const { organizationId, principals } = accounts;
		const services = { pool, log, baseUrl: config.baseUrl };
		const admin = await signIn(owner, principals.admin);
		const records = makeRecordsByKey(services, organizationId, {
			...principals,
			admin,
		});
		const fleet = makeFleet(SEED, DRIFT);
		const demo = new DemoDevices(pool, records, fleet, devices);
		const documents = new DemoDocuments(records);
		const secrets = { apiToken: "", enrollmentToken: "" };
		const moments = dateMoments(
			[
				...begin(records),
				...registerMoments(records),
				...demo.moments(),
				...workMoments(records, (check, at) => demo.failing(check, at)),
				...documents.moments(),
				...end(records, secrets),
			],
			new Date(),
		);
		tell("Filling the database with months of work …");
		const worked = tellProgress(tell, (percent) => `  ${percent} % done`);
		await makeHistory(moments, owner, organizationId, signal, worked);
		tell("Storing what the devices reported in these months …");
		const reported = tellProgress(tell, (percent) => `  ${percent} % done`);
		await demo.remember(await readEnrolledAt(owner), reported, signal);
		tell("Dating the records …");
		await documents.date(owner);
		await keep(records);
		await dateReports(owner, demo.silent());
		await fillSilences(owner);
		await fillReports(owner);
		await owner.query("delete from sessions");
		await owner.query(
			"update users set two_factor_enabled = true where email = any($1)",
			[
				(await logins)
					.filter(({ hasSecondFactor }) => hasSecondFactor)
					.map(({ email }) => email),
			],
		);
		return {
			organizationId,
			logins: (await logins)
				.filter(({ hasSecondFactor }) => !hasSecondFactor)
				.map(({ role, name, email, password }) => ({
					role,
					name,
					email,
					password,
				})),
			fleet,
			...secrets,
		};
	} finally {
		await owner.end();
		await database.close();
	}
}

/**
 * Returns the user with a new session. Making an API token requires a user who has just signed in.
 */
async function signIn(owner: Client, user: Principal): Promise<Principal> {
	const sessionId = makeIdentityId("session");
	await owner.query(
		"insert into sessions (id, user_id, token, expires_at) values ($1::text, $2, $1::text, now() + interval '1 day')",
		[sessionId, user.userId],
	);
	return { ...user, sessionId };
}

function begin({ organizationId, use }: RecordsByKey): Moment[] {
	return [
		{
			daysAgo: 236,
			run: async () => {
				const input = { organization_id: organizationId };
				const { description } = ORGANIZATION;
				await use("updateOrganization", { ...input, description }, "admin");
				await use(
					"updateOrganizationSettings",
					{ ...input, ...INTERVALS },
					"admin",
				);
			},
		},
		{
			daysAgo: 131,
			run: () =>
				use(
					"createApiToken",
					{
						name: "Weekly report",
						description:
							"Sends the figures of devices and open work to the team on Mondays.",
					},
					"admin",
				),
		},
	];
}

function end(
	{ organizationId, use, id }: RecordsByKey,
	secrets: Pick<Seeded, "apiToken" | "enrollmentToken">,
): Moment[] {
	return [
		{
			daysAgo: 9,
			run: async () => {
				const { token } = await use(
					"createApiToken",
					{ name: "Demo client", description: "Made by assay demo." },
					"admin",
				);
				secrets.apiToken = token as string;
			},
		},
		{
			daysAgo: 1,
			run: async () => {
				const { enrollment_token } = await use(
					"addDevice",
					{
						organization_id: organizationId,
						name: THIS_MACHINE,
						owner_id: id("people", "jonas"),
					},
					"admin",
				);
				secrets.enrollmentToken = enrollment_token as string;
			},
		},
	];
}

/** Takes a snapshot and approves a statement. Both show the registers with their past dates. */
async function keep({ organizationId, use, id }: RecordsByKey): Promise<void> {
	await use(
		"takeSnapshot",
		{
			organization_id: organizationId,
			name: "Before the surveillance audit",
			type: "ALL",
		},
		"admin",
	);
	const framework_id = id("framework", "iso");
	const { sha256 } = await use("getStatementOfApplicability", { framework_id });
	await use(
		"approveStatementOfApplicability",
		{ framework_id, sha256, note: "For the surveillance audit." },
		"admin",
	);
}

async function readEnrolledAt(owner: Client): Promise<Map<string, Date>> {
	const { rows } = await owner.query<{ id: string; enrolled_at: Date }>(
		"select id, enrolled_at from devices where enrolled_at is not null",
	);
	return new Map(rows.map(({ id, enrolled_at }) => [id, enrolled_at]));
}

/**
 * Forgets most silences. The demonstration has few reports of the past, and its devices seem to
 * have reported all the time between them. One device in sixteen keeps its latest silence.
 */
async function fillSilences(owner: Client): Promise<void> {
	await owner.query(
		`delete from device_silences s
		where s.since <> (
			select max(l.since) from device_silences l
			where l.organization_id = s.organization_id and l.device_id = s.device_id
		) or s.device_id not in (select d.id from devices d where left(md5(d.name), 1) = '0')`,
	);
}

/** Longest time between two reports of the past, below the default of the longest silence. */
const REPORT_GAP = "interval '2 days'";

/**
 * Repeats reports between those that are a week apart, so that the list of a device's reports shows
 * no silence that its history does not show. The statuses between two reports are those of the
 * first one. The last eight characters of an id are its random part.
 */
async function fillReports(owner: Client): Promise<void> {
	await owner.query(
		`insert into posture_reports (organization_id, device_id, report_id, received_at, results)
		select r.organization_id, r.device_id,
			left(r.report_id, 24)
				|| translate(encode(decode(left(md5(r.report_id || i), 12), 'hex'), 'base64'), '+/', '-_'),
			r.received_at + c.shift, c.results
		from (
			select r.*, lead(r.received_at) over (
				partition by r.organization_id, r.device_id order by r.received_at
			) as next_at
			from posture_reports r
		) r
		cross join lateral (
			select (ceil(extract(epoch from r.next_at - r.received_at) / extract(epoch from ${REPORT_GAP})) - 1)::int as count
		) n
		cross join lateral generate_series(1, n.count) i
		cross join lateral (
			select s.shift, (
				select jsonb_agg(
					x.result || jsonb_build_object('observed_at', (x.result ->> 'observed_at')::timestamptz + s.shift)
					order by x.place
				)
				from jsonb_array_elements(r.results) with ordinality x (result, place)
			) as results
			from (select (r.next_at - r.received_at) * (i / (n.count + 1.0)) as shift) s
		) c
		where not exists (
			select from device_silences s
			where s.organization_id = r.organization_id and s.device_id = r.device_id
				and s.since < r.next_at and s.until > r.received_at
		)`,
	);
}

/**
 * Sets the time of each report to the time of its observations. Sets the last heartbeat of each
 * silent device to the time of its last report.
 */
async function dateReports(
	owner: Client,
	silent: { id: string; at: Date }[],
): Promise<void> {
	await owner.query(
		"update posture_reports set received_at = (results -> 0 ->> 'observed_at')::timestamptz + interval '1 second'",
	);
	await owner.query(
		`update devices d set last_seen_at = s.at
		from unnest($1::text[], $2::timestamptz[]) s (id, at) where d.id = s.id`,
		[silent.map(({ id }) => id), silent.map(({ at }) => at)],
	);
	await owner.query("analyze");
}

import { CHECK_KEYS } from "../../src/devices/terms.ts";
import {
	groups,
	OWNER,
	type Question,
	type Row,
	timeFromNow,
} from "./question.ts";

/** SQL: the device `d` has sent a heartbeat within two intervals and a minute. */
const ONLINE = `d.last_seen_at >= now() - (
	select (2 * heartbeat_interval_seconds + 60) * interval '1 second' from organizations
)`;

/**
 * SQL: counts the devices in use of which, by the default rules, each canonical check passed or did
 * not apply at a time, and had been observed within the 3 days before it. A device that was silent
 * then was last observed before the silence. The demonstration has no exceptions.
 */
const compliantAt = (at: string) => `
	select 'COMPLIANT', count(*)::int from devices d
	where coalesce(d.revoked_at > ${at}, true)
		and (
			select count(*) = ${CHECK_KEYS.length} and bool_or(l.status = 'PASS')
				and bool_and(l.status in ('PASS', 'NOT_APPLICABLE'))
				and bool_and(least(l.last_observed_at, (
					select y.since from device_silences y
					where y.device_id = d.id and y.since < ${at} and y.until > ${at}
				)) >= ${at} - interval '3 days')
			from unnest('{${CHECK_KEYS}}'::text[]) k (key)
			cross join lateral (
				select s.* from posture_spans s
				where s.device_id = d.id and s.check_key = k.key and s.since <= ${at}
				order by s.since desc limit 1
			) l
		)`;

export const DEVICE_QUESTIONS: readonly Question[] = [
	{
		question: "How many devices are there of each platform?",
		solve: async (ask) =>
			groups(
				await ask("countRecords", { kind: "device", group_by: "platform" }),
			),
		sql: "select platform, count(*)::int from devices group by 1",
	},
	{
		question:
			"Which devices have been unencrypted for more than two weeks, and whose are they?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				size: 100,
				filter: {
					failing_check: "DISK_ENCRYPTION",
					failing_since_before: timeFromNow(-14),
				},
			});
			return devices.map((device: Row) => [device.name, device.owner_name]);
		},
		sql: `select coalesce(t.name, t.hostname), p.full_name from devices t
			join posture_spans s on s.device_id = t.id and s.is_current
			${OWNER}
			where s.check_key = 'DISK_ENCRYPTION' and s.status = 'FAIL' and s.since < now() - interval '14 days'`,
	},
	{
		question: "How many devices in use pass and fail each check?",
		solve: async (ask) => {
			const { checks } = await ask("listPostureSummary");
			return checks.map((check: Row) => [
				check.check_key,
				check.pass,
				check.fail,
			]);
		},
		sql: `select s.check_key, count(*) filter (where s.status = 'PASS')::int, count(*) filter (where s.status = 'FAIL')::int
			from devices d join posture_spans s on s.device_id = d.id and s.is_current
			where d.status = 'ACTIVE' and ${ONLINE} group by 1`,
	},
	{
		question: "Which devices were added but never reported?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				filter: { freshness: "NEVER" },
			});
			return devices.map(({ name }: Row) => [name]);
		},
		sql: "select name from devices where status <> 'REVOKED' and last_seen_at is null",
	},
	{
		question: "Which devices have been silent for a week, and whose are they?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				filter: { freshness: "MISSING" },
			});
			return devices.map((device: Row) => [device.name, device.owner_name]);
		},
		sql: `select coalesce(t.name, t.hostname), p.full_name from devices t ${OWNER}
			where t.status <> 'REVOKED' and t.last_seen_at < now() - interval '7 days'`,
	},
	{
		question: "Which devices fail at least two checks?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				size: 100,
				filter: { min_failing: 2 },
			});
			return devices.map((device: Row) => [device.name, device.failing_count]);
		},
		sql: `select coalesce(d.name, d.hostname), count(*)::int from devices d
			join posture_spans s on s.device_id = d.id and s.is_current and s.status = 'FAIL'
			group by d.id, 1 having count(*) >= 2`,
	},
	{
		question: "Which Windows devices have no working malware protection?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				size: 100,
				filter: { platform: "WINDOWS", failing_check: "MALWARE_PROTECTION" },
			});
			return devices.map(({ name }: Row) => [name]);
		},
		sql: `select coalesce(d.name, d.hostname) from devices d
			join posture_spans s on s.device_id = d.id and s.is_current
			where d.platform = 'WINDOWS' and s.check_key = 'MALWARE_PROTECTION' and s.status = 'FAIL'`,
	},
	{
		question: "Which devices have nobody who uses them?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				filter: { owner_id: null, status: ["ACTIVE", "PENDING"] },
			});
			return devices.map(({ id }: Row) => [id]);
		},
		sql: "select id from devices where owner_id is null and status <> 'REVOKED'",
	},
	{
		question: "Which devices need an administrator because of a conflict?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				filter: { conflict: "ANY" },
			});
			return devices.map(({ id, conflicts }: Row) => [id, conflicts.join()]);
		},
		sql: `select device_id, string_agg(distinct kind, ',' order by kind) from device_conflicts group by 1`,
	},
	{
		question: "Since when has the device app-0131 failed a check?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				filter: { query: "app-0131" },
			});
			return devices[0].postures
				.filter(({ status }: Row) => status === "FAIL")
				.map(({ check_key, since }: Row) => [check_key, since.slice(0, 19)]);
		},
		sql: `select s.check_key, to_char(s.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS') from devices d
			join posture_spans s on s.device_id = d.id and s.is_current
			where d.name = 'app-0131' and s.status = 'FAIL'`,
	},
	{
		question: "Was the disk of mbp-0056 encrypted sixty days ago?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				filter: { query: "mbp-0056" },
			});
			const { device_postures } = await ask("listDevicePostures", {
				device_id: devices[0].id,
				check_key: "DISK_ENCRYPTION",
				as_of: timeFromNow(-60),
			});
			return device_postures.map(({ status }: Row) => [status]);
		},
		sql: `select s.status from devices d join posture_spans s on s.device_id = d.id
			where coalesce(d.name, d.hostname) = 'mbp-0056' and s.check_key = 'DISK_ENCRYPTION' and s.since <= now() - interval '60 days'
			order by s.since desc limit 1`,
	},
	{
		question: "How many devices were compliant 30 days ago?",
		solve: async (ask) =>
			groups(
				await ask("countRecords", {
					kind: "device",
					filter: { compliance: "COMPLIANT" },
					group_by: "compliance",
					as_of: timeFromNow(-30),
				}),
			),
		sql: compliantAt("now() - interval '30 days'"),
	},
	{
		question:
			"Which devices were certainly unencrypted at some time last month?",
		solve: async (ask) => {
			const { posture_spans } = await ask("listPostureSpans", {
				check_key: "DISK_ENCRYPTION",
				from: timeFromNow(-60),
				until: timeFromNow(-30),
				held: "SEEN",
				size: 100,
			});
			const names = posture_spans.map((span: Row) => span.device_name);
			return [...new Set(names)].map((name) => [name]);
		},
		sql: `select distinct coalesce(d.name, d.hostname) from devices d
			join posture_spans s on s.device_id = d.id
			where s.check_key = 'DISK_ENCRYPTION' and s.status = 'FAIL'
				and s.since <= now() - interval '30 days' and s.last_observed_at >= now() - interval '60 days'`,
	},
	{
		question: "Which unencrypted devices belong to Jan Verhoeven?",
		solve: async (ask) => {
			const { devices } = await ask("listDevices", {
				filter: { owner: "Verhoeven", failing_check: "DISK_ENCRYPTION" },
			});
			return devices.map(({ name }: Row) => [name]);
		},
		sql: `select coalesce(t.name, t.hostname) from devices t ${OWNER}
			join posture_spans s on s.device_id = t.id and s.is_current
			where p.full_name = 'Jan Verhoeven' and s.check_key = 'DISK_ENCRYPTION' and s.status = 'FAIL'`,
	},
];

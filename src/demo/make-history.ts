import type { ClientBase } from "pg";
import { inParallel } from "../../simulator/pace.ts";
import { sealAll } from "../audit/sealer.ts";
import { recordKinds } from "../registers/all.ts";
import type { Progress } from "./retry.ts";
import { type DatedMoment, groupMoments } from "./timeline.ts";

/** Number of moments that run at a time. More of them would only wait for each other. */
const WIDTH = 6;

/**
 * The audit entries that one group of moments wrote: those with an id above `after` and up to
 * `upTo`. They are dated between `from` and `to`.
 */
interface Trace {
	from: Date;
	to: Date;
	after: number;
	upTo: number;
}

/**
 * Runs the moments in order through the service's own operations. Then sets the times of what they
 * left: audit entries, records, devices, links, members and tokens. A record's page and its audit
 * entries therefore show the same past.
 *
 * This changes an audit log and seals it again, which the owner of a database can do. It is meant
 * for the temporary database of the demonstration, and nothing else calls it. `owner` is the
 * superuser of that database.
 */
export async function makeHistory(
	moments: readonly DatedMoment[],
	owner: ClientBase,
	organizationId: string,
	signal: AbortSignal,
	onProgress: Progress,
): Promise<void> {
	const traces: Trace[] = [];
	let [after, done] = [0, 0];
	for (const group of groupMoments(moments)) {
		signal.throwIfAborted();
		const one = (index: number) => group[index] as DatedMoment;
		await inParallel(group.length, WIDTH, async (index) => {
			await one(index).run(one(index).at);
		});
		const upTo = await lastEntryId(owner, organizationId);
		const [from, to] = [one(0).at, one(group.length - 1).at];
		if (upTo > after) traces.push({ from, to, after, upTo });
		after = upTo;
		done += group.length;
		onProgress(done, moments.length);
	}
	await noteEnds(owner, organizationId);
	await dateEntries(owner, organizationId, traces);
	// The triggers would keep the changes of times as states of their own.
	await owner.query("set session_replication_role = replica");
	await dateVersions(owner, organizationId);
	await dateRecords(owner, organizationId);
	await owner.query("set session_replication_role = origin");
}

/** Notes which audit entry each kept state ended with, while both still have their real times. */
async function noteEnds(
	owner: ClientBase,
	organizationId: string,
): Promise<void> {
	await owner.query(
		`create temporary table version_ends as
		select v.register, v.record_id, v.other_id, v.valid_to, (
			select min(e.id) from audit_entries e
			where e.organization_id = v.organization_id and e.record_id = v.record_id
				and e.at >= v.valid_to and (v.other_id is not null or not e.changes ? 'linked_record')
		) as entry_id
		from record_versions v where v.organization_id = $1`,
		[organizationId],
	);
}

/** Sets the times of the kept states to those of the entries that they began and ended with. */
async function dateVersions(
	owner: ClientBase,
	organizationId: string,
): Promise<void> {
	await owner.query(
		`update record_versions v
		set valid_from = d.since, valid_to = d.until,
			fields = v.fields || jsonb_build_object('created_at', d.first, 'updated_at', d.since)
		from (
			select b.*, e.at as until, n.first, coalesce(
				lag(e.at) over (partition by b.register, b.record_id, b.other_id order by b.valid_to),
				n.first
			) as since
			from version_ends b
			join audit_entries e on e.organization_id = $1 and e.id = b.entry_id
			join ${NAMED} n on n.record_id = b.record_id
		) d
		where v.organization_id = $1 and v.register = d.register and v.record_id = d.record_id
			and v.other_id is not distinct from d.other_id and v.valid_to = d.valid_to`,
		[organizationId],
	);
}

async function lastEntryId(
	owner: ClientBase,
	organizationId: string,
): Promise<number> {
	const { rows } = await owner.query<{ id: string | null }>(
		"select max(id) as id from audit_entries where organization_id = $1",
		[organizationId],
	);
	return Number(rows[0]?.id ?? 0);
}

/**
 * Sets the times of the entries and then seals them. They keep their order and are at least one
 * millisecond apart.
 */
async function dateEntries(
	owner: ClientBase,
	organizationId: string,
	traces: readonly Trace[],
): Promise<void> {
	await owner.query(
		`update audit_entries e
		set at = t.since + (t.until - t.since) * ((e.id - t.after - 1.0) / (t.up_to - t.after))
			+ (e.id - t.after) * interval '1 millisecond'
		from unnest($2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::bigint[]) t (since, until, after, up_to)
		where e.organization_id = $1 and e.id > t.after and e.id <= t.up_to`,
		[
			organizationId,
			traces.map(({ from }) => from),
			traces.map(({ to }) => to),
			traces.map(({ after }) => after),
			traces.map(({ upTo }) => upTo),
		],
	);
	// The service may have sealed some of them already.
	await owner.query("delete from audit_seals where organization_id = $1", [
		organizationId,
	]);
	await owner.query("delete from audit_heads where organization_id = $1", [
		organizationId,
	]);
	await owner.query("select audit_settle()");
	await sealAll(owner);
}

/**
 * The first and last time at which the audit log names each record, and the times of some
 * operations.
 */
const NAMED = `(
	select record_id, min(at) as first, max(at) filter (where operation not in ('linkRecords', 'activateDevice')) as last,
		min(at) filter (where operation = 'enrollDevice') as enrolled,
		min(at) filter (where operation = 'activateDevice') as activated,
		max(at) filter (where operation = 'revokeDevice') as revoked,
		max(at) filter (where operation = 'reportDeviceConflict') as conflict
	from audit_entries where organization_id = $1 group by record_id
)`;

/** The tables whose rows are references of a record, with the column of that record. */
const JOINS = recordKinds.flatMap(({ kind, fields }) =>
	Object.values(fields).flatMap(({ join }) =>
		join ? [{ table: join.table, owner: `${kind}_id` }] : [],
	),
);

async function dateRecords(
	owner: ClientBase,
	organizationId: string,
): Promise<void> {
	const tables = recordKinds.map(({ table }) => table);
	const statements = [
		...tables.map(
			(table) =>
				`update ${table} t set created_at = n.first, updated_at = coalesce((
					select max(v.valid_to) from record_versions v
					where v.organization_id = $1 and v.register = '${table}' and v.record_id = t.id
				), n.first)
				from ${NAMED} n where t.organization_id = $1 and t.id = n.record_id`,
		),
		...JOINS.map(
			({ table, owner }) =>
				`update ${table} t set created_at = n.first from ${NAMED} n
				where t.organization_id = $1 and t.${owner} = n.record_id`,
		),
		`update devices t set created_at = n.first, updated_at = n.last, enrolled_at = n.enrolled,
			activated_at = n.activated,
			revoked_at = case when t.revoked_at is null then null else n.revoked end
		from ${NAMED} n where t.organization_id = $1 and t.id = n.record_id`,
		`update enrollment_tokens t set created_at = n.first, expires_at = n.first + (t.expires_at - t.created_at)
		from ${NAMED} n where t.organization_id = $1 and t.device_id = n.record_id`,
		`update device_conflicts t set first_seen_at = n.conflict
		from ${NAMED} n where t.organization_id = $1 and t.device_id = n.record_id`,
		`update record_links t set created_at = e.at
		from audit_entries e
		where t.organization_id = $1 and e.organization_id = $1 and e.operation = 'linkRecords'
			and e.record_id = t.first_id and e.changes -> 'linked_record' -> 'after' ->> 'id' = t.second_id`,
		`update vendor_reviews t set created_at = coalesce((
			select max(e.at) from audit_entries e
			where e.organization_id = $1 and e.operation = 'addVendorReview' and e.record_id = t.vendor_id
				and e.at < t.reviewed_on + interval '4 days'
		), t.reviewed_on + interval '12 hours') where t.organization_id = $1`,
		`update organizations t set created_at = n.first, updated_at = n.last, records_known_since = n.first
		from ${NAMED} n where t.id = $1 and t.id = n.record_id`,
		`update memberships t set created_at = n.first
		from ${NAMED} n where t.organization_id = $1 and t.user_id = n.record_id`,
		`update users t set created_at = n.first, updated_at = n.first
		from ${NAMED} n where t.id = n.record_id`,
		`update api_tokens t set created_at = n.first, expires_at = n.first + (t.expires_at - t.created_at)
		from ${NAMED} n where t.id = n.record_id`,
	];
	for (const statement of statements) {
		await owner.query(statement, [organizationId]);
	}
}

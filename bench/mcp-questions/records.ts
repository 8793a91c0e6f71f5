import {
	dayFromNow,
	groups,
	OWNER,
	type Question,
	type Row,
	timeFromNow,
} from "./question.ts";

/** SQL: as many devices in use as the measure `m` asks for pass the check that verifies it. */
const ENOUGH_PASS = `(
	select 100 * count(*) filter (where s.status = 'PASS' and s.last_observed_at > now() - interval '3 days')
		>= m.verified_by_percent * count(*) filter (where s.status is distinct from 'NOT_APPLICABLE')
	from devices d
	left join posture_spans s
		on s.device_id = d.id and s.check_key = m.verified_by_check and s.is_current
	where d.status = 'ACTIVE'
)`;

export const RECORD_QUESTIONS: readonly Question[] = [
	{
		question: "How much work is overdue in each register?",
		solve: async (ask) => {
			const overview = await ask("getOverview");
			return ["nonconformities", "tasks", "obligations"].map((register) => [
				register,
				overview[register].overdue,
			]);
		},
		sql: `select 'nonconformities', count(*)::int from nonconformities where status <> 'CLOSED' and due_date < current_date
			union all select 'tasks', count(*)::int from tasks where state <> 'DONE' and deadline < current_date
			union all select 'obligations', count(*)::int from obligations where status <> 'COMPLIANT' and due_date < current_date`,
	},
	{
		question: "Which tasks are overdue, and who should do them?",
		solve: async (ask) => {
			const { tasks } = await ask("listTasks", {
				filter: { is_open: true, due_until: dayFromNow(-1) },
			});
			return tasks.map((task: Row) => [task.name, task.assigned_to_name]);
		},
		sql: `select t.name, p.full_name from tasks t left join people p on p.id = t.assigned_to_id
			where t.state <> 'DONE' and t.deadline < current_date`,
	},
	{
		question: "What does Omar still have to do?",
		solve: async (ask) => {
			const { tasks } = await ask("listTasks", {
				filter: { is_open: true, assigned_to: "Omar" },
			});
			return tasks.map((task: Row) => [task.name, task.deadline]);
		},
		sql: `select t.name, t.deadline::text from tasks t join people p on p.id = t.assigned_to_id
			where t.state <> 'DONE' and p.full_name like 'Omar%'`,
	},
	{
		question: "How many open tasks are urgent or of high priority?",
		solve: async (ask) => {
			const { total } = await ask("countRecords", {
				kind: "task",
				filter: { is_open: true, priority: ["URGENT", "HIGH"] },
			});
			return [[total]];
		},
		sql: "select count(*)::int from tasks where state <> 'DONE' and priority in ('URGENT', 'HIGH')",
	},
	{
		question: "How many open tasks does each person have?",
		solve: async (ask) => {
			const { groups } = await ask("countRecords", {
				kind: "task",
				filter: { is_open: true },
				group_by: "assigned_to_id",
			});
			return groups.map(({ name, count }: Row) => [name, count]);
		},
		sql: `select p.full_name, count(*)::int from tasks t left join people p on p.id = t.assigned_to_id
			where t.state <> 'DONE' group by 1`,
	},
	{
		question: "Which five risks are the greatest after treatment?",
		solve: async (ask) => {
			const { risks } = await ask("listRisks", {
				size: 5,
				order_by: { field: "residual_risk_score" },
			});
			return risks.map((risk: Row) => [risk.residual_risk_score]);
		},
		sql: "select residual_risk_score from risks order by 1 desc limit 5",
	},
	{
		question: "How many risks of each category are there?",
		solve: async (ask) =>
			groups(await ask("countRecords", { kind: "risk", group_by: "category" })),
		sql: "select category, count(*)::int from risks group by 1",
	},
	{
		question: "Which risks have no measure?",
		solve: async (ask) => {
			const { risks } = await ask("listRisks", {
				filter: { without_linked: "measure" },
			});
			return risks.map(({ name }: Row) => [name]);
		},
		sql: `select name from risks r where not exists (
			select from record_links l where (l.first_id = r.id and l.second_kind = 'measure') or (l.second_id = r.id and l.first_kind = 'measure'))`,
	},
	{
		question: "Which risks were accepted, and by whose responsibility?",
		solve: async (ask) => {
			const { risks } = await ask("listRisks", {
				filter: { treatment: "ACCEPTED" },
			});
			return risks.map((risk: Row) => [risk.name, risk.owner_name]);
		},
		sql: `select t.name, p.full_name from risks t ${OWNER} where t.treatment = 'ACCEPTED'`,
	},
	{
		question: "What reduces the risk of ransomware on staff laptops?",
		solve: async (ask) => {
			const { records } = await ask("searchRecords", {
				query: "ransomware staff laptops",
				kinds: ["risk"],
			});
			const { linked_records } = await ask("listLinkedRecords", {
				record_id: records[0].id,
				kind: "measure",
			});
			return linked_records.map(({ name, status }: Row) => [name, status]);
		},
		sql: `select m.name, m.state from measures m
			join record_links l on m.id in (l.first_id, l.second_id)
			join risks r on r.id in (l.first_id, l.second_id)
			where r.name = 'Ransomware on staff laptops'`,
	},
	{
		question: "How far are we with ISO 27001, in percent?",
		solve: async (ask) => {
			const { frameworks } = await ask("listFrameworks", {
				filter: { query: "27001" },
			});
			const { coverage } = await ask("getFramework", { id: frameworks[0].id });
			return [[coverage.included, coverage.covered, coverage.coverage_percent]];
		},
		sql: `with c as (
				select c.id, (
					select coalesce(bool_and(m.state = 'IMPLEMENTED' and (
						m.verified_by_check is null or ${ENOUGH_PASS}
					)), false)
					from record_links l join measures m on m.id in (l.first_id, l.second_id)
					where c.id in (l.first_id, l.second_id) and m.state <> 'NOT_APPLICABLE'
				) as is_covered
				from controls c join frameworks f on f.id = c.framework_id
				where f.name like '%27001%' and c.status = 'INCLUDED'
			)
			select count(*)::int, count(*) filter (where is_covered)::int,
				trunc(100.0 * count(*) filter (where is_covered) / count(*), 1)::float from c`,
	},
	{
		question: "Which controls that apply have no measure?",
		solve: async (ask) => {
			const { controls } = await ask("listControls", {
				filter: { status: "INCLUDED", without_linked: "measure" },
			});
			return controls.map(({ name }: Row) => [name]);
		},
		sql: `select name from controls c where status = 'INCLUDED' and not exists (
			select from record_links l where (l.first_id = c.id and l.second_kind = 'measure') or (l.second_id = c.id and l.first_kind = 'measure'))`,
	},
	{
		question: "Which controls are excluded, and why?",
		solve: async (ask) => {
			const { controls } = await ask("listControls", {
				filter: { status: "EXCLUDED" },
				detail: "full",
			});
			return controls.map((control: Row) => [
				control.name,
				control.exclusion_justification,
			]);
		},
		sql: "select name, exclusion_justification from controls where status = 'EXCLUDED'",
	},
	{
		question: "Which measures are not implemented yet?",
		solve: async (ask) => {
			const { measures } = await ask("listMeasures", {
				filter: { state: ["NOT_STARTED", "IN_PROGRESS"] },
			});
			return measures.map(({ name, state }: Row) => [name, state]);
		},
		sql: "select name, state from measures where state in ('NOT_STARTED', 'IN_PROGRESS')",
	},
	{
		question: "How many vendors are there for each purpose?",
		solve: async (ask) =>
			groups(
				await ask("countRecords", { kind: "vendor", group_by: "category" }),
			),
		sql: "select category, count(*)::int from vendors group by 1",
	},
	{
		question: "Where is the agreement with Stripe about data processing?",
		solve: async (ask) => {
			const { vendors } = await ask("listVendors", {
				filter: { query: "Stripe" },
				detail: "full",
			});
			return vendors.map(({ name, dpa_url }: Row) => [name, dpa_url]);
		},
		sql: "select name, dpa_url from vendors where name = 'Stripe'",
	},
	{
		question: "Which vendors process secret or confidential data?",
		solve: async (ask) => {
			const { data } = await ask("listData", {
				filter: { data_classification: ["SECRET", "CONFIDENTIAL"] },
			});
			const names: string[] = data.flatMap(
				({ vendor_names }: Row) => vendor_names,
			);
			return [...new Set(names)].map((name) => [name]);
		},
		sql: `select distinct v.name from vendors v
			join datum_vendors d on d.vendor_id = v.id join data t on t.id = d.datum_id
			where t.data_classification in ('SECRET', 'CONFIDENTIAL')`,
	},
	{
		question: "How many assets and data records depend on Amazon Web Services?",
		solve: async (ask) => {
			const { data } = await ask("listData", { size: 100 });
			const { assets } = await ask("listAssets", { size: 100, detail: "full" });
			const dependent = (records: Row[]) =>
				records.filter(({ vendor_names }) =>
					vendor_names.includes("Amazon Web Services"),
				).length;
			return [
				["datum", dependent(data)],
				["asset", dependent(assets)],
			];
		},
		sql: `select 'datum', count(*)::int from datum_vendors d join vendors v on v.id = d.vendor_id where v.name = 'Amazon Web Services' having count(*) > 0
			union all select 'asset', count(*)::int from asset_vendors a join vendors v on v.id = a.vendor_id where v.name = 'Amazon Web Services' having count(*) > 0`,
	},
	{
		question: "Which obligations do we not meet yet, and until when must we?",
		solve: async (ask) => {
			const { obligations } = await ask("listObligations", {
				filter: { status: ["NON_COMPLIANT", "PARTIALLY_COMPLIANT"] },
			});
			return obligations.map((each: Row) => [each.requirement, each.due_date]);
		},
		sql: "select requirement, due_date::text from obligations where status <> 'COMPLIANT'",
	},
	{
		question: "Which obligations were not reviewed in the last half year?",
		solve: async (ask) => {
			const { total } = await ask("countRecords", {
				kind: "obligation",
				filter: { last_review_date_until: dayFromNow(-182) },
			});
			return [[total]];
		},
		sql: "select count(*)::int from obligations where last_review_date <= (now() at time zone 'UTC')::date - 182",
	},
	{
		question: "Which major nonconformities are open, and who corrects them?",
		solve: async (ask) => {
			const { nonconformities } = await ask("listNonconformities", {
				filter: { is_open: true, severity: "MAJOR" },
			});
			return nonconformities.map((each: Row) => [
				each.reference_id,
				each.owner_name,
			]);
		},
		sql: `select t.reference_id, p.full_name from nonconformities t ${OWNER}
			where t.status <> 'CLOSED' and t.severity = 'MAJOR'`,
	},
	{
		question: "What is the cause of NC-003?",
		solve: async (ask) => {
			const { nonconformities } = await ask("listNonconformities", {
				filter: { query: "NC-003" },
				detail: "full",
			});
			return nonconformities.map(({ root_cause }: Row) => [root_cause]);
		},
		sql: "select root_cause from nonconformities where reference_id = 'NC-003'",
	},
	{
		question: "Which audits are planned?",
		solve: async (ask) => {
			const { audits } = await ask("listAudits", {
				filter: { state: "NOT_STARTED" },
			});
			return audits.map(({ name, valid_from }: Row) => [name, valid_from]);
		},
		sql: "select name, valid_from::text from audits where state = 'NOT_STARTED'",
	},
	{
		question: "Which contracts of people have ended, and what do they own?",
		solve: async (ask) => {
			const { people } = await ask("listPeople", {
				filter: { contract_end_date_until: dayFromNow(-1) },
			});
			const answer: unknown[][] = [];
			for (const person of people) {
				const { uses } = await ask("getRecordUses", { id: person.id });
				const count = uses.reduce(
					(sum: number, use: Row) => sum + use.count,
					0,
				);
				answer.push([person.full_name, count]);
			}
			return answer;
		},
		sql: `select p.full_name, (${[
			"risks",
			"measures",
			"vendors",
			"nonconformities",
			"obligations",
			"assets",
			"data",
			"continual_improvements",
			"devices",
		]
			.map(
				(table) =>
					`(select count(*)::int from ${table} t where t.owner_id = p.id)`,
			)
			.join(
				" + ",
			)} + (select count(*)::int from tasks t where t.assigned_to_id = p.id))
			from people p where p.contract_end_date < (now() at time zone 'UTC')::date`,
	},
	{
		question: "Who may administer the organization?",
		solve: async (ask) => {
			const { members } = await ask("listMembers", {
				filter: { role: "admin" },
			});
			return members.map(({ name }: Row) => [name]);
		},
		sql: "select u.name from memberships m join users u on u.id = m.user_id where m.role = 'admin'",
	},
	{
		question: "Who changed the risk of ransomware last, and when?",
		solve: async (ask) => {
			const { audit_entries } = await ask("listAuditLog", {
				size: 1,
				filter: { query: "Ransomware on staff laptops Risk" },
			});
			return audit_entries.map((entry: Row) => [entry.actor_name, entry.at]);
		},
		sql: `select actor_name, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from audit_entries
			where record_name = 'Ransomware on staff laptops' and operation like '%Risk%' order by id desc limit 1`,
	},
	{
		question: "How many changes were made in the last 30 days?",
		solve: async (ask) => {
			const { total } = await ask("listAuditLog", {
				size: 1,
				filter: { from: timeFromNow(-30), outcome: "DONE" },
			});
			return [[total]];
		},
		sql: "select count(*)::int from audit_entries where at >= now() - interval '30 days' and outcome = 'DONE'",
	},
	{
		question: "How many assets of each type are there?",
		solve: async (ask) =>
			groups(
				await ask("countRecords", { kind: "asset", group_by: "asset_type" }),
			),
		sql: "select asset_type, count(*)::int from assets group by 1",
	},
];
